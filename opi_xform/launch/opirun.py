"""opirun: the MPI's own launcher with libopi preloaded, for programs that were not linked with it.

`opirun -n 4 ./unmodified args` runs the mpiexec that belongs to the program's MPI, adds LD_PRELOAD for the ranks only,
and becomes that mpiexec: exit code, signals and output are the launcher's own. Options that are not opirun's go to
mpiexec as they stand.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence

from opi_xform import __version__
from opi_xform.launch.executable import Executable, inspect_executable, resolve
from opi_xform.launch.mpi import LaunchError, Mpi, beside, find_mpi
from opi_xform.launch.ranks import Carrier, job
from opi_xform.launch.runtime import Runtime, ensure_runtime
from opi_xform.record import dataclass
from opi_xform.resources import IncompleteInstallError

USAGE = """usage: opirun -n N [--shared-heap] [--show] [mpiexec options] program [arguments]
       opirun -n N --threads|--fibers [-p P] [--stack SIZE] [--scheduler block|rr] program [arguments]
       opirun [--shared-heap] --print-preload [program]

Runs an MPI program that was not linked with libopi, with libopi preloaded, by the mpiexec of the program's own MPI.

  -n N             number of ranks, as for mpiexec
  --shared-heap    malloc and its family allocate memory that the ranks of a node share
  --threads        ranks are threads of few processes: for a program linked by `opicc --ranks`
  --fibers         ranks are fibers; each process runs one of its fibers at a time
  -p P             so many processes have the ranks (threads: one on each node; fibers: as many as processors)
  --per-process L  how many ranks each process has, such as 3,5,2 (as even as can be)
  --stack SIZE     bytes of each thread's or fiber's stack, with k, m or g (fibers: 256k)
  --scheduler S    of fibers: `block` does not run a rank that waits, `rr` lets it look each time round
  --show           print the command instead of running it
  --print-preload  print what LD_PRELOAD has to be, for `srun --export=ALL,LD_PRELOAD=$(opirun --print-preload) ...`
  --               the program follows
  --version        the version, and the MPI and launcher that would be used
  --help           this text

Every other option goes to mpiexec. OPI_MPICC names the MPI where the program does not tell (a script)."""

CARRIERS = {"--threads": "threads", "--fibers": "fibers"}
"""Options for ranks that share a process; without one, ranks are processes."""
SCHEDULERS = ("block", "rr")


@dataclass(frozen=True, slots=True)
class Request:
    """One command line, taken apart."""

    launcher: tuple[str, ...]
    """What goes to mpiexec before the program."""
    program: tuple[str, ...]
    """The program and its arguments; empty where none was given."""
    shared_heap: bool = False
    show: bool = False
    print_preload: bool = False
    help: bool = False
    version: bool = False
    carrier: Carrier | None = None
    """Ranks that share a process; None: ranks are processes."""


OWN = {
    "--shared-heap": "shared_heap",
    "--show": "show",
    "--print-preload": "print_preload",
    "--help": "help",
    "--version": "version",
}


def parse(arguments: Sequence[str]) -> Request:
    """Takes a command line apart. The program is what follows `--`, else the first word that is the name of something
    executable and no option. Raises LaunchError for options of thread and fiber ranks that contradict each other."""
    launcher: list[str] = []
    program: tuple[str, ...] = ()
    flags: dict[str, bool] = {}
    kinds: list[str] = []
    values: dict[str, str] = {}
    wanted: str | None = None
    for index, argument in enumerate(arguments):
        if wanted is not None:
            values[wanted], wanted = argument, None
        elif argument == "--":
            program = tuple(arguments[index + 1 :])
            break
        elif argument in CARRIERS:
            kinds.append(CARRIERS[argument])
        elif argument in ("--stack", "--scheduler", "--per-process") and not set(CARRIERS).isdisjoint(arguments):
            wanted = argument
        elif argument in OWN:
            flags[OWN[argument]] = True
        elif not argument.startswith("-") and resolve(argument) is not None:
            program = tuple(arguments[index:])
            break
        else:
            launcher.append(argument)
    return Request(tuple(launcher), program, **flags, carrier=_carrier(kinds, values))


def _carrier(kinds: Sequence[str], values: Mapping[str, str]) -> Carrier | None:
    """What the options say of ranks that share a process. Raises LaunchError."""
    if not kinds:
        return None
    if len(set(kinds)) > 1:
        raise LaunchError("--threads and --fibers: ranks are the one or the other")
    stack, scheduler = values.get("--stack"), values.get("--scheduler")
    if stack is not None and not re.fullmatch(r"[1-9]\d*[kKmMgG]?", stack):
        raise LaunchError(f"--stack {stack}: a size is wanted, such as 256k")
    if scheduler is not None and (scheduler not in SCHEDULERS or kinds[0] != "fibers"):
        raise LaunchError(f"--scheduler {scheduler}: fibers have {' and '.join(SCHEDULERS)}, threads none")
    listed = values.get("--per-process")
    if listed is not None and not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", listed):
        raise LaunchError(f"--per-process {listed}: numbers of ranks are wanted, such as 3,5,2")
    return Carrier(kinds[0], stack, scheduler, tuple(map(int, listed.split(","))) if listed else ())


def contexts(request: Request) -> list[tuple[list[str], list[str]]]:
    """Options and program of each part of a job; `:` stands between parts, as for mpiexec."""
    parts: list[tuple[list[str], list[str]]] = []
    rest = [*request.launcher, *request.program]
    begins = len(request.launcher)
    while True:
        end = rest.index(":") if ":" in rest else len(rest)
        part, rest = rest[:end], rest[end + 1 :]
        parts.append((part[:begins], part[begins:]))
        if not rest:
            return parts
        begins = next((i for i, word in enumerate(rest) if not word.startswith("-") and resolve(word)), len(rest))


def program_of(words: Sequence[str]) -> Executable:
    """The program of an MPI that these words run: the first one, or one that it gets as an argument (`gdb --args app`).

    Raises LaunchError when there is no such program, or nothing can be preloaded under it.
    """
    first = inspect_executable(words[0])
    if not first.tells:
        for word in words[1:]:
            with contextlib.suppress(LaunchError):  # some other file
                if resolve(word) is not None and (found := inspect_executable(word)).tells:
                    return found
    return first


def mpi_of(executable: Executable | None) -> Mpi:
    """The MPI to launch with: ``$OPI_MPICC``, else the one whose library the program loads, else the default one.

    Raises LaunchError when the program was linked with an MPI of another kind.
    """
    if executable is None or executable.mpi_library is None:
        return find_mpi()
    mpi = None if "OPI_MPICC" in os.environ else beside(executable.mpi_library)
    if mpi is None:
        mpi = find_mpi()
    if executable.mpi_kind not in (None, mpi.kind):
        raise LaunchError(
            f"{executable.path} is linked with {executable.mpi_library}, but {mpi.mpicc} belongs to {mpi.kind}; "
            "set OPI_MPICC to the mpicc of the program's MPI"
        )
    return mpi


def preload(runtime: Runtime, shared_heap: bool) -> str:
    """The value of LD_PRELOAD that the ranks need, in front of what the environment has already."""
    libraries = [str(library) for library in runtime.preload(shared_heap)]
    before = os.environ.get("LD_PRELOAD", "")
    return ":".join([*libraries, *before.replace(":", " ").split()])


def command_line(mpi: Mpi, request: Request, value: str | None) -> list[str]:
    """The launcher's command. Only the ranks get LD_PRELOAD, the launcher does not."""
    command = [str(mpi.mpiexec)]
    if value is None:
        return [*command, *request.launcher, *request.program]
    if mpi.kind == "mpich":
        return [*command, "-genv", "LD_PRELOAD", value, *request.launcher, *request.program]
    if mpi.kind == "openmpi":
        return [*command, "-x", f"LD_PRELOAD={value}", *request.launcher, *request.program]
    for number, (options, program) in enumerate(contexts(request)):
        command += [*([":"] if number else []), *options, "env", f"LD_PRELOAD={value}", *program]
    return command


