"""opicc: the MPI's own compiler plus libopi.

Every argument goes to the user's mpicc as it stands. opicc adds the directory of opi.h, and where the command links an
executable, libopi before the MPI's own libraries; with `--shared-heap` the replacement allocator too; with
`--transform` it compiles each source as `opi-xform --index` transformed it (`transform`); with `--ranks` it links
libopi_ranks instead, for `opirun --threads` and `--fibers`, and tells what ranks would share (`linked`;
`--no-warn-shared`: not). `opicc --show` prints the command instead of running it, as `mpicc -show` does. After
`--launch` stands a whole command of another compiler, to which the same is done (`launcher`). `opicxx` is the same for
the MPI's C++ compiler.
"""

from __future__ import annotations

import itertools
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from opi_xform import __version__
from opi_xform.launch import cmake, launcher, linked
from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.probes import asks_what_is_linked
from opi_xform.launch.ranks import ensure_ranks
from opi_xform.launch.ranks import link_flags as ranks_link_flags
from opi_xform.launch.runtime import Runtime, ensure_runtime
from opi_xform.launch.transform import transformed
from opi_xform.record import dataclass
from opi_xform.resources import IncompleteInstallError, cmake_dir, runtime_include_dir

NO_LINK = frozenset({"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only", "-shared", "-r"})
"""With one of these the compiler makes no executable. A shared library takes libopi from the one that loads it."""

SHARED_HEAP = "--shared-heap"
"""malloc and its family then allocate memory that the ranks of a node share."""

TRANSFORM = "--transform"
"""Each source is compiled as `opi-xform --index` transformed it; `--transform=DIR` names the index."""

RANKS = "--ranks"
"""Ranks may be threads or fibers: libopi_ranks is linked in the place of libopi."""

NO_WARN_SHARED = "--no-warn-shared"
"""Nothing is told of variables that ranks of one process would share."""

LAUNCH = "--launch"
"""What follows is the command of another compiler."""

CMAKE_INDEX = "--cmake-index"
"""What the CMake package runs when a target is built (`cmake`); no option for people."""

SHOW = frozenset({"--show", "-show"})
PRINTED = ("--cflags", "--libs", "--cmake-dir")
"""Options that print what a build by other means needs."""

USAGE = """usage: {name} [options of {name}] [options of the compiler] files
       {name} [options of {name}] --launch COMPILER [options of the compiler] files
       {name} --cflags | --libs | --cmake-dir

Your MPI's {language} compiler plus libopi: it finds opi.h, and links libopi into executables. Every other option
goes to the MPI's compiler; OPI_MPICC names the MPI by its mpicc. libopi is built on first use, and kept (OPI_CACHE).
{more}
  --shared-heap      malloc and its family allocate memory that the ranks of a node share
  --ranks            link libopi_ranks: ranks may be threads or fibers (opirun --threads, --fibers)
  --no-warn-shared   with --ranks: tell nothing of variables that ranks of a process share
  --launch COMPILER  do the same to the command of another compiler, for CMAKE_C_COMPILER_LAUNCHER
  --show             print the command instead of running it
  --cflags, --libs   print what a compiler of your own needs to compile with opi.h, to link libopi
  --cmake-dir        print where CMake's find_package(opi) finds its package: -Dopi_DIR=$({name} --cmake-dir)
  --version, --help  with what the compiler says
"""
FOR_C = """
  --transform[=DIR]  compile each source as `opi-xform --index` transformed it; DIR is the index
                     (else OPI_INDEX, or the nearest .opi-index); the tests of CMake, configure and
                     Meson are compiled as they stand"""
FOR_CXX = """
C++ is compiled as it stands: opi-xform reads C only. The C files of the same program are compiled by
`opicc --transform`, and all is linked by opicxx.
"""


@dataclass(frozen=True, slots=True)
class Command:
    """Which of the two commands runs."""

    name: str
    cxx: bool

    @property
    def usage(self) -> str:
        return USAGE.format(name=self.name, language="C++" if self.cxx else "C", more=FOR_CXX if self.cxx else FOR_C)


OPICC, OPICXX = Command("opicc", False), Command("opicxx", True)


@dataclass(frozen=True, slots=True)
class Asked:
    """A command line, taken apart: opicc's own options, and what goes on."""

    passed: list[str]
    launched: str | None
    """The compiler after `--launch`; ``passed`` are its arguments."""
    shared_heap: bool
    ranks: bool
    warn: bool
    show: bool
    transform: bool
    index: Path | None


def parse(arguments: Sequence[str], command: Command = OPICC) -> Asked:
    """Takes a command line apart. Raises LaunchError for options that exclude each other."""
    at = arguments.index(LAUNCH) if LAUNCH in arguments else len(arguments)
    own, passed = list(arguments[:at]), list(arguments[at + 1 :])
    launched = None
    if at < len(arguments):
        if not passed:
            raise LaunchError(f"{LAUNCH}: no compiler; its whole command follows {LAUNCH}")
        launched = passed.pop(0)
        if Path(launched).name in ("opicc", "opicxx"):  # CC is opicc, too: one is enough
            own, passed, launched = [*own, *passed], [], None
    rest, flags, index = list[str](), set[str](), None
    for argument in own:
        if argument in {*SHOW, SHARED_HEAP, TRANSFORM, RANKS, NO_WARN_SHARED}:
            flags.add(argument)
        elif argument.startswith(f"{TRANSFORM}="):
            flags.add(TRANSFORM)
            index = Path(argument.partition("=")[2])
        else:
            rest.append(argument)
    if launched is not None and rest:
        raise LaunchError(f"{rest[0]}: no option of {command.name}; those of the compiler follow its name")
    if {RANKS, SHARED_HEAP} <= flags:
        raise LaunchError(f"{RANKS} and {SHARED_HEAP}: ranks of one process share all memory as it is")
    if command.cxx and TRANSFORM in flags:
        advice = "compile the C files by `opicc --transform`, link by opicxx without it"
        raise LaunchError(f"{TRANSFORM}: opi-xform reads C only; {advice}")
    return Asked(
        rest if launched is None else passed,
        launched,
        SHARED_HEAP in flags,
        RANKS in flags,
        NO_WARN_SHARED not in flags,
        not SHOW.isdisjoint(flags),
        TRANSFORM in flags,
        index,
    )


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


