"""The macros that a program's own text defines or uses, as the preprocessor had them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opi_xform.frontend.clang.libclang import CXCursor, library
from opi_xform.frontend.clang.source import File, Sources, tokens
from opi_xform.frontend.macros.expansions import Definition, Macros

_SIGNS = ((re.compile(r"(?<!\S)(?:% : % :|\? \? = \? \? =)(?!\S)"), "##"), (re.compile(r"(?<!\S)(?:% :|\? \? =)"), "#"))


def meant(
    macros: Macros, sources: Sources, files: dict[str, File], given: Sequence[tuple[str, str]]
) -> set[tuple[str, str]]:
    """Name and body of each, of all definitions, and of the macros that these name.

    files: the program's own.  given: name and body of those that flags define, which have no place.
    """
    work = [*_own(macros, sources), *(word for _, body in given for word in re.findall(r"\w+", body))]
    for path, used in macros.written():
        work.append(used.name)
        if used.outer is None and not used.object_like and path in files:  # macros may be among what it is given
            data = files[path].data
            work += (data[a:b].decode("utf-8", "replace") for a, b, _ in tokens(data, used.begin, used.end))
    out = set(given)
    seen: set[str] = set()
    while work:
        name = work.pop()
        if name not in seen:
            seen.add(name)
            for found in macros.definitions(name):
                out.add((name, body_of(found)))
                work += found.body
    return out


def body_of(definition: Definition) -> str:
    """One space stands between tokens, and signs that have two spellings have the usual one."""
    text = " ".join(definition.body)
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    return text


def _own(macros: Macros, sources: Sources) -> Iterator[str]:
    extent_of = library().clang_getCursorExtent
    low, high = 1, 0  # places in a system header: nearly all definitions, one after the other
    cursor: CXCursor
    for cursor, name in macros.defined():
        begin = extent_of(cursor).begin
        if not low <= begin <= high:
            file, _ = sources.locate(begin)
            if file is None or file.system:
                low, high, _ = sources.range_of(begin)
            else:
                yield name
