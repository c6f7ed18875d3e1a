"""What ranks of one process would share in a program that was just linked: writable variables of objects, archives and
shared libraries that `opi-xform --privatize` did not see. Read from the linker's map and the program's symbols.
"""

from __future__ import annotations

import bisect
import functools
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from opi_xform.launch.mpi import Mpi
from opi_xform.record import dataclass

_ROW = re.compile(r"^ (\.[\w.$]+|COMMON|opi_rank_vars)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$", re.M)
"""An input section of a map of GNU ld or gold: name, address, size, file; long names stand on a line of their own."""
_LOADED = re.compile(r"^LOAD (\S.*)$", re.M)
_BEGIN = re.compile(r"^(?:Linker script and memory map|Memory map)$", re.M)
_WRITABLE = re.compile(r"\.l?(?:data|bss)(?!\.rel\.ro)(?:\.|$)|COMMON$|\.gnu\.linkonce\.[db]\.")
_MEMBER = re.compile(r"^(.*)\((.*)\)$")
_SYMBOL = re.compile(r"^\s*\d+: ([0-9a-f]+)\s+\w+\s+OBJECT\s.*\s\d+\s(\S+)$", re.M)
_NEEDED = re.compile(r"\((NEEDED|SONAME)\).*\[(.*)\]")
_SOURCES = frozenset({".c", ".C", ".cc", ".cpp", ".cxx", ".s", ".S"})

_OF_STRUCT = "opi_rank_vars"
"""A section of every file that has variables made private in the form struct; its `.data` and `.bss` are templates."""
_OF_THREADS = (".tdata", ".tbss")
"""What is private in the form tls is here."""
_INSTRUMENTS = ("__gcov", "__llvm", "__prof", "__asan", "__tsan", "__ubsan", "__sanitizer", "__odr_asan", "__sancov")
"""Variables that compilers add, to measure and to check, begin so: they count for the process."""

_OWN = (
    *("c", "c_nonshared", "m", "mvec", "pthread", "pthread_nonshared", "rt", "dl", "util", "resolv", "nsl", "crypt"),
    *("gcc", "gcc_eh", "gcc_s", "stdc++", "supc++", "c++", "c++abi", "unwind", "gfortran", "quadmath", "atomic"),
    *("gomp", "omp", "iomp5", "asan", "lsan", "tsan", "ubsan", "gcov", "opi_ranks"),
    *("mpicxx", "mpichcxx", "mpi_cxx", "mpifort", "mpichfort", "mpi_mpifh", "mpi_usempif08"),
)
"""Libraries that are made for several threads, or whose variables are of the process, besides the MPI's."""
_START = re.compile(r"(?:r|g|S|M|grc)?crt\w*\.o$")

SHOWN = 4
"""Variables told by name; the others are counted."""


@dataclass(frozen=True, slots=True)
class Variable:
    """zero: in `.bss`: nothing has given it a value before the program starts."""

    name: str
    zero: bool


@dataclass(frozen=True, slots=True)
class Unit:
    """One object file. group: the archive, or '' for what was compiled or named by itself. seen: it has private
    variables. variables: those that are not."""

    name: str
    group: str
    seen: bool
    variables: tuple[Variable, ...]


def map_of(arguments: Sequence[str]) -> tuple[bool, Path | None]:
    """Whether the command asks for a map itself, and the file, as far as it is plain."""
    asks = any("-Map" in argument or argument in ("-Wl,-M", "-Wl,--print-map") for argument in arguments)
    found = [match[1] for argument in arguments if (match := re.search(r"-Map[=,]([^,]+)", argument))]
    return asks, Path(found[-1]) if found else None


def output_of(arguments: Sequence[str]) -> Path:
    """The program that the command links."""
    result = "a.out"
    for index, argument in enumerate(arguments):
        if argument == "-o" and index + 1 < len(arguments):
            result = arguments[index + 1]
        elif argument.startswith("-o") and argument != "-o":
            result = argument[2:]
    return Path(result)


def _said(*command: str | Path) -> str:
    """What a command prints; nothing where it cannot be run."""
    try:
        return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


@functools.cache
def _of_mpi(mpi: Mpi) -> frozenset[str]:
    """The libraries that the MPI's wrapper adds by name."""
    words = shlex.split(_said(mpi.mpicc, "-show"))
    return frozenset(word[2:] for word in words if word.startswith("-l"))


def _known(file: str, mpi: Mpi) -> bool:
    """Whether a file belongs to the compiler, the C library, the MPI or to opicc."""
    path = Path(file)
    if _START.match(path.name) or path.name.startswith(("ld-linux", "ld64", "ld.so", "libclang_rt")):
        return True
    stem = path.name.removeprefix("lib").partition(".so")[0].removesuffix(".a")
    return stem in _OWN or stem in _of_mpi(mpi)


