"""What an earlier run wrote to a directory: its manifest, and what may be overwritten or removed there.

A file whose content is not what the manifest says was written, or edited, by somebody else: it is theirs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opi_xform.rewrite.write import OutputError, OutputFile

NAME = ".opi-xform.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Program:
    """What a directory was made of: absolute names of the sources, and of the one that defines main, '' without one."""

    sources: frozenset[str] = frozenset()
    main: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """The manifest of ``directory``: by name below it, the SHA-256 of what was written.  Empty without a manifest."""

    directory: str
    files: Mapping[str, str]
    program: Program = Program()

    def wrote(self, path: str) -> bool:
        """Whether the file at ``path``, below the directory, is as an earlier run left it.  Raises OSError."""
        digest = self.files.get(os.path.relpath(path, self.directory))
        return digest is not None and digest == digest_of(path)


@dataclass(frozen=True, slots=True)
class Stale:
    """A file that an earlier run wrote and this one does not; ``edited``: it is no longer as that run left it."""

    path: str
    edited: bool


def read_kept(directory: str) -> Kept:
    """The manifest of a directory.  Raises OutputError for one that no opi-xform wrote."""
    path = os.path.join(directory, NAME)
    try:
        with open(path, "rb") as stream:
            value: Any = json.loads(stream.read())
        version, files = value["version"], dict(value["files"])
        sources, main = list(value["sources"]), str(value["main"])
    except (FileNotFoundError, NotADirectoryError):
        return Kept(directory, {})
    except OSError as error:
        raise OutputError(path, f"cannot be read ({error.strerror}); check its permissions") from error
    except (ValueError, KeyError, TypeError) as error:
        raise OutputError(path, "is not what opi-xform wrote; remove it and run again") from error
    if version != VERSION:
        raise OutputError(path, f"is of version {version}, not {VERSION}; remove {directory} and run again")
    if not all(isinstance(text, str) for text in (*files, *files.values(), *sources)):
        raise OutputError(path, "is not what opi-xform wrote; remove it and run again")
    top = os.path.realpath(directory)
    program = Program(frozenset(_beside(top, name) for name in sources), main and _beside(top, main))
    return Kept(directory, {name: digest for name, digest in files.items() if _inside(name)}, program)


def _beside(top: str, name: str) -> str:
    return os.path.normpath(os.path.join(top, name))


def another(kept: Kept, program: Program) -> OutputError | None:
    """Why a directory cannot become that of ``program``: it is that of another one, which is still there."""
    old = kept.program
    there = [file for file in sorted(old.sources) if os.path.exists(file)]
    if old.main in there and old.main != program.main:
        there = [old.main]
    elif program.sources & set(there):
        return None
    if not there:
        return None
    reason = f"holds another program ({os.path.relpath(there[0])}); name another directory, or --force replaces it"
    return OutputError(kept.directory, reason)


def refused(kept: Kept, outputs: Iterable[OutputFile], program: Iterable[str], force: bool) -> list[OutputError]:
    """Why files of ``outputs`` cannot be written: they are part of the ``program``, or somebody else's.

    What has the right content already is no matter.  ``force`` gives leave for what is somebody else's.
    """
    own = {mark for file in program if (mark := _identity(file)) is not None}
    found = []
    for output in outputs:
        mark = _identity(output.target)
        if mark is None or not os.path.isfile(output.target):
            continue
        try:
            with open(output.target, "rb") as stream:
                same = stream.read() == output.data
            theirs = not same and not force and not kept.wrote(output.target)
        except OSError as error:
            reason = f"cannot be read ({error.strerror}); check its permissions"
            found.append(OutputError(output.target, reason))
            continue
        if mark in own and not same:
            reason = f"is a source of this program (as {_named(output, program)}); name another directory"
            found.append(OutputError(output.target, reason))
        elif theirs:
            edited = os.path.relpath(output.target, kept.directory) in kept.files
            what = "was edited since opi-xform wrote it" if edited else "was not written by opi-xform, and differs"
            found.append(OutputError(output.target, f"{what}; name another directory, or --force overwrites it"))
    return found


def stale(kept: Kept, outputs: Iterable[OutputFile], program: Iterable[str]) -> tuple[Stale, ...]:
    """What earlier runs wrote and is no longer part of the output, as far as it is there and not of the ``program``."""
    own = {_identity(file) for file in program}
    wanted = {os.path.relpath(output.target, kept.directory) for output in outputs}
    top = os.path.realpath(kept.directory)
    found = []
    for name in sorted(set(kept.files) - wanted):
        path = os.path.join(kept.directory, name)
        folder = os.path.realpath(os.path.dirname(path))
        if os.path.commonpath([folder, top]) == top and os.path.lexists(path) and _identity(path) not in own - {None}:
            regular = os.path.isfile(path) and not os.path.islink(path)
            found.append(Stale(path, not regular or not kept.wrote(path)))
    return tuple(found)


def new_manifest(
    kept: Kept, outputs: Iterable[OutputFile], left: Sequence[Stale], program: Program, tool: str
) -> OutputFile:
    """The manifest that goes with ``outputs``.  What is stale but edited stays known, so that it is told again.

    Names are relative to the directory, so that both may move together.
    """
    files = {os.path.relpath(o.target, kept.directory): hashlib.sha256(o.data).hexdigest() for o in outputs}
    for one in left:
        if one.edited:
            name = os.path.relpath(one.path, kept.directory)
            files[name] = kept.files[name]
    top = os.path.realpath(kept.directory)
    value = {
        "version": VERSION,
        "tool": f"opi-xform {tool}",
        "main": program.main and os.path.relpath(program.main, top),
        "sources": sorted(os.path.relpath(file, top) for file in program.sources),
        "files": dict(sorted(files.items())),
    }
    return OutputFile(os.path.join(kept.directory, NAME), "", (json.dumps(value, indent=1) + "\n").encode("ascii"))


def digest_of(path: str) -> str | None:
    """The SHA-256 of a file; None where there is none.  Raises OSError."""
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except FileNotFoundError:
        return None


def _named(output: OutputFile, program: Iterable[str]) -> str:
    mark = _identity(output.target)
    return next(os.path.relpath(file) for file in sorted(program) if _identity(file) == mark)


def _identity(path: str) -> tuple[int, int] | None:
    """What a file is, by whatever name; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _inside(name: str) -> bool:
    """Whether a name of a manifest is one below its directory; what is not was not written by this program."""
    return name == os.path.normpath(name) and not os.path.isabs(name) and name.split(os.sep)[0] != os.pardir
