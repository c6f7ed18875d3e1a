"""Compile flags: from a compile_commands.json or the command line, plus where the headers are.

Builtin headers (stddef.h, stdarg.h …) are not in the libclang wheel; ``builtin_headers`` looks for them.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from opi_xform.frontend.errors import FrontendError, SeveralFlagsError
from opi_xform.record import dataclass
from opi_xform.resources import runtime_include_dir

CLANG_MAJOR = "18"

DEMOTED = (
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=incompatible-pointer-types",
    "-Wno-error=implicit-int",
    "-Wno-error=return-type",
    "-Wno-error=unknown-warning-option",
)
"""What C compilers accept with a warning, clang 18 as an error."""

_GCC = ("-D__malloc__(...)=__malloc__",)
"""GCC's omp.h says by an attribute which function frees; clang 18 has that attribute without arguments only."""

_WITH_VALUE = {"-o", "-MF", "-MT", "-MQ", "-MJ", "-z", "-u"}
_LINKS_OTHERWISE = re.compile(
    r"--?(?:wrap|defsym|init|fini|entry|script|default-script|just-symbols|allow-multiple-definition)(?:=|$)|@(?!loader_path|executable_path|rpath)"
    r"|(?:-z)?muldefs$|-e(?!nable-|xport-|xclude-|h-frame|mit-|rror-|mbedded-|nd-)|-(?:T|dT)(?!(?:text|data|bss|rodata|ldata)(?:=|$))"
)
"""What has the linker take a name for another one, or have functions run that nothing calls."""
_OPICC = re.compile(r"--(?:transform(?:=.*)?|ranks|shared-heap|no-warn-shared|launch)$")
"""What opicc takes for itself, where it is the compiler of a compile_commands.json."""
_COMPILER = re.compile(r"^(?:.*/)?[\w.+-]*(?:cc|clang|icx|ccache|distcc)(?:-[\d.]+)?$")
_DROPPED = re.compile(r"-(?:c|S|E|pipe|M|MM|MD|MMD|MP|MG|MV|s|static|shared|rdynamic|pie|no-pie|save-temps.*|flto.*)$")
_UNKNOWN_TO_CLANG = re.compile(
    r"-(?:fno-tree-.*|ftree-.*|fipa-.*|fno-ipa-.*|fanalyzer|fgcse.*|fmodulo-sched.*|fprefetch-.*|--param.*"
    r"|x[A-Z][-A-Za-z0-9_]*|fno-var-tracking.*|fvar-tracking.*|fopt-info.*|mno-fentry|Werror.*|W[al],.*"
    r"|pedantic-errors)$"
)


def clean(arguments: Sequence[str], source: str = "", directory: str = "") -> list[str]:
    """Compiler arguments as libclang wants them: no argv[0], -c, -o X, -M*, link flags, nor the file itself.

    ``arguments`` are without argv[0].  ``source`` is the file's path, ``directory`` where the command ran: relative
    include directories become absolute.
    """
    base = directory or os.getcwd()
    out: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "-Xlinker":
            out += links_otherwise([f"-Wl,{next(rest, '')}"])
        elif argument in ("-e", "-T"):
            out.append(f"{argument}{next(rest, '')}")
        elif links_otherwise([argument]):
            out.append(argument)
        elif argument in _WITH_VALUE:
            next(rest, None)
        elif argument in ("-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-isysroot"):
            value = next(rest, "")
            out += [argument, _absolute(value, base, argument in ("-include", "-imacros"))]
        elif argument in ("-D", "-U", "-x", "-arch", "-target", "-Xclang", "-resource-dir"):
            out += [argument, next(rest, "")]
        elif argument == "--":
            continue
        elif argument.startswith("-I") and len(argument) > 2:
            out.append("-I" + _absolute(argument[2:], base, False))
        elif argument.startswith("@"):
            out += clean(_response(os.path.join(base, argument[1:])), source, directory)
        elif (
            _DROPPED.match(argument)
            or _OPICC.match(argument)
            or argument.startswith(("-o", "-M", "-l", "-L", "-Wl,"))
            or _UNKNOWN_TO_CLANG.match(argument)
            or (not argument.startswith("-") and source and _same_file(os.path.join(base, argument), source))
            or (not argument.startswith("-") and argument.endswith((".o", ".a", ".so", ".c")))
        ):
            continue
        else:
            out.append(argument)
    return out


def _absolute(value: str, base: str, keep_if_missing: bool) -> str:
    path = os.path.join(base, value)
    return value if keep_if_missing and not os.path.exists(path) else path


def _same_file(a: str, b: str) -> bool:
    return os.path.realpath(a) == os.path.realpath(b)


