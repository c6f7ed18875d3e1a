"""What runs, or has a name, though no name in the source shows it: attributes, labels, assembly outside of functions.

The parser has them after all macros, flags and headers did their work, so nobody looks for their words in a text.  What
it prints of a declaration names each attribute that stands there.  An attribute that it has and does not print is one
that a pragma gave.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from opi_xform.frontend.clang.libclang import MACRO_BIT, CXCursor, Kind, TranslationUnit, text
from opi_xform.frontend.clang.source import File, Sources, find_top
from opi_xform.frontend.clang.tree import Tree
from opi_xform.frontend.flags import links_otherwise
from opi_xform.frontend.macros.expansions import Macros
from opi_xform.ir.ast import Unseen
from opi_xform.ir.link_guard import GUARD
from opi_xform.ir.span import Span

RUNNING = frozenset({"constructor", "destructor", "cleanup", "ifunc", "alias", "weakref", "weak"})
UNKNOWN, PRAGMA, LABEL, ASSEMBLY, FLAG = "attribute", "pragma", "asm", "assembly", "flag"
RENAMED = "redefine_extname"  # a label that a pragma gives

_FIRST, _LAST, _LABEL = int(Kind.FIRST_ATTRIBUTE), int(Kind.LAST_ATTRIBUTE), int(Kind.LABEL_ATTRIBUTE)
_FUNCTION, _VARIABLE = int(Kind.FUNCTION_DECL), int(Kind.VAR_DECL)
_INITIALISERS, _TERSE = 6, 17  # properties of how libclang prints: without initialisers, without bodies
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PRINTED = re.compile(r"__attribute__\(\((\w+)|\[\[(?:\w+::)?(\w+)|\b(_Noreturn|_Alignas|alignas)\b")
_SECTION = re.compile(r"\.?((?:pre)?init_array|fini_array|[cd]tors|init|fini)(?:\.|$)")
_PLAIN_SECTION = re.compile(r"[\w.$-]+")
_WORD = re.compile(rb"\w+")
_NOT_PLAIN = re.compile(rb"__attribute|__declspec|\basm|__asm|[\[<]:?\s*[\[<]|%:|\\")


class Finder:
    """Of one unit: the declarations come in their order."""

    def __init__(self, unit: TranslationUnit, sources: Sources) -> None:
        self._unit, self._lib, self._sources = unit, unit.lib, sources
        self._read = {0}  # places (raw) of attributes that a declaration before had, or that are nobody's
        self._defined: set[str] = set()
        self.found: list[Unseen] = []

    def declaration(self, cursor: CXCursor, macros: Macros) -> None:
        """Of a function that is declared and not defined."""
        if self._lib.clang_Cursor_hasAttrs(cursor) or text(self._lib.clang_getCursorSpelling(cursor)) in self._defined:
            self.tree(Tree(self._unit, cursor), macros)

    def tree(self, tree: Tree, macros: Macros) -> None:
        """Of a declaration, and of all declarations in it."""
        if tree.kind[0] not in (_FUNCTION, _VARIABLE):
            return
        given: dict[int, list[int]] = {}
        wanted = {kind for kind in set(tree.kind) if _FIRST <= kind <= _LAST}  # mostly none, in many nodes
        for i in [i for i, kind in enumerate(tree.kind) if kind in wanted] if wanted else ():
            if tree.kind[tree.parent[i]] in (_FUNCTION, _VARIABLE):
                given.setdefault(tree.parent[i], []).append(i)
        for i, attributes in given.items():
            self._attributes(tree, i, attributes, macros)
        inside = [i for i in range(1, len(tree)) if tree.kind[i] == _FUNCTION] if _FUNCTION in tree.kind[1:] else []
        for i in (0, *inside) if self._defined else ():
            if not self._lib.clang_isCursorDefinition(tree.cursor[i]) and self._name(tree, i) in self._defined:
                self._after(tree, i, macros)
        if self._lib.clang_isCursorDefinition(tree.cursor[0]):
            self._defined.add(self._name(tree, 0))

    def elsewhere(self, others: Iterable[CXCursor], flags: Sequence[str]) -> Iterator[Unseen]:
        """Assembly, among the declarations that are no others; and what flags tell the linker."""
        for cursor in others:
            place = self._place(self._lib.clang_getCursorExtent(cursor).begin)
            if place is not None and self._printed(cursor).startswith("__asm"):
                yield Unseen(place, ASSEMBLY)
        main = self._sources.file(self._unit.inclusions()[0])
        yield from (Unseen(main.span(0, 0, False), FLAG, flag) for flag in links_otherwise(flags))

    def _attributes(self, tree: Tree, i: int, attributes: Sequence[int], macros: Macros) -> None:
        name, here = self._name(tree, i), self._lib.clang_getCursorLocation(tree.cursor[i]).raw
        printed = self._printed(tree.cursor[i])
        told = [next(filter(None, found)) for found in _PRINTED.findall(_STRING.sub('""', printed))]
        for symbol, k in ((text(self._lib.clang_getCursorSpelling(tree.cursor[k])), k) for k in attributes):
            if tree.kind[k] == _LABEL and name == f"{symbol}{GUARD}":
                return  # what a conversion leaves, for the linker
            at = self._place(tree.raw_begin[k])
            if tree.kind[k] == _LABEL and symbol != name and (place := at or self._place(here)) is not None:
                kind = LABEL if " asm(" in printed or at is None else RENAMED
                self.found.append(Unseen(place, kind, symbol, name))
        place = self._place(here)
        if place is not None and not here & MACRO_BIT and self._is_name(place, name):
            self._read.add(here)  # the parser knows such a function of the library
        new = [k for k in attributes if tree.kind[k] != _LABEL and tree.raw_begin[k] not in self._read]
        self._read.update(tree.raw_begin[k] for k in new)
        places = [at for at in (self._place(tree.raw_begin[k]) for k in new) if at is not None]
        place = places[0] if places else place
        if place is None:
            return
        inherited = (word for k in new for word in self._inherited(tree.raw_begin[k], macros))
        word = next((word for word in (*told, *inherited) if word in RUNNING), "") or _section(printed)
        if word or len(places) > len(told):
            unprinted = (self._word(at) for at in places)
            self.found.append(Unseen(place, word or next((w for w in unprinted if w in RUNNING), PRAGMA)))

    def _after(self, tree: Tree, i: int, macros: Macros) -> None:
        """A declaration after the definition: clang leaves its attributes away, other compilers do not."""
        file, at = self._sources.locate(tree.raw_begin[i])
        if file is None or file.system:
            return
        end = find_top(file.data, at, len(file.data), b";") or len(file.data)
        begin = max(file.data.rfind(sign, 0, at) for sign in (b";", b"{", b"}")) + 1
        made = (tree.raw_begin[i] | tree.raw_end[i]) & MACRO_BIT or macros.within(file.path, begin, end)
        if made or _NOT_PLAIN.search(file.data, begin, end):
            self.found.append(Unseen(file.span(at, at, False), UNKNOWN))

    def _name(self, tree: Tree, i: int) -> str:
        return text(self._lib.clang_getCursorSpelling(tree.cursor[i]))

    def _printed(self, cursor: CXCursor) -> str:
        policy = self._lib.clang_getCursorPrintingPolicy(cursor)
        for wanted in (_INITIALISERS, _TERSE):
            self._lib.clang_PrintingPolicy_setProperty(policy, wanted, 1)
        printed = text(self._lib.clang_getCursorPrettyPrinted(cursor, policy))
        self._lib.clang_PrintingPolicy_dispose(policy)
        return printed

    def _place(self, raw: int) -> Span | None:
        """Where it is written, in no header of the system."""
        file, at = self._sources.locate(raw)
        return file.span(at, at, False) if file is not None and not file.system else None

    def _is_name(self, place: Span, name: str) -> bool:
        """A declaration's own name stands at a place, and that is in no pragma."""
        data = self._data(place)
        line = data[data.rfind(b"\n", 0, place.begin) + 1 : place.begin]
        return data.startswith(os.fsencode(name), place.begin) and b"pragma" not in line

    def _word(self, place: Span) -> str:
        found = _WORD.match(self._data(place), place.begin)
        return found.group().decode().strip("_") if found is not None else ""

    def _inherited(self, raw: int, macros: Macros) -> Iterator[str]:
        """The words of an attribute that a header of the system gives to what is defined here: it is not printed."""
        file, at = self._sources.locate(raw)
        work = [_WORD.match(file.data, at)] if file is not None and file.system else []
        names = [found.group().decode("utf-8", "replace") for found in work if found is not None]
        seen: set[str] = set()
        while names:
            name = names.pop()
            if name not in seen:
                seen.add(name)
                yield name.strip("_")
                names += [word for one in macros.definitions(name) for word in one.body]

    def _data(self, place: Span) -> bytes:
        files: Iterable[File] = map(self._sources.file, self._unit.inclusions())
        return next(file.data for file in files if file.path == place.file)


def _section(printed: str) -> str:
    """The section in which a declaration lies, where what lies there runs, or more than a name is said of it."""
    for found in re.finditer(r'\bsection\("((?:[^"\\]|\\.)*)"\)', printed):
        runs = _SECTION.match(found[1])
        if runs is not None or not _PLAIN_SECTION.fullmatch(found[1]):
            return runs[1] if runs is not None else UNKNOWN
    return ""
