"""The system's headers that files begin with, parsed once for all files of a program that begin with the same ones.

What the parser makes of a file stays the same: the precompiled headers are those that the file includes first, in this
order, and before them stand only comments, other includes, and guards that these headers do not mention.  The parser
is asked afterwards whether that is so (``Beginning.holds``); where it is not, or anything is wrong, the file is parsed
as it stands.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence

from opi_xform.file_names import standing
from opi_xform.frontend.clang.libclang import Kind, TranslationUnit, library, text
from opi_xform.frontend.clang.source import File, Sources
from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.flags import Headers, arguments, headers
from opi_xform.frontend.headers import kept_headers
from opi_xform.frontend.headers.beginning import Beginning, MacroPlace, Precompiled, included_path
from opi_xform.frontend.headers.kept_headers import Made
from opi_xform.frontend.headers.leading import Leading, Reader
from opi_xform.frontend.parse import on_big_stack
from opi_xform.frontend.probe import integer_macros

Job = tuple[str, tuple[str, ...]]
"""A source file and its compiler flags."""

ENOUGH = 4  # files that begin alike: parsing the beginning alone costs as much as parsing two of them
_OTHERS = ("-include", "-imacros", "-x", "-D__", "-fopenmp", "-Xclang", "@")
_ELSEWHERE = ("-isystem", "-idirafter", "-isysroot", "--sysroot", "-nostd", "-F", "-iframework", "-B")
"""Flags that look for headers in folders of which nothing is remembered."""
_OPTIONS = 0x13  # with the macros, no whole program, and it is going to be saved


def beginnings(jobs: Sequence[Job], folder: str, meanwhile: Callable[[], None] | None = None) -> dict[str, Beginning]:
    """The beginnings of the files, where enough of them begin alike, or were seen to in an earlier run.

    ``folder`` gets what is precompiled and cannot be kept.  meanwhile: done beside that.
    """
    readers: dict[tuple[str, ...], Reader] = {}
    groups: dict[tuple[tuple[str, ...], tuple[bytes, ...]], list[tuple[str, Leading]]] = {}
    for path, flags in jobs:
        if any(flag.startswith(_OTHERS) for flag in flags):
            continue
        reader = readers.get(flags)
        if reader is None:
            reader = readers[flags] = Reader(flags, headers(flags).system)
        leading = reader.read(standing(path))
        if leading.system:
            groups.setdefault((flags, leading.system), []).append((path, leading))
    out: dict[str, Beginning] = {}
    for number, ((flags, system), members) in enumerate(groups.items()):
        made = _kept(flags, system)
        if made is None and len(members) >= ENOUGH:
            made = _precompiled(os.path.join(folder, f"{number}.h"), flags, system, meanwhile)
        if made is None:
            continue
        unfit = {guards for guards in {leading.guards for _, leading in members} if mentions(made, guards)}
        for path, leading in members:
            if leading.guards not in unfit:
                out[path] = Beginning(made.precompiled, leading.included)
    return out


def mentions(made: Made, names: frozenset[bytes]) -> bool:
    """Whether one of the names stands in the headers."""
    found = re.compile(rb"\b(?:" + b"|".join(sorted(names)) + rb")\b") if names else None
    return found is not None and any(found.search(text) for text in made.texts)


def known_part(path: str, flags: tuple[str, ...], real: tuple[str, ...]) -> str:
    """The precompiled headers, of an earlier run, that a file begins with; '' when there are none.

    real: the flags that the file has where its program stands, when it is looked at as a copy elsewhere.
    """
    if any(flag.startswith(_OTHERS) for flag in flags):
        return ""
    leading = Reader(flags, headers(flags).system).read(standing(path))
    for count in range(len(leading.system), 0, -1):
        made = _kept(real, leading.system[:count])
        if made is not None:
            return "" if mentions(made, leading.guards) else made.precompiled.file
    return ""


def _kept(flags: tuple[str, ...], system: tuple[bytes, ...]) -> Made | None:
    if any(flag.startswith(_ELSEWHERE) for flag in flags):
        return None
    return kept_headers.read(flags, arguments(flags, headers(flags)), system)


def _precompiled(
    name: str, flags: tuple[str, ...], system: tuple[bytes, ...], meanwhile: Callable[[], None] | None
) -> Made | None:
    """The headers in a precompiled file, kept for later runs or else beside ``name``; None when that does not work."""
    command = arguments(flags, headers(flags))
    folder = None
    if not any(flag.startswith(_ELSEWHERE) for flag in flags):
        folder = kept_headers.folder(command, system)
    if folder is not None:
        made = _made(os.path.join(folder, "0.h"), flags, system, meanwhile)
        if made is not None:
            kept_headers.write(command, system, made.precompiled)
            return made
    return _made(name, flags, system, meanwhile)


def _made(
    name: str, flags: tuple[str, ...], system: tuple[bytes, ...], meanwhile: Callable[[], None] | None
) -> Made | None:
    try:
        with open(name, "wb") as file:
            file.writelines(b"#include " + written + b"\n" for written in system)
        return on_big_stack(lambda: _compile(os.path.realpath(name), flags, len(system)), meanwhile)
    except (OSError, FrontendError):
        return None


def _compile(name: str, flags: tuple[str, ...], count: int) -> Made | None:
    found = headers(flags)
    command = [*arguments(flags, found), "-x", "c-header"]
    with TranslationUnit(name, command, None, _OPTIONS) as unit:
        if any(severity >= 3 for severity, *_ in unit.diagnostics()):
            return None
        top = unit.top_level()
        if not top:
            return None
        sources = Sources(unit, found.system)
        sources.anchor(library().clang_getCursorLocation(top[-1]))
        files = [f for f in map(sources.file, unit.inclusions()) if f.path != name]
        direct = []
        for cursor in top:
            if cursor.kind == Kind.INCLUSION_DIRECTIVE:
                written, _ = sources.locate(library().clang_getCursorLocation(cursor).raw)
                if written is not None and written.path == name:
                    direct.append(included_path(unit, cursor))
        if len(direct) != count or not all(f.system for f in files):
            return None
        if library().clang_saveTranslationUnit(unit.handle, os.fsencode(f"{name}.pch"), 0) != 0:
            return None
        made = Precompiled(
            f"{name}.pch",
            tuple(direct),
            {f.path: hashlib.sha256(f.data).hexdigest() for f in files},
            _macros(unit, sources),
            frozenset(f.path for f in files if b"MPI_PROC_NULL" in f.data),
        )
        _probed(flags, found, files)
        return Made(made, tuple(f.data for f in files))


def _macros(unit: TranslationUnit, sources: Sources) -> dict[str, MacroPlace]:
    """Where each macro is defined last."""
    lib = unit.lib
    names: dict[str, str] = {}
    for handle in unit.inclusions():
        names.setdefault(sources.file(handle).path, text(lib.clang_getFileName(handle)))
    out: dict[str, MacroPlace] = {}
    for cursor in unit.top_level():
        if cursor.kind != Kind.MACRO_DEFINITION:
            continue
        extent = lib.clang_getCursorExtent(cursor)
        file, begin = sources.locate(extent.begin)
        _, end = sources.locate(extent.end)
        if file is not None and end and file.path in names:
            out[text(lib.clang_getCursorSpelling(cursor))] = MacroPlace(names[file.path], begin, end)
    return out


def _probed(flags: tuple[str, ...], found: Headers, files: Sequence[File]) -> None:
    """The constants of the MPI's header are found out here, once, rather than by each process that parses."""
    integer_macros(flags, found, [f.path for f in files])
