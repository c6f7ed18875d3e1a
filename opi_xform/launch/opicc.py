"""opicc: the MPI's own compiler plus libopi.

Every argument goes to the user's mpicc as it stands. opicc adds the directory of opi.h, and where the command links an
executable, libopi before the MPI's own libraries; with `--shared-heap` the replacement allocator too; with
`--transform` it compiles each source as `opi-xform --index` transformed it (`transform`); with `--ranks` it links
libopi_ranks instead, for `opirun --threads` and `--fibers`, and tells what ranks would share (`linked`;
`--no-warn-shared`: not). `opicc --show` prints the command instead of running
it, as `mpicc -show` does.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from opi_xform.launch import linked
from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.ranks import ensure_ranks
from opi_xform.launch.ranks import link_flags as ranks_link_flags
from opi_xform.launch.runtime import Runtime, ensure_runtime
from opi_xform.launch.transform import transformed
from opi_xform.resources import IncompleteInstallError, runtime_include_dir

NO_LINK = frozenset({"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only", "-shared", "-r"})
"""With one of these the compiler makes no executable. A shared library takes libopi from the one that loads it."""

SHARED_HEAP = "--shared-heap"
"""malloc and its family then allocate memory that the ranks of a node share."""

TRANSFORM = "--transform"
"""Each source is compiled as `opi-xform --index` transformed it."""

RANKS = "--ranks"
"""Ranks may be threads or fibers: libopi_ranks is linked in the place of libopi."""

NO_WARN_SHARED = "--no-warn-shared"
"""Nothing is told of variables that ranks of one process would share."""

SHOW = frozenset({"--show", "-show"})


def expanded(arguments: Sequence[str]) -> list[str]:
    """The arguments with response files (`@file`) read in, as far as they can be read."""
    result: list[str] = []
    for argument in arguments:
        file = Path(argument[1:])
        if argument.startswith("@") and file.is_file():
            result += shlex.split(file.read_text(encoding="utf-8", errors="replace"))
        else:
            result.append(argument)
    return result


def links(arguments: Sequence[str]) -> bool:
    """Whether this command makes an executable: a file is given (not so for `--version`), and no flag stops before."""
    seen = expanded(arguments)
    has_input = any(argument == "-" or not argument.startswith("-") for argument in seen)
    return has_input and not any(argument in NO_LINK for argument in seen)


def link_flags(runtime: Runtime, shared_heap: bool = False) -> list[str]:
    """libopi whole: it replaces MPI functions that only libraries may call, and it has code that runs before main.

    The same holds for the allocator, whose functions the program's libraries have to find too."""
    archives = [str(runtime.archive), *([str(runtime.malloc_archive)] if shared_heap else [])]
    return ["-pthread", "-Wl,--whole-archive", *archives, "-Wl,--no-whole-archive"]


def command_line(
    mpi: Mpi, arguments: Sequence[str], link: bool, shared_heap: bool = False, ranks: bool = False
) -> list[str]:
    """The mpicc command that does what this opicc command asks for; builds libopi where it is to be linked."""
    # Last, so that a project's own opi.h is found first where it includes one; the tool's output then has opi_xform.h.
    command = [str(mpi.mpicc), *arguments, "-isystem", str(runtime_include_dir())]
    if not link:
        return command
    if any(argument.startswith("-x") for argument in arguments):
        command.append("-xnone")  # else the compiler reads the archive as a source
    if ranks:
        return [*command, *ranks_link_flags(ensure_ranks(mpi))]
    return [*command, *link_flags(ensure_runtime(mpi), shared_heap)]


def _show(command: list[str]) -> int:
    """Prints what would run: expanded by the wrapper itself where it can, else the wrapper's command line."""
    done = subprocess.run([*command, "-show"], capture_output=True, text=True, check=False)
    print(done.stdout.strip() if done.returncode == 0 and done.stdout.strip() else shlex.join(command))
    return 0


def run(arguments: Sequence[str]) -> int:
    """One opicc command; returns the compiler's exit code. Raises LaunchError."""
    mpi = find_mpi()
    shared_heap = SHARED_HEAP in arguments
    ranks = RANKS in arguments
    if ranks and shared_heap:
        raise LaunchError(f"{RANKS} and {SHARED_HEAP}: ranks of one process share all memory as it is")
    own = {*SHOW, SHARED_HEAP, TRANSFORM, RANKS, NO_WARN_SHARED}
    passed = [argument for argument in arguments if argument not in own]
    if TRANSFORM in arguments:
        passed = transformed(expanded(passed))
    if SHOW.isdisjoint(arguments):
        command = command_line(mpi, passed, links(passed), shared_heap, ranks)
        told = ranks and links(passed) and NO_WARN_SHARED not in arguments
        return _link_and_warn(command, expanded(passed), mpi) if told else _execute(command)
    # Without files, --show tells the flags of a whole build, as mpicc -show does.
    flags_only = all(argument.startswith("-") for argument in passed) and NO_LINK.isdisjoint(passed)
    return _show(command_line(mpi, passed, flags_only or links(passed), shared_heap, ranks))


def _execute(command: list[str]) -> int:
    sys.stdout.flush()
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise LaunchError(f"{command[0]}: cannot be run: {error.strerror}") from error


def _link_and_warn(command: list[str], arguments: Sequence[str], mpi: Mpi) -> int:
    """Links for ranks of one process, and tells what they share."""
    with tempfile.TemporaryDirectory(prefix="opicc-") as scratch:
        asked, file = linked.map_of(arguments)
        written = file or Path(scratch) / "map"
        code = _execute(command if asked else [*command, f"-Wl,-Map={written}"])
        if code == 0 and written.is_file():
            text = written.read_text(encoding="utf-8", errors="replace")
            for line in linked.warnings(text, linked.output_of(arguments), arguments, mpi):
                print(f"opicc: {line}", file=sys.stderr)
    return code


def main() -> int:
    """The console command."""
    try:
        code = run(sys.argv[1:])
    except (LaunchError, IncompleteInstallError) as error:
        print(f"opicc: {error}", file=sys.stderr)
        return error.code if isinstance(error, LaunchError) else 2
    except KeyboardInterrupt:
        return 130
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