def _archive_of(file: str) -> str:
    """`lib.a` of `lib.a(member.o)`; nothing of an object by itself."""
    match = _MEMBER.match(file)
    return match[1] if match else ""


def _made_here(arguments: Iterable[str], loaded: Iterable[str]) -> dict[str, str]:
    """The sources of the command by their objects, which are gone; empty where that is not one for one."""
    sources = [argument for argument in arguments if Path(argument).suffix in _SOURCES]
    gone = [file for file in loaded if file.endswith(".o") and not Path(file).exists()]
    return dict(zip(gone, sources, strict=True)) if len(gone) == len(sources) else {}


def units(text: str, program: Path, arguments: Sequence[str], mpi: Mpi) -> list[Unit]:
    """The objects of the program, in the order of the link; those of the system and of the MPI apart. ``text``: the
    linker's map."""
    begin = _BEGIN.search(text)
    if begin is None:
        return []
    body = re.sub(r"^( \.[\w.$]+)\n\s+0x", r"\1 0x", text[begin.end() :], flags=re.M)
    symbols = sorted(
        (int(at, 16), name)
        for at, name in _SYMBOL.findall(_said("readelf", "-sW", program))
        if not name.startswith(_INSTRUMENTS) and "@" not in name
    )
    places = [at for at, _ in symbols]
    found, templates, seen = dict[str, dict[str, Variable]](), set[str](), set[str]()
    for section, address, size, file in _ROW.findall(body):
        start, end = int(address, 16), int(address, 16) + int(size, 16)
        if _known(_archive_of(file) or file, mpi):
            continue
        own = found.setdefault(file, {})
        if start == end:
            continue
        if section == _OF_STRUCT:
            templates.add(file)
        elif section.startswith(_OF_THREADS):
            seen.add(file)
        elif _WRITABLE.match(section):
            zero = "bss" in section or section == "COMMON"
            here = symbols[bisect.bisect_left(places, start) : bisect.bisect_left(places, end)]
            own.update({name: Variable(name.partition(".")[0], zero) for _, name in here})
    made_here = _made_here(arguments, _LOADED.findall(text))
    result = []
    for file, variables in found.items():
        archive = _archive_of(file)
        name = file if Path(archive or file).exists() else made_here.get(file, "the program")
        left = () if file in templates else tuple(variables.values())
        result.append(Unit(name, archive, file in templates | seen, left))
    return result


def shared_by_ranks(found: Iterable[Unit]) -> dict[str, list[str]]:
    """The variables that ranks share by mistake, by the archive or object that has them. Where some of a program or an
    archive are private, opi-xform saw the others too, and left what nothing writes: tables with values. A variable that
    starts as zero is none: then the object was left out."""
    groups: dict[str, list[Unit]] = {}
    for unit in found:
        groups.setdefault(unit.group, []).append(unit)
    result: dict[str, list[str]] = {}
    for group, members in groups.items():
        seen = any(unit.seen for unit in members)
        for unit in members:
            if unit.variables and (not seen or any(variable.zero for variable in unit.variables)):
                result.setdefault(group or unit.name, []).extend(variable.name for variable in unit.variables)
    return result


def _listed(names: Sequence[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def libraries(text: str, program: Path, mpi: Mpi) -> list[Path]:
    """The shared libraries that the program needs, those of the system and of the MPI apart."""
    loaded = [Path(file) for file in dict.fromkeys(_LOADED.findall(text)) if ".so" in Path(file).name]
    others = [file for file in loaded if file.exists() and not _known(str(file), mpi)]
    if not others:
        return []
    tags = _NEEDED.findall(_said("readelf", "-dW", program))
    needed = {Path(name).name for kind, name in tags if kind == "NEEDED"}

    def soname(file: Path) -> str:
        return next((n for kind, n in _NEEDED.findall(_said("readelf", "-dW", file)) if kind == "SONAME"), file.name)

    return [file for file in others if Path(soname(file)).name in needed]


def warnings(text: str, program: Path, arguments: Sequence[str], mpi: Mpi) -> Iterator[str]:
    """What to tell of a program that was linked, one line each."""
    shared = shared_by_ranks(units(text, program, arguments, mpi))
    for name, variables in shared.items():
        what = "1 variable" if len(variables) == 1 else f"{len(variables)} variables"
        yield f"warning: {name}: {what} that all ranks share: {_listed(variables)}"
    if shared:
        yield "note: opi-xform --privatize gives each rank its own; --no-warn-shared ends these warnings"
    others = libraries(text, program, mpi)
    if others:
        yield f"note: all ranks of a process share the variables of {_listed([file.name for file in others])}"
    for file in others:
        symbols = [line.split()[-2:] for line in _said("nm", "-D", file).splitlines()]
        calls = [name for kind, name in symbols if kind == "U" and name.startswith("PMPI_")]
        if calls:
            yield f"warning: {file.name} calls {_listed(calls)}: these reach the MPI below, not the ranks"
