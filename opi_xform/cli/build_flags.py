"""The compiler flags of each source file: compile_commands.json, else what stands after ``--``.

The front end adds the directories of mpi.h, opi.h and the compiler's own headers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import field

from opi_xform.cli.options import Options
from opi_xform.record import dataclass

DATABASE = "compile_commands.json"


@dataclass(frozen=True, slots=True)
class BuildFlags:
    """``own``: the flags after ``--``, for every file; ``listed``: those of a compilation database, by real path."""

    own: tuple[str, ...] = ()
    listed: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, source: str) -> tuple[str, ...]:
        return self.listed.get(os.path.realpath(source), ()) + self.own


def build_flags(options: Options, sources: Sequence[str], root: str) -> BuildFlags:
    """Flags for every source.

    With -p each source must be listed; a database found by itself, at or above the root, serves the files it lists.
    Raises FrontendError when the database cannot be used or does not list a source.
    """
    from opi_xform.frontend.flags import CompilationDatabase, clean

    own = tuple(clean(options.flags or ()))
    if options.build_dir is not None:
        database = CompilationDatabase(options.build_dir)
        return BuildFlags(own, {os.path.realpath(source): tuple(database.flags(source)) for source in sources})
    folder = _database_folder(root) if options.flags is None else None
    if folder is None:
        return BuildFlags(own)
    database = CompilationDatabase(folder)
    known = set(database.files)
    listed = [source for source in sources if os.path.realpath(source) in known]
    return BuildFlags(own, {os.path.realpath(source): tuple(database.flags(source)) for source in listed})


def include_directories(flags: Sequence[str]) -> list[str]:
    """The directories in which ``flags`` look for headers."""
    pairs = zip(("", *flags), flags, strict=False)
    return [
        flag if option in ("-I", "-isystem", "-iquote", "-idirafter") else flag[2:]
        for option, flag in pairs
        if option in ("-I", "-isystem", "-iquote", "-idirafter") or (flag.startswith("-I") and len(flag) > 2)
    ]


def _database_folder(folder: str) -> str | None:
    """The nearest directory at or above ``folder`` with a compilation database."""
    while True:
        if os.path.isfile(os.path.join(folder, DATABASE)):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
