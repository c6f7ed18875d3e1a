"""The uses of macros that are written in a file, with what each of them becomes; and the tree of the whole.

Two texts with the same tree are one program: what is written out is compared so with what it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from opi_xform.file_names import standing
from opi_xform.frontend import flags as flags_module
from opi_xform.frontend.clang.libclang import CURSOR_VISITOR, RECURSE, CXCursor, Kind, TranslationUnit, evaluate, text
from opi_xform.frontend.clang.source import File, Sources, closing, skip_space, tokens
from opi_xform.frontend.lower.directives import all_lines
from opi_xform.frontend.macros.expansions import Expansion, Macros
from opi_xform.frontend.macros.one_meaning import Steadiness, steadiness
from opi_xform.frontend.macros.quoted import Quoted
from opi_xform.frontend.macros.written_out import Piece, written_out
from opi_xform.frontend.parse import clean_unit, on_big_stack
from opi_xform.record import dataclass

_PREPROCESSING = 500
_VALUES = (Kind.INTEGER_LITERAL, Kind.CHARACTER_LITERAL, Kind.FLOATING_LITERAL, Kind.UNARY_EXPR)
_FLOAT = 2  # what clang_EvalResult_getKind says of a floating number
_UNNAMED = re.compile(r"\((?:unnamed|anonymous)[^)]*\)")


@dataclass(frozen=True, slots=True)
class Use:
    """A use of a macro at ``[begin, end)`` of a file, and what it becomes."""

    file: str
    begin: int
    end: int
    name: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Words of what may be edited.  calls: functions whose calls may be; made: functions of the program's own; names:
    buffers.
    """

    calls: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reading:
    """A unit's uses, also those inside of others; and its tree, node by node, if it is asked for."""

    uses: tuple[Use, ...]
    shape: tuple[str, ...]


def read(path: str, flags: Sequence[str], wanted: Wanted | None, top: str, shape: bool) -> Reading:
    """The uses, outside of headers of the system, that make something of what is ``wanted`` (None: no uses).

    top: a folder whose name is no part of what files are called.  Raises FrontendError.
    """
    found = flags_module.headers(flags)
    real = standing(path)

    def work() -> Reading:
        with clean_unit(path, real, list(flags), found, [], 1) as (unit, _):
            return read_unit(unit, found.system, wanted, top, shape)

    return on_big_stack(work)


def read_unit(unit: TranslationUnit, system: tuple[str, ...], wanted: Wanted | None, top: str, shape: bool) -> Reading:
    """What ``read`` gives, of a parsed unit; system: folders of headers that are not the program's."""
    sources = Sources(unit, system)
    cursors = unit.top_level()
    if not cursors:
        return Reading((), ())
    sources.anchor(unit.lib.clang_getCursorLocation(unit.lib.clang_getTranslationUnitCursor(unit.handle)))
    sources.anchor(unit.lib.clang_getCursorLocation(cursors[-1]))
    uses = tuple(_Uses(unit, sources, cursors, wanted).run()) if wanted is not None else ()
    return Reading(uses, tuple(_shape(unit, sources, cursors, top)) if shape else ())