def run(arguments: Sequence[str]) -> int:
    """One opirun command. Does not return when it becomes the launcher. Raises LaunchError."""
    request = parse(arguments)
    if request.help:
        print(USAGE)
        return 0
    if request.version:
        return _versions()
    if request.carrier is not None:
        return _become(_carried(request, request.carrier), request.show)
    executable = None
    if request.program:
        executables = [program_of(words) for _, words in contexts(request) if words]
        executable = next((found for found in executables if found.tells), executables[0])
        for other in executables:
            if other.tells and other.has_libopi != executable.has_libopi:
                inside, outside = (other, executable) if other.has_libopi else (executable, other)
                raise LaunchError(f"{inside.path} has libopi linked in, {outside.path} has not: link both with opicc")
    elif not request.print_preload:
        word = next((a for a in request.launcher if not a.startswith("-") and not a.isdigit()), None)
        raise LaunchError(f"{word}: no such program" if word else "no program given; opirun --help tells the usage")
    mpi = mpi_of(executable)
    value: str | None = None
    if executable is not None and executable.has_libopi:
        if request.shared_heap:
            raise LaunchError(f"{executable.path} has libopi linked in: link it with `opicc --shared-heap` instead")
    else:
        value = preload(ensure_runtime(mpi), request.shared_heap)
    if request.print_preload:
        print(value or "")
        return 0
    return _become(command_line(mpi, request, value), request.show)


def _versions() -> int:
    """The version, and what the launcher says of itself. Raises LaunchError."""
    mpi = find_mpi()
    print(f"opirun {__version__} over {mpi.mpiexec}, of {mpi.kind} {mpi.version}; it says:", flush=True)
    return subprocess.run([str(mpi.mpiexec), "--version"], stdin=subprocess.DEVNULL, check=False).returncode


def _carried(request: Request, carrier: Carrier) -> list[str]:
    """The command for thread and fiber ranks. Raises LaunchError."""
    if not request.program:
        raise LaunchError("no program given; opirun --help tells the usage")
    if request.shared_heap or request.print_preload:
        raise LaunchError(f"--{carrier.kind}: nothing is preloaded, and the ranks share all memory as it is")
    return job(mpi_of(inspect_executable(request.program[0])), request.launcher, request.program, carrier)


def _become(command: list[str], show: bool) -> int:
    """Becomes the launcher, or prints its command. Raises LaunchError."""
    if show:
        print(shlex.join(command))
        return 0
    sys.stdout.flush()
    try:
        os.execv(command[0], command)
    except OSError as error:
        raise LaunchError(f"{command[0]}: cannot be run: {error.strerror}") from error


def main() -> int:
    """The console command."""
    try:
        return run(sys.argv[1:])
    except (LaunchError, IncompleteInstallError) as error:
        print(f"opirun: {error}", file=sys.stderr)
        return error.code if isinstance(error, LaunchError) else 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