def _response(path: str) -> list[str]:
    try:
        return shlex.split(Path(path).read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError:
        return []


_ORDERED = re.compile(r"-(?:[DUI]|isystem|iquote|idirafter|include|imacros|isysroot|x|W?p,|Xclang)")
_OF_NO_MATTER = re.compile(r"-(?:g(?!cc-toolchain).*|W(?!p,).*|w|pedantic.*|fdiagnostics-.*|f(?:no-)?color-.*|v|#*)$")
"""What a compiler does with these is the same program: debugging information, warnings, how they look."""


def definitions(flags: Sequence[str]) -> list[tuple[str, str]]:
    """Name and body of the macros that flags define: ``-D'ATTR(x)=__attribute__((x))'``, ``-DN``, ``-Wp,-DN=3``."""
    out = []
    rest = iter(flags)
    for flag in rest:
        given = (
            [flag] if not flag.startswith("-Wp,") else ["-" + piece for piece in flag[4:].removeprefix("-").split(",-")]
        )
        for piece in given:
            if piece.startswith("-D"):
                name, equal, body = (piece[2:] or next(rest, "")).partition("=")
                out.append((name.partition("(")[0], body if equal else "1"))
    return out


def links_otherwise(flags: Sequence[str]) -> list[str]:
    """The flags by which the linker makes another program than the text shows: ``-Wl,--wrap=f``, ``-e start``."""
    pieces = ((flag, flag[4:].split(",") if flag.startswith("-Wl,") else [flag][: flag[1:2] in "eT"]) for flag in flags)
    return [flag for flag, said in pieces if any(map(_LINKS_OTHERWISE.match, said))]


def meaning(flags: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cleaned flags such that equal ones make the same program: those whose order counts, and the others."""
    ordered: list[str] = []
    others: set[str] = set()
    rest = iter(flags)
    for flag in rest:
        if _ORDERED.match(flag):
            alone = flag in ("-D", "-U", "-I", "-x", "-Xclang") or flag.startswith("-i")
            ordered += [flag, next(rest, "")] if alone else [flag]
        elif not _OF_NO_MATTER.match(flag):
            others.add(flag)
    return tuple(ordered), tuple(sorted(others))


@dataclass(frozen=True)
class _Entry:
    """A compile command.  line: where it begins in the database."""

    line: int
    flags: list[str]


class CompilationDatabase:
    """A compile_commands.json.  Files are found by absolute path; one not listed is an error, no guess.

    So is one that is compiled more than once with flags that differ: it would be two programs' worth of text, and
    what holds of the one need not hold of the other.
    """

    def __init__(self, build_dir: str) -> None:
        path = Path(build_dir)
        if path.is_dir():
            path = path / "compile_commands.json"
        self.path = str(path)
        try:
            entries = json.loads(path.read_bytes())
        except OSError as error:
            raise FrontendError(self.path, 0, 0, f"cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise FrontendError(self.path, 0, 0, f"is not JSON: {error}") from None
        if not isinstance(entries, list):
            raise FrontendError(self.path, 0, 0, "is not a list of compile commands")
        self._entries: dict[str, list[_Entry]] = {}
        self.names: list[str] = []
        """The files by the names that they are listed under, absolute."""
        lines = _lines(path.read_text(encoding="utf-8", errors="replace"))
        for number, entry in enumerate(entries):
            if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
                raise FrontendError(self.path, 0, 0, "has an entry without a file")
            directory = os.path.join(str(path.parent.resolve()), str(entry.get("directory", "")))
            named = os.path.normpath(os.path.join(directory, entry["file"]))
            file = os.path.realpath(named)
            if file not in self._entries:
                self.names.append(named)
            arguments = entry.get("arguments")
            argv = [str(a) for a in arguments] if isinstance(arguments, list) else shlex.split(entry.get("command", ""))
            line = lines[number] if number < len(lines) else 0
            self._entries.setdefault(file, []).append(_Entry(line, clean(_after_the_compiler(argv), file, directory)))

    @property
    def files(self) -> list[str]:
        return list(self._entries)

    def flags(self, path: str) -> list[str]:
        """The flags of one file.  Raises FrontendError when the database does not list it, or says two things."""
        found = self._entries.get(os.path.realpath(path))
        if found is None:
            raise FrontendError(path, 0, 0, f"is not listed in {self.path}")
        first = found[0]
        other = next((e for e in found if meaning(e.flags) != meaning(first.flags)), None)
        if other is not None:
            told = ", ".join(
                f"{os.path.relpath(self.path)}:{one.line}: `{_only(one, than)}`"
                for one, than in ((first, other), (other, first))
            )
            advice = "give each its own file, or a compile_commands.json of one program"
            raise SeveralFlagsError(path, 0, 0, f"is compiled more than once, with other flags ({told}); {advice}")
        return first.flags


def _after_the_compiler(argv: Sequence[str]) -> list[str]:
    """The arguments of a command; a launcher may stand before the compiler (`ccache cc`, `opicc --launch cc`)."""
    at = 1
    while at < len(argv) and (_OPICC.match(argv[at]) or _COMPILER.search(argv[at])):
        at += 1
    return list(argv[at:])


def _only(entry: _Entry, than: _Entry) -> str:
    """The flags of one entry that another one has not; all of them where only their order differs."""
    mine = [flag for part in meaning(entry.flags) for flag in part]
    others = {flag for part in meaning(than.flags) for flag in part}
    more = [flag for flag in mine if flag not in others]
    return shlex.join(more or ([] if others - set(mine) else mine)) or "without these"


def _lines(text: str) -> list[int]:
    """The line on which each entry of a list begins; the list was read before, so it is one."""
    decoder, out = json.JSONDecoder(), []
    at = text.find("[") + 1
    while (found := re.compile(r"[\s,]*").match(text, at)) is not None and text[found.end() : found.end() + 1] == "{":
        out.append(text.count("\n", 0, found.end()) + 1)
        at = decoder.raw_decode(text, found.end())[1]
    return out


@dataclass(frozen=True)
class Headers:
    """Where headers are: flags to add after the user's own, and directories whose headers count as the system's."""

    flags: tuple[str, ...]
    system: tuple[str, ...]


def mpicc_path() -> str | None:
    """The mpicc whose mpi.h counts: OPI_MPICC, else the one next to this Python, else the first on PATH."""
    named = os.environ.get("OPI_MPICC")
    if named:
        return shutil.which(named)
    # Not resolved: in a virtual environment sys.executable is a link, and mpicc stands beside the link.
    beside = Path(sys.executable).parent / "mpicc"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("mpicc")


@lru_cache(maxsize=8)
def _mpi_flags(mpicc: str | None) -> tuple[str, ...]:
    if mpicc is None:
        return ()
    shown = _output([mpicc, "-show"]) or _output([mpicc, "--showme"])
    out: list[str] = []
    rest = iter(shlex.split(shown))
    for word in rest:
        if word.startswith("-I"):
            out += ["-isystem", word[2:] or next(rest, "")]
        elif word == "-isystem":
            out += [word, next(rest, "")]
        elif word.startswith(("-D", "-U")):
            out.append(word)
    return tuple(out)


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@lru_cache(maxsize=1)
def builtin_headers() -> tuple[str, ...]:
    """Flags that bring stddef.h and kin; () where a C compiler is missing, too.

    In order: ``clang -print-resource-dir`` of libclang's major version, the headers inside a ``clang-tidy`` wheel of
    the same version, GCC's include directory.  Clang's own come with GCC's after them, for omp.h and quadmath.h, which
    clang does not have; GCC's alone have no intrinsics and no tgmath.h that clang reads.
    """
    gcc = gcc_headers()
    behind = ("-idirafter", gcc, *_GCC) if gcc else ()
    for compiler in (f"clang-{CLANG_MAJOR}", "clang"):
        found = _output([compiler, "-print-resource-dir"]) if shutil.which(compiler) else ""
        if found and Path(found).name.split(".")[0] == CLANG_MAJOR and Path(found, "include", "stddef.h").is_file():
            return ("-resource-dir", found, *behind)
    spec = find_spec("clang_tidy")
    for place in (spec.submodule_search_locations or []) if spec else []:
        for header in sorted(Path(place).glob(f"**/lib/clang/{CLANG_MAJOR}*/include/stddef.h")):
            return ("-resource-dir", str(header.parent.parent), *behind)
    return ("-isystem", gcc, *_GCC) if gcc else ()


@lru_cache(maxsize=1)
def gcc_headers() -> str:
    """The directory of GCC's own headers, as the compiler names it; '' without one."""
    for compiler in ("gcc", "cc"):
        directory = _output([compiler, "-print-file-name=include"]) if shutil.which(compiler) else ""
        if directory and Path(directory, "stddef.h").is_file():
            return directory
    return ""


def headers(user: Sequence[str] = ()) -> Headers:
    """The header search that ``parse_unit`` adds to a user's flags."""
    flags = ["-isystem", str(Path(__file__).parent / "include")]
    if not any(f == "-resource-dir" or f.startswith("-resource-dir=") for f in user):
        flags += builtin_headers()
    mpi = list(_mpi_flags(mpicc_path()))
    try:
        runtime = str(runtime_include_dir())
        mpi += ["-isystem", runtime]
    except FileNotFoundError:
        pass
    flags += mpi
    folders = (
        (flag, flags[i + 1]) for i, flag in enumerate(flags) if flag in ("-isystem", "-idirafter", "-resource-dir")
    )
    system = (os.path.join(name, "include") if flag == "-resource-dir" else name for flag, name in folders)
    return Headers(tuple(flags), tuple(os.path.realpath(name) for name in system))


def _without_openmp(flag: str) -> str:
    """Programs are read as without OpenMP, whose directives ``frontend/lower/openmp.py`` reads, but for its macro."""
    if re.fullmatch(r"-fopenmp(=.*)?", flag):
        return OPENMP_MACRO
    return "" if flag.startswith(("-fopenmp-", "-fno-openmp")) else flag


OPENMP_MACRO = "-D_OPENMP=201511"  # what GCC 6 and later say


def arguments(user: Sequence[str], found: Headers) -> list[str]:
    """The whole argument list for libclang."""
    language = [] if any(f == "-x" or f.startswith("-x") for f in user) else ["-x", "c"]
    # The user's directories come first: an mpi.h that a project brings along is the one that it compiles against.
    return [
        *language,
        "-Wno-unknown-warning-option",
        *filter(None, map(_without_openmp, user)),
        *found.flags,
        *DEMOTED,
        "-ferror-limit=20",
        "-fno-spell-checking",
    ]