def _libopi(mpi: Mpi, asked: Asked) -> list[str]:
    """What links the library that is asked for; built now where it is not there."""
    if asked.ranks:
        return ranks_link_flags(ensure_ranks(mpi))
    return link_flags(ensure_runtime(mpi), asked.shared_heap)


def has_libopi(arguments: Sequence[str]) -> bool:
    """Whether a command links libopi whole by itself, as the flags of `--libs` and the CMake package do."""
    words = [part for word in expanded(arguments) for part in word.removeprefix("-Wl,").split(",")]
    names = ("libopi.a", "libopi_ranks.a")
    return any(
        before == "--whole-archive" and os.path.basename(word) in names for before, word in itertools.pairwise(words)
    )


def _without(arguments: Sequence[str]) -> bool:
    """Whether a link gets no libopi from here."""
    return has_libopi(arguments) or asks_what_is_linked(arguments)


def _opi_h() -> list[str]:
    # Last, so that a project's own opi.h is found first where it includes one; the tool's output then has opi_xform.h.
    return ["-isystem", str(runtime_include_dir())]


def command_line(mpi: Mpi, compiler: Path, asked: Asked, arguments: Sequence[str], link: bool) -> list[str]:
    """The compiler's command that does what this opicc command asks for; builds libopi where it is to be linked."""
    command = [str(compiler), *arguments, *_opi_h()]
    if not link or _without(arguments):
        return command
    if any(argument.startswith("-x") for argument in arguments):
        command.append("-xnone")  # else the compiler reads the archive as a source
    return [*command, *_libopi(mpi, asked)]


def _launched(compiler: str, asked: Asked, arguments: Sequence[str]) -> list[str]:
    """The command of a compiler that is not the MPI's wrapper, or need not be."""
    if not links(arguments) or _without(arguments):
        return [compiler, *arguments, *_opi_h()]
    mpi = launcher.mpi_of(compiler, expanded(arguments))
    # First: an archive of the MPI would otherwise define the same functions before.
    return [compiler, *_libopi(mpi, asked), *arguments, *_opi_h()]


def _show(command: list[str]) -> int:
    """Prints what would run: expanded by the wrapper itself where it can, else the wrapper's command line."""
    done = subprocess.run([*command, "-show"], capture_output=True, text=True, check=False)
    print(done.stdout.strip() if done.returncode == 0 and done.stdout.strip() else shlex.join(command))
    return 0


def _print(what: str, asked: Asked) -> int:
    """For builds by other means."""
    if what == "--cmake-dir":
        print(cmake_dir())
    else:
        print(shlex.join(_opi_h() if what == "--cflags" else _libopi(find_mpi(), asked)))
    return 0


def run(arguments: Sequence[str], command: Command = OPICC) -> int:
    """One opicc command; returns the compiler's exit code. Raises LaunchError."""
    if not arguments:
        raise LaunchError(f"no files, nothing to do; {command.name} --help tells the usage")
    if arguments[0] == CMAKE_INDEX:
        return cmake.main(arguments[1:])
    asked = parse(arguments, command)
    passed = asked.passed
    if asked.launched is not None:
        if asked.transform:
            passed = transformed(expanded(passed), asked.index)
        line = _launched(asked.launched, asked, passed)
        if asked.show:
            print(shlex.join(line))
            return 0
        return _execute(line)
    if len(passed) == 1 and passed[0] in PRINTED:
        return _print(passed[0], asked)
    mpi = find_mpi()
    compiler = launcher.cxx_of(mpi) if command.cxx else mpi.mpicc
    if passed in (["--version"], ["--help"]):
        return _told(command, compiler, mpi, passed[0])
    if asked.transform:
        passed = transformed(expanded(passed), asked.index)
    if not asked.show:
        line = command_line(mpi, compiler, asked, passed, links(passed))
        told = asked.ranks and links(passed) and asked.warn
        return _link_and_warn(line, expanded(passed), mpi) if told else _execute(line)
    # Without files, --show tells the flags of a whole build, as mpicc -show does.
    flags_only = all(argument.startswith("-") for argument in passed) and NO_LINK.isdisjoint(passed)
    return _show(command_line(mpi, compiler, asked, passed, flags_only or links(passed)))


def _told(command: Command, compiler: Path, mpi: Mpi, what: str) -> int:
    """--help and --version. The compiler's own version comes first: build systems read which compiler this is there."""
    if what == "--help":
        print(command.usage, flush=True)
        print(f"The compiler here is {compiler}, of {mpi.kind} {mpi.version}. Its own help:\n", flush=True)
        return _execute([str(compiler), what])
    code = _execute([str(compiler), what])
    print(f"{command.name} {__version__} over {compiler}, of {mpi.kind} {mpi.version}")
    return code


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


def main(command: Command = OPICC) -> int:
    """The console command."""
    try:
        code = run(sys.argv[1:], command)
    except (LaunchError, IncompleteInstallError) as error:
        print(f"{command.name}: {error}", file=sys.stderr)
        return error.code if isinstance(error, LaunchError) else 2
    except KeyboardInterrupt:
        return 130
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
