"""Headers of the system that were parsed before, and whether a file really begins with them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from opi_xform.file_names import standing
from opi_xform.frontend.clang.libclang import CXCursor, Kind, TranslationUnit, text
from opi_xform.frontend.clang.source import Sources
from opi_xform.record import dataclass

_IN_PARTS = ("stddef.h", "stdarg.h")


@dataclass(frozen=True, slots=True)
class MacroPlace:
    """Where a precompiled macro is defined: the file as clang names it, and what follows ``#define`` there."""

    file: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Precompiled:
    """System headers in one precompiled file.

    direct: the real paths of those that it includes itself, in order.  digests: the sha256 of each file read.
    macros: the last definition of each.  proc_null: files in which the name MPI_PROC_NULL stands.
    """

    file: str
    direct: tuple[str, ...]
    digests: Mapping[str, str]
    macros: Mapping[str, MacroPlace]
    proc_null: frozenset[str]


@dataclass(frozen=True, slots=True)
class Beginning:
    """What one file includes first; '' in ``included`` stands for the next of the precompiled headers."""

    precompiled: Precompiled
    included: tuple[str, ...]

    def holds(self, unit: TranslationUnit, sources: Sources, top: Sequence[CXCursor]) -> bool:
        """Whether the parsed file includes these first, and none of the precompiled ones declares anything twice."""
        return self._included(unit, top) and not self._repeated(unit, sources, top)

    def _included(self, unit: TranslationUnit, top: Sequence[CXCursor]) -> bool:
        directives = [c for c in top if c.kind == Kind.INCLUSION_DIRECTIVE][: len(self.included)]
        direct = iter(self.precompiled.direct)
        wanted = [path or next(direct) for path in self.included]
        return wanted == [included_path(unit, cursor) for cursor in directives]

    def _repeated(self, unit: TranslationUnit, sources: Sources, top: Sequence[CXCursor]) -> bool:
        """Whether a header that is read once more (its guard is not around all of it) changes anything.

        A macro that it defines once more where it was defined last is the same one.  What ``_IN_PARTS`` names is made
        to be read several times, and declares each time what is asked for and not there yet.
        """
        known = self.precompiled.digests
        if all(f.path not in known for f in map(sources.file, unit.inclusions())):
            return False
        ranges: list[tuple[int, int]] = []
        for cursor in top:
            if cursor.kind in (Kind.MACRO_EXPANSION, Kind.INCLUSION_DIRECTIVE):
                continue
            extent = unit.lib.clang_getCursorExtent(cursor)
            if any(low <= extent.begin <= high for low, high in ranges):
                continue
            file, begin = sources.locate(extent.begin)
            if file is None or file.path not in known or os.path.basename(file.path) in _IN_PARTS:
                low, high, _ = sources.range_of(extent.begin)
                ranges.append((low, high))
            elif cursor.kind != Kind.MACRO_DEFINITION or not self._same(unit, file.path, begin, cursor):
                return True
        return False

    def _same(self, unit: TranslationUnit, path: str, begin: int, definition: CXCursor) -> bool:
        before = self.precompiled.macros.get(text(unit.lib.clang_getCursorSpelling(definition)))
        return before is not None and before.begin == begin and standing(before.file) == path


def included_path(unit: TranslationUnit, directive: CXCursor) -> str:
    """The real path of the file that an include directive reads, '' when there is none."""
    handle = unit.lib.clang_getIncludedFile(directive)
    return standing(text(unit.lib.clang_getFileName(handle))) if handle else ""
