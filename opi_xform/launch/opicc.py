"""opicc: the MPI's own compiler plus libopi.

Every argument goes to the user's mpicc as it stands. opicc adds the directory of opi.h, and where the command links an
executable, libopi before the MPI's own libraries. `opicc --show` prints the command instead of running it, as
`mpicc -show` does.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.runtime import Runtime, ensure_runtime
from opi_xform.resources import runtime_include_dir

NO_LINK = frozenset({"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only", "-shared", "-r"})
"""With one of these the compiler makes no executable. A shared library takes libopi from the executable it is loaded into."""

TAKES_VALUE = frozenset(
    "-o -I -L -D -U -x -include -isystem -iquote -idirafter -MF -MT -MQ -T -u -Xlinker -Xpreprocessor -Xassembler -arch"
    " -z -aux-info --param -wrapper -l -e".split()
)
"""Options whose value is the next argument: it is no input file."""

SHOW = frozenset({"--show", "-show"})


def has_input(arguments: Sequence[str]) -> bool:
    """Whether a file is given: without one (`--version`, `-print-search-dirs`) there is nothing to link."""
    skip = False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in TAKES_VALUE:
            skip = True
        elif argument == "-" or not argument.startswith("-"):
            return True
    return False


def links(arguments: Sequence[str]) -> bool:
    """Whether this command makes an executable."""
    return has_input(arguments) and not any(argument in NO_LINK for argument in arguments)


def link_flags(runtime: Runtime) -> list[str]:
    """libopi whole: it replaces MPI functions that only libraries may call, and it has code that runs before main."""
    return ["-pthread", "-Wl,--whole-archive", str(runtime.archive), "-Wl,--no-whole-archive"]


def command_line(mpi: Mpi, runtime: Runtime, arguments: Sequence[str]) -> list[str]:
    """The mpicc command that does what this opicc command asks for."""
    command = [str(mpi.mpicc), f"-I{runtime.include}", *arguments]
    if links(arguments):
        # An earlier `-x c` would make the compiler read the archive as C.
        if "-x" in arguments or any(a.startswith("-x") for a in arguments):
            command.append("-xnone")
        command += link_flags(runtime)
    return command


def _show(mpi: Mpi, command: list[str]) -> int:
    """Prints what would run: expanded by the wrapper itself where it can, else the wrapper's command line."""
    done = subprocess.run([*command, "-show"], capture_output=True, text=True, check=False)
    print(done.stdout.strip() if done.returncode == 0 and done.stdout.strip() else shlex.join(command))
    return 0


def run(arguments: Sequence[str]) -> int:
    """One opicc command; returns the compiler's exit code. Raises LaunchError."""
    mpi = find_mpi()
    show = any(argument in SHOW for argument in arguments)
    passed = [argument for argument in arguments if argument not in SHOW]
    if not links(passed) and not show:
        # Compiling needs opi.h alone: the runtime is built when something is linked.
        return _execute(command_line(mpi, _headers_only(), passed))
    runtime = ensure_runtime(mpi)
    if show:
        command = command_line(mpi, runtime, passed)
        return _show(mpi, command if links(passed) or has_input(passed) else [*command, *link_flags(runtime)])
    return _execute(command_line(mpi, runtime, passed))


def _headers_only() -> Runtime:
    return Runtime(Path(), runtime_include_dir())


def _execute(command: list[str]) -> int:
    sys.stdout.flush()
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise LaunchError(f"{command[0]}: cannot be run: {error.strerror}") from error


def main() -> int:
    """The console command."""
    try:
        code = run(sys.argv[1:])
    except (LaunchError, FileNotFoundError) as error:
        print(f"opicc: {error}", file=sys.stderr)
        return error.code if isinstance(error, LaunchError) else 2
    except KeyboardInterrupt:
        return 130
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
