"""opicc --transform: compiles the transformed text of each source, as `opi-xform --index DIR` left it.

What converts depends on the whole program, so it is decided once, for all files; each compilation then takes its file
from the index.  A file that is not what the index saw, or is not in it, is an error: half of a plan would be wrong.
Only what a build system compiles to learn about the compiler stays as it is (:mod:`probes`), index or not.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from opi_xform.file_names import standing
from opi_xform.launch.mpi import LaunchError
from opi_xform.launch.probes import is_probe
from opi_xform.record import dataclass

VERSION = 1
MANIFEST, TREE = "index.json", "tree"
DIRECTORY = ".opi-index"
"""The name under which an index is looked for, in the directory of a source and above."""
_WITH_VALUE = (
    "-o -MF -MT -MQ -L -D -U -x -l -T -u -e -z -A -aux-info -wrapper -Xlinker -Xpreprocessor -Xassembler -Xclang "
    "-dumpbase -dumpdir -dumpbase-ext -isysroot --param --sysroot -specs -target -arch -imultilib -iprefix "
    "-iwithprefix"
)
TAKES_VALUE = frozenset(_WITH_VALUE.split())
SEARCHED = ("-isystem", "-iquote", "-idirafter", "-I")
INCLUDED = ("-include", "-imacros")


@dataclass(frozen=True, slots=True)
class Index:
    """root: the real directory that ``tree`` mirrors.  files: name below the root -> sha256 of what was analysed.

    sources: those of the files that were given as sources.
    """

    path: Path
    root: Path
    files: Mapping[str, str]
    sources: frozenset[str]

    @property
    def tree(self) -> Path:
        return self.path / TREE


def manifest(root: str, files: Mapping[str, str], sources: Sequence[str]) -> bytes:
    """The bytes of an index's manifest."""
    value = {"version": VERSION, "root": root, "sources": sorted(sources), "files": dict(sorted(files.items()))}
    return (json.dumps(value, indent=1) + "\n").encode("ascii")


