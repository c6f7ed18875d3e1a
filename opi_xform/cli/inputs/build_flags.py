"""The compiler flags of each source file: compile_commands.json, else what stands after ``--``.

The front end adds the directories of mpi.h, opi.h and the compiler's own headers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.options import Options
from opi_xform.cli.outcome import fail
from opi_xform.record import dataclass

if TYPE_CHECKING:
    from opi_xform.frontend.flags import CompilationDatabase

DATABASE = "compile_commands.json"
_EXPORTS = re.compile(r"CMAKE_EXPORT_COMPILE_COMMANDS:\w+=(?:ON|TRUE|YES|Y|1)\s*$", re.I)


@dataclass(frozen=True, slots=True)
class BuildFlags:
    """``own``: the flags after ``--``, for every file; ``listed``: those of a compilation database, by real path.

    database: its file, '' without one.  names: all the files that it compiles.
    """

    own: tuple[str, ...] = ()
    listed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    database: str = ""
    names: tuple[str, ...] = ()

    def of(self, source: str) -> tuple[str, ...]:
        return self.listed.get(os.path.realpath(source), ()) + self.own


def build_flags(options: Options, sources: Sequence[str], root: str) -> BuildFlags:
    """Flags for every source.

    With -p each source must be listed; a database found by itself serves the files it lists.
    Raises FrontendError when the database cannot be used or does not list a source, Failure when two could be meant.
    """
    from opi_xform.frontend.flags import clean

    own = tuple(clean(options.flags or ()))
    if options.build_dir is not None:
        named = open_database(options.build_dir)
        flags = {os.path.realpath(source): tuple(named.flags(source)) for source in sources}
        return BuildFlags(own, flags, named.path, tuple(named.names))
    database = _found(root, sources, options.usual_build) if options.flags is None else None
    if database is None:
        return BuildFlags(own)
    known = set(database.files)
    listed = [source for source in sources if os.path.realpath(source) in known]
    flags = {os.path.realpath(source): tuple(database.flags(source)) for source in listed}
    return BuildFlags(own, flags, database.path, tuple(database.names))


def open_database(build_dir: str) -> CompilationDatabase:
    """The database of -p.  Raises FrontendError; Failure where one lies below the directory that was named."""
    from opi_xform.frontend.flags import CompilationDatabase

    if os.path.isdir(build_dir) and not os.path.isfile(os.path.join(build_dir, DATABASE)):
        inside = below_folder(build_dir, 3)
        if inside:
            known = " or ".join(f"-p {os.path.relpath(folder)}" for folder in inside)
            raise fail(f"there is no {DATABASE} in it, but one below; use {known}", build_dir, code="OPI902")
        cache = os.path.join(build_dir, "CMakeCache.txt")
        if os.path.isfile(cache):
            how = f"cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON {build_dir} makes it write one"
            if _asked_for_one(cache):
                how = f"it was asked for one and did not get to its end: run cmake {build_dir}, and mend what it tells"
            raise fail(f"CMake wrote no {DATABASE} here; {how}", build_dir, code="OPI902")
    return CompilationDatabase(build_dir)


def _asked_for_one(cache: str) -> bool:
    """Whether CMake writes a database when it gets to the end of the configuration, by its cache."""
    with open(cache, encoding="utf-8", errors="replace") as lines:
        return any(_EXPORTS.match(line) for line in lines)


def below_folder(top: str, depth: int) -> list[str]:
    """The directories with a database below one, down to a depth."""
    found, level = [], [top]
    for _ in range(depth):
        level = [path for folder in level for path in _folders(folder, "*")]
        found += [path for path in level if os.path.isfile(os.path.join(path, DATABASE))]
    return found


def databases_near(folder: str) -> list[str]:
    """The directories with a database: this one, else those below it whose name begins with `build`."""
    if os.path.isfile(os.path.join(folder, DATABASE)):
        return [folder]
    return [path for path in _folders(folder, "build*") if os.path.isfile(os.path.join(path, DATABASE))]


def _folders(folder: str, pattern: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if fnmatchcase(entry.name, pattern) and entry.is_dir()]
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if not name.startswith(".")]


def _found(root: str, sources: Sequence[str], usual: str | None) -> CompilationDatabase | None:
    """The database that opi.toml names, or the nearest that lists a source: at or above the root, then at or above the
    working directory.

    Raises Failure where several are as near and say different things.
    """
    from opi_xform.frontend.errors import FrontendError
    from opi_xform.frontend.flags import CompilationDatabase, meaning

    real = [os.path.realpath(source) for source in sources]
    if usual is not None:
        return open_database(usual)
    here = os.path.realpath(os.getcwd())
    for folder in dict.fromkeys((*_upwards(root), *_upwards(here))):
        found = []
        for place in databases_near(folder):
            try:
                found.append(CompilationDatabase(place))
            except FrontendError:  # of a build elsewhere it is of no matter
                if place == folder or os.path.commonpath([folder, here]) == here:
                    raise
        said = {}
        for database in found:
            listed = [source for source in real if source in set(database.files)]
            if listed:
                said[database.path] = [(source, meaning(database.flags(source))) for source in listed]
        if not said:
            continue
        first = next(iter(said))
        other = next((path for path in said if said[path] != said[first]), None)
        if other is not None:
            what = f"{shown(first)} and {shown(other)} compile the sources with other flags"
            raise fail(f"{what}; say which by -p, or give the flags after --", code="OPI902")
        return next(database for database in found if database.path == first)
    return None


def _upwards(folder: str) -> Iterator[str]:
    """A directory and all above it."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def include_directories(flags: Sequence[str]) -> list[str]:
    """The directories in which ``flags`` look for headers."""
    pairs = zip(("", *flags), flags, strict=False)
    return [
        flag if option in ("-I", "-isystem", "-iquote", "-idirafter") else flag[2:]
        for option, flag in pairs
        if option in ("-I", "-isystem", "-iquote", "-idirafter") or (flag.startswith("-I") and len(flag) > 2)
    ]
