"""What an earlier run wrote to a directory: its manifest, and what may be overwritten or removed there.

A file whose content is not what the manifest says was written, or edited, by somebody else: it is theirs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from opi_xform.record import dataclass
from opi_xform.rewrite.write import OutputError, OutputFile

NAME = ".opi-xform.json"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Program:
    """What a directory was made of: absolute names of the sources, and of the one that defines main, '' without one.

    files: by name below the directory, the SHA-256 of what was written.
    """

    sources: frozenset[str] = frozenset()
    main: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def goes_on_as(self, now: Program) -> bool:
        """Whether it is an earlier state of ``now``, or its sources are gone."""
        there = {file for file in self.sources if os.path.exists(file)}
        if self.main in there and self.main not in now.sources:
            return False
        return not there or bool(there & now.sources)


@dataclass(frozen=True, slots=True)
class Kept:
    """The manifest of ``directory``: one entry for each program in it.  Empty without a manifest."""

    directory: str
    programs: tuple[Program, ...] = ()

    @property
    def files(self) -> dict[str, str]:
        """By name below the directory, the SHA-256 of what was written."""
        return {name: digest for program in self.programs for name, digest in program.files.items()}

    def wrote(self, path: str) -> bool:
        """Whether the file at ``path``, below the directory, is as an earlier run left it.  Raises OSError."""
        name = os.path.relpath(path, self.directory)
        known = {program.files[name] for program in self.programs if name in program.files}
        return bool(known) and digest_of(path) in known

    def others(self, now: Program) -> list[Program]:
        """The programs that ``now`` is not made of."""
        return [program for program in self.programs if not program.goes_on_as(now)]


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
        version = value["version"]
        programs = tuple(_program(directory, one) for one in value["programs"]) if version == VERSION else ()
    except (FileNotFoundError, NotADirectoryError):
        return Kept(directory)
    except OSError as error:
        raise OutputError(path, f"cannot be read ({error.strerror}); check its permissions") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputError(path, "is not what opi-xform wrote; remove it and run again") from error
    if version != VERSION:
        raise OutputError(path, f"is of version {version}, not {VERSION}; remove {directory} and run again")
    return Kept(directory, programs)


def _program(directory: str, value: Any) -> Program:
    """One entry of a manifest.  Raises an exception of the built-in ones for what is none."""
    sources, main, files = list(value["sources"]), value["main"], dict(value["files"])
    if not all(isinstance(text, str) for text in (main, *sources, *files, *files.values())):
        raise TypeError
    top = os.path.realpath(directory)
    names = frozenset(_beside(top, name) for name in sources)
    return Program(names, main and _beside(top, main), {name: one for name, one in files.items() if _inside(name)})


def _beside(top: str, name: str) -> str:
    return os.path.normpath(os.path.join(top, name))


def refused(
    kept: Kept, outputs: Iterable[OutputFile], program: Iterable[str], now: Program, force: bool
) -> list[OutputError]:
    """Why files of ``outputs`` cannot be written: they are part of the ``program``, another program's, or somebody's.

    What has the right content already is no matter.  ``force`` gives leave for what is not of the program.
    """
    taken = {name: other for other in kept.others(now) for name in other.files}
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
        elif not same and not force and os.path.relpath(output.target, kept.directory) in taken:
            other = taken[os.path.relpath(output.target, kept.directory)]
            what = (
                f"belongs to another program there ({os.path.relpath(other.main or min(other.sources))}), and differs"
            )
            found.append(OutputError(output.target, f"{what}; name another directory, or --force overwrites it"))
        elif theirs:
            edited = os.path.relpath(output.target, kept.directory) in kept.files
            what = "was edited since opi-xform wrote it" if edited else "was not written by opi-xform, and differs"
            found.append(OutputError(output.target, f"{what}; name another directory, or --force overwrites it"))
    return found


def stale(kept: Kept, outputs: Iterable[OutputFile], program: Iterable[str], now: Program) -> tuple[Stale, ...]:
    """What earlier runs wrote and is no longer part of the output, as far as it is there.

    What is of the ``program``, or of another program than ``now``, is not.
    """
    own = {_identity(file) for file in program}
    wanted = {os.path.relpath(output.target, kept.directory) for output in outputs}
    wanted |= {name for other in kept.others(now) for name in other.files}
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
    kept: Kept, outputs: Iterable[OutputFile], left: Sequence[Stale], now: Program, tool: str
) -> OutputFile:
    """The manifest that goes with ``outputs``.  What is stale but edited stays known, so that it is told again.

    Names are relative to the directory, so that both may move together.
    """
    files = {os.path.relpath(o.target, kept.directory): hashlib.sha256(o.data).hexdigest() for o in outputs}
    programs = [
        replace(other, files={name: files.get(name, one) for name, one in other.files.items()})
        for other in kept.others(now)
    ]
    for one in left:
        if one.edited:
            name = os.path.relpath(one.path, kept.directory)
            files[name] = kept.files[name]
    top = os.path.realpath(kept.directory)
    entries = [
        {
            "main": program.main and os.path.relpath(program.main, top),
            "sources": sorted(os.path.relpath(file, top) for file in program.sources),
            "files": dict(sorted(program.files.items())),
        }
        for program in (*programs, replace(now, files=files))
    ]
    entries.sort(key=lambda entry: (entry["main"], entry["sources"]))
    value = {"version": VERSION, "tool": f"opi-xform {tool}", "programs": entries}
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
