"""opicc --transform: compiles the transformed text of each source, as `opi-xform --index DIR` left it.

What converts depends on the whole program, so it is decided once, for all files; each compilation then takes its file
from the index.  A file that is not what the index saw, or is not in it, is an error: half of a plan would be wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opi_xform.launch.mpi import LaunchError

VERSION = 1
MANIFEST, TREE = "index.json", "tree"
DIRECTORY = ".opi-index"
"""The name under which an index is looked for, in the directory of a source and above."""
TAKES_VALUE = frozenset(("-o", "-MF", "-MT", "-MQ", "-include", "-imacros", "-L", "-D", "-U", "-x", "-Xlinker", "-T"))
SEARCHED = ("-isystem", "-iquote", "-idirafter", "-I")


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
    for folder in source.resolve().parents:
        if (folder / DIRECTORY / MANIFEST).is_file():
            return read_index(folder / DIRECTORY)
    raise LaunchError(
        f"{source}: no {DIRECTORY} here or above; run `opi-xform --index {DIRECTORY} SOURCES` first, or set OPI_INDEX"
    )


def transformed(arguments: Sequence[str]) -> list[str]:
    """The arguments with each source replaced by its transformed text.  Raises LaunchError.

    Includes of the program's own headers find the transformed ones first; ``__FILE__`` stays what it was.
    """
    found: list[str] = []
    folders: dict[tuple[str, str], None] = {}
    indexes: dict[Path, Index] = {}
    before = ""
    for argument in arguments:
        if argument.endswith(".c") and not argument.startswith("-") and before not in (*TAKES_VALUE, *SEARCHED):
            index = find_index(Path(argument))
            if index.path not in indexes:
                _require_same(index)
                indexes[index.path] = index
            replaced = _replaced(Path(argument), index)
            folders[str(replaced.parent), os.path.dirname(argument)] = None
            found.append(str(replaced))
        else:
            found.append(argument)
        before = argument
    maps = [f"-fmacro-prefix-map={there}/={here + '/' if here else ''}" for there, here in folders]
    return [*_includes(found, indexes.values()), *maps] if indexes else found


def _replaced(source: Path, index: Index) -> Path:
    real = source.resolve()
    if not real.is_relative_to(index.root) or str(real.relative_to(index.root)) not in index.sources:
        raise LaunchError(
            f"{source}: not in {index.path}; give `opi-xform --index` all sources of the program, or compile what is "
            "no part of it without --transform"
        )
    return (index.tree / real.relative_to(index.root)).absolute()


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
    """Each directory of headers that an index mirrors, with its mirror before it."""
    found: list[str] = []
    known = tuple(indexes)
    before = ""
    for argument in arguments:
        apart = before in SEARCHED
        folder = argument if apart else argument[2:] if argument.startswith("-I") else ""
        for index in known if folder else ():
            real = Path(folder).resolve()
            if real.is_relative_to(index.root):
                mirror = str((index.tree / real.relative_to(index.root)).absolute())
                found += [mirror, before] if apart else [f"-I{mirror}"]
        found.append(argument)
        before = argument
    return found