def read_index(path: Path) -> Index:
    """An index.  Raises LaunchError."""
    try:
        value: Any = json.loads((path / MANIFEST).read_bytes())
        if value["version"] != VERSION:
            raise LaunchError(f"{path}: an index of version {value['version']}, not {VERSION}; make it again")
        return Index(path, Path(value["root"]), dict(value["files"]), frozenset(value["sources"]))
    except OSError as error:
        advice = "`opi-xform --index DIR SOURCES` makes one"
        raise LaunchError(f"{path}: no index ({error.strerror}); {advice}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LaunchError(f"{path}: a damaged index; make it again") from error


def find_index(source: Path) -> Index:
    """``$OPI_INDEX``, else the nearest ``.opi-index`` at or above a source.  Raises LaunchError."""
    named = os.environ.get("OPI_INDEX")
    if named:
        return read_index(Path(named))
    for folder in (folder for name in _names(source) for folder in name.parents):
        if (folder / DIRECTORY / MANIFEST).is_file():
            return read_index(folder / DIRECTORY)
    raise LaunchError(
        f"{source}: no {DIRECTORY} here or above; run `opi-xform --index {DIRECTORY} SOURCES` first, or set OPI_INDEX"
    )


def c_sources(arguments: Sequence[str]) -> dict[int, str]:
    """Which arguments are C sources, by place: named so, or told to be C by `-x c`."""
    found: dict[int, str] = {}
    language = "none"
    before = ""
    for at, argument in enumerate(arguments):
        if before == "-x":
            language = argument
        elif before in (*TAKES_VALUE, *SEARCHED, *INCLUDED):
            pass
        elif argument.startswith("-x") and len(argument) > 2:
            language = argument[2:]
        elif not argument.startswith("-") and (language == "c" or (language == "none" and argument.endswith(".c"))):
            found[at] = argument
        before = "" if before in (*TAKES_VALUE, *SEARCHED, *INCLUDED) else argument
    return found


def output_of(arguments: Sequence[str]) -> str | None:
    """What `-o` names; None without it."""
    found = None
    for before, argument in zip(("", *arguments), arguments, strict=False):
        if before == "-o":
            found = argument
        elif argument.startswith("-o") and len(argument) > 2:
            found = argument[2:]
    return found


def transformed(arguments: Sequence[str], named: Path | None = None) -> list[str]:
    """The arguments with each source replaced by its transformed text, from the index ``named`` or the one found.

    Raises LaunchError.

    Includes of the program's own headers find the transformed ones first; ``__FILE__`` stays what it was.
    """
    sources = c_sources(arguments)
    output = output_of(arguments)
    if not sources or all(is_probe(source, output) for source in sources.values()):
        return list(arguments)
    found = list(arguments)
    folders: dict[tuple[str, str], None] = {}
    indexes: dict[Path, Index] = {}
    for at, source in sources.items():
        index = read_index(named) if named is not None else find_index(Path(source))
        if index.path not in indexes:
            _require_same(index)
            indexes[index.path] = index
        replaced = _replaced(Path(source), index)
        folders[str(replaced.parent), os.path.dirname(source)] = None
        found[at] = str(replaced)
    maps = [f"-fmacro-prefix-map={there}/={here + '/' if here else ''}" for there, here in folders]
    marks = [
        word
        for source in sources.values()
        for index in indexes
        for name in _names(Path(source))
        if (mark := mark_of(index.absolute(), name)).is_file()
        for word in ("-include", str(mark))
    ]
    return [*marks, *_includes([*found, *_of_environment(indexes.values())], indexes.values()), *maps]


def mark_of(index: Path, source: Path) -> Path:
    """The file that changes when what is compiled for a source does, beside an index that a build system made.

    It is a comment, included first: so it is among what the compiler tells the build system to have read."""
    name = hashlib.md5(str(source).encode(), usedforsecurity=False).hexdigest()
    return index.parent / "marks" / f"{name}.h"


def _of_environment(indexes: Iterable[Index]) -> list[str]:
    """The directories of headers that variables name, as options, where an index mirrors them: compilers look there
    after those of the command line."""
    return [
        word
        for variable, option in (("CPATH", "-I"), ("C_INCLUDE_PATH", "-isystem"))
        for folder in os.environ.get(variable, "").split(os.pathsep)
        if folder and any(_mirror(folder, index) for index in indexes)
        for word in (option, folder)
    ]


def _replaced(source: Path, index: Index) -> Path:
    for name in _names(source):
        if name.is_relative_to(index.root) and str(name.relative_to(index.root)) in index.sources:
            return (index.tree / name.relative_to(index.root)).absolute()
    raise LaunchError(
        f"{source}: not in {index.path}; give `opi-xform --index` all sources of the program, or compile what is "
        "no part of it without --transform"
    )


def _names(file: Path) -> tuple[Path, ...]:
    """Where a file stands, and where the file is: a link to a source of the program stands for it."""
    return tuple(dict.fromkeys((Path(standing(str(file))), file.resolve())))


def _require_same(index: Index) -> None:
    """Raises LaunchError when a file is not what was analysed."""
    for name, digest in index.files.items():
        file = index.root / name
        try:
            same = hashlib.sha256(file.read_bytes()).hexdigest() == digest
        except OSError as error:
            raise LaunchError(f"{file}: {error.strerror}; run `opi-xform --index` again") from error
        if not same:
            raise LaunchError(f"{file}: changed since {index.path} was made; run `opi-xform --index` again")


def _includes(arguments: Sequence[str], indexes: Iterable[Index]) -> list[str]:
    """Each directory of headers that an index mirrors, with its mirror before it; what `-include` names, replaced."""
    found: list[str] = []
    known = tuple(indexes)
    before = ""
    for argument in arguments:
        if before in INCLUDED:
            found.append(next((str(m) for i in known if (m := _mirror(argument, i)) and m.is_file()), argument))
            before = ""
            continue
        option = before if before in SEARCHED else ""
        if not option:
            option = next((o for o in SEARCHED if argument.startswith(o) and argument != o), "")
            folder = argument[len(option) :] if option else ""
        else:
            folder = argument
        for index in known if folder else ():
            mirror = _mirror(folder, index)
            if mirror is not None:
                found += [str(mirror), before] if before in SEARCHED else [f"{option}{mirror}"]
        found.append(argument)
        before = "" if before in (*TAKES_VALUE, *SEARCHED) else argument
    return found


def _mirror(path: str, index: Index) -> Path | None:
    """Where an index has what lies at a path; None outside its root."""
    names = (Path(path).resolve(),) if os.path.isdir(path) else _names(Path(path))
    inside = [index.tree / name.relative_to(index.root) for name in names if name.is_relative_to(index.root)]
    return next((file for file in inside if file.exists()), inside[0]).absolute() if inside else None