class _Uses:
    """Of one unit: ``run``."""

    def __init__(self, unit: TranslationUnit, sources: Sources, cursors: Sequence[CXCursor], wanted: Wanted) -> None:
        self.macros = Macros(
            unit,
            sources,
            [c for c in cursors if c.kind == Kind.MACRO_EXPANSION],
            [c for c in cursors if c.kind == Kind.MACRO_DEFINITION],
        )
        self.quoted = Quoted(self.macros)
        self.calls = wanted.calls
        self.bodies = wanted.calls | wanted.made | wanted.names
        self.functions = wanted.calls | wanted.made
        self.names = wanted.names
        listed = [file for file in map(sources.file, unit.inclusions()) if not file.system]
        self.files = {file.path: file for file in listed}
        self.repeated = {file.path for file in listed if listed.count(file) > 1}
        self.steady: Steadiness = steadiness({path: file.data for path, file in self.files.items()})

    def run(self) -> Iterator[Use]:
        directives = {path: _directives(file) for path, file in self.files.items()}
        calls = {path: list(self.calling(file)) for path, file in self.files.items()}
        for path, use in self.macros.written():
            file = self.files.get(path)
            if file is None or path in self.repeated:
                continue
            if any(begin < use.end and use.begin < end for begin, end in directives[path]):
                continue
            inside = any(begin <= use.begin and use.end <= end for begin, end in calls[path])
            if self.is_wanted(file, use, inside) and self.is_steady(use) and self.is_plain(file, use):
                pieces = written_out(file, use, self.macros, self.quoted)
                if pieces is not None:
                    yield Use(path, use.begin, use.end, use.name, pieces)

    def calling(self, file: File) -> Iterator[tuple[int, int]]:
        """The beginnings of statements up to the end of a call in them that may be edited, or may allocate."""
        start = 0
        for a, b, kind in tokens(file.data, 0, len(file.data)):
            if kind == "punct" and file.data[a:b] in (b";", b"{", b"}"):
                start = b
            elif kind == "word" and file.data[a:b].decode("utf-8", "replace") in self.functions:
                opened = skip_space(file.data, b)
                end = closing(file.data, opened) if file.data[opened : opened + 1] == b"(" else None
                if end is not None:
                    yield start, end

    def is_wanted(self, file: File, use: Expansion, inside: bool) -> bool:
        """The use makes something that may be edited.  inside: it stands in a statement with a call that may be."""
        if not self.bodies.isdisjoint(self.macros.reached(use)):
            return True
        texts = (file.data[a:b] for a, b, kind in tokens(file.data, use.begin, use.end) if kind == "word")
        words = {text.decode("utf-8", "replace") for text in texts}
        for other in self.macros.within(file.path, use.begin, use.end):
            words |= self.macros.reached(other)
        return not words.isdisjoint(self.calls) or (inside and not words.isdisjoint(self.names))

    def is_steady(self, use: Expansion) -> bool:
        """The macro means the same in each configuration, and all that it names do where it stands."""
        return use.name in self.steady.single and self.steady.changing.isdisjoint(self.macros.reached(use))

    def is_plain(self, file: File, use: Expansion) -> bool:
        """No macro around the use sees how it is written."""
        for outer in self.macros.around(file.path, use.begin):
            position = self.macros.argument(file, outer, use.begin, use.end)
            if outer.definition is None or position is None or self.quoted.quotes(outer.definition, position):
                return False
        return True


def _directives(file: File) -> list[tuple[int, int]]:
    return [(begin, end) for _, begin, end in all_lines(file.data)]


def _shape(unit: TranslationUnit, sources: Sources, cursors: Iterable[CXCursor], top: str) -> Iterator[str]:
    """The nodes of all declarations that are not of the system."""
    lib = unit.lib
    found: list[CXCursor] = []

    def visit(cursor: CXCursor, _parent: CXCursor, _data: object) -> int:
        found.append(cursor)
        return RECURSE

    callback = CURSOR_VISITOR(visit)
    for cursor in cursors:
        if cursor.kind >= _PREPROCESSING:
            continue
        file, _ = sources.locate(lib.clang_getCursorLocation(cursor).raw)
        if file is None or file.system:
            continue
        found.append(cursor)
        lib.clang_visitChildren(cursor, callback, None)
    for cursor in found:
        kind = cursor.kind
        type_ = text(lib.clang_getTypeSpelling(lib.clang_getCursorType(cursor)))
        operator = lib.clang_getCursorBinaryOperatorKind(cursor), lib.clang_getCursorUnaryOperatorKind(cursor)
        spelled = text(lib.clang_getCursorSpelling(cursor)).replace(top, "")
        value = _value(unit, cursor) if kind in _VALUES else ""
        yield f"{kind} {operator} {value} {_UNNAMED.sub('', type_)} {_UNNAMED.sub('', spelled)}"


def _value(unit: TranslationUnit, cursor: CXCursor) -> str:
    """What a number is worth, or a sizeof: nothing else of the node tells it."""
    lib = unit.lib
    result = lib.clang_Cursor_Evaluate(cursor)
    if not result:
        return ""
    try:
        if lib.clang_EvalResult_getKind(result) == _FLOAT:
            return repr(lib.clang_EvalResult_getAsDouble(result))
    finally:
        lib.clang_EvalResult_dispose(result)
    return str(evaluate(cursor))
