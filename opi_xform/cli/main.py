"""The command `opi-xform`."""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from opi_xform import __version__
from opi_xform.cli.interrupt import SAID, open_streams, stop
from opi_xform.cli.options import Options, parse_arguments, parser
from opi_xform.cli.outcome import CLEAN, ERROR, INTERRUPTED, SELF_CHECK, Failure, Problem, fail
from opi_xform.cli.progress import Progress, peaks_mib
from opi_xform.cli.terminal import print_bytes, print_error, print_lines, width_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code.  No exception leaves it: what nobody foresaw is one line and code 123."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    progress = Progress()
    try:
        options = parse_arguments(words)
        if options.quiet:
            progress.close()
        code = _dispatch(options, progress)
        if options.verbose:
            progress.close()
            _print_times(progress)
        return code
    except Failure as failure:
        progress.close()
        for problem in failure.problems:
            print_error(str(problem))
        return failure.exit_code
    except KeyboardInterrupt as interrupt:
        progress.close()
        print_error(f"opi-xform: interrupted; {interrupt}" if str(interrupt) else SAID)
        return INTERRUPTED
    except SystemExit as request:  # argparse has printed its help
        return request.code if isinstance(request.code, int) else CLEAN
    except BaseException as error:
        progress.close()
        if "-v" in words:
            traceback.print_exc()
        print_error(_internal_error(error, "-v" in words))
        return SELF_CHECK


def script() -> NoReturn:
    """The console script: ends the process at once, since freeing a large program object by object takes seconds."""
    code = INTERRUPTED
    try:
        if signal.getsignal(signal.SIGINT) is stop:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        open_streams()
        # Nearly all that is made stays: looking for garbage takes a fifth of the time.  Not even at the end: the first
        # object that is made after a run would have all of a large program looked through.
        gc.disable()
        code = main()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # closed already, or nobody reads: main has said what is to say
                stream.flush()
    except KeyboardInterrupt:  # before main looks for it, or while it tells of one
        with suppress(OSError):
            os.write(2, f"{SAID}\n".encode())
    os._exit(code)


def _print_times(progress: Progress) -> None:
    """A table of the phases and their parts, and the most memory taken."""
    for name, seconds in progress.times:
        print_error(f"{name:<12}{seconds:8.3f} s")
    print_error(f"{'all':<12}{sum(s for name, s in progress.times if not name.startswith(' ')):8.3f} s")
    used = os.times()
    processor = used.user + used.system + used.children_user + used.children_system
    print_error(f"{'processor':<12}{processor:8.3f} s, that of the parsers included")
    peaks = peaks_mib()
    if peaks is not None:
        print_error(f"{'memory':<12}{peaks[0]:8d} MiB, largest parser {peaks[1]} MiB")


def _dispatch(options: Options, progress: Progress) -> int:
    if options.version:
        from opi_xform.cli.versions import versions

        print_bytes(versions().encode(), sys.stdout)
        return CLEAN
    if options.completion is not None or options.manual:
        from opi_xform.cli.completion import completion, manual

        shell = options.completion
        text = manual(parser(), __version__) if shell is None else completion(shell, parser())
        print_bytes(text.encode(), sys.stdout)
        return CLEAN
    if options.explain is not None:
        return _explain(options.explain)
    _require_folder()
    # The analyses bring libclang and islpy along: not for --version and --explain.
    from opi_xform.cli.run import run

    return run(options, progress)


def _require_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise fail("the working directory is not there any more; change to one that is") from error


def _explain(code: str) -> int:
    from opi_xform.report.choice import unknown
    from opi_xform.report.codes import CODES, page

    if code.lower() == "all":
        from opi_xform.report.formats.text import wrapped

        width = width_of(sys.stdout)
        said = (f"{one.code}  {one.title}: {one.meaning}" for one in CODES.values())
        print_lines([line for text in said for line in wrapped(text, width, 0, hang=8)], sys.stdout)
        return CLEAN
    text = page(code)
    if text is None:
        print_error(str(Problem(unknown(code))))
        return ERROR
    print_bytes(text.encode(), sys.stdout)
    return CLEAN


def _internal_error(error: BaseException, verbose: bool) -> str:
    """One line for what should not have happened: where, what, what to do."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    what = " ".join(f"{type(error).__name__}: {error}".split())
    how = "please report it with these lines" if verbose else "run again with -v and please report it"
    return f"opi-xform: internal error: {what}{place}; {how}"


if __name__ == "__main__":
    script()
