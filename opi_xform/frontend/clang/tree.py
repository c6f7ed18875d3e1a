"""A declaration's subtree as flat arrays, and the written place of each node.

libclang's visitor walks statements without recursion, so nesting costs no stack here either: nodes stand in pre-order,
a node's children all have larger numbers, and lowering simply runs through the arrays backwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from opi_xform.frontend.clang.libclang import BREAK, CURSOR_VISITOR, MACRO_BIT, RECURSE, CXCursor, Kind, TranslationUnit
from opi_xform.frontend.clang.source import File, Sources
from opi_xform.frontend.errors import FrontendError
from opi_xform.frontend.macros.expansions import Expansion, Macros
from opi_xform.ir.span import NOWHERE, Span


class Tree:
    """One top-level declaration.  Node 0 is the declaration; ``kids[i]`` are node numbers in order."""

    def __init__(self, unit: TranslationUnit, root: CXCursor) -> None:
        self.kind: list[int] = [root.kind]
        self.cursor: list[CXCursor] = [root]
        self.kids: list[list[int]] = [[]]
        self.parent: list[int] = [-1]
        kind, cursors, kids, parents = self.kind, self.cursor, self.kids, self.parent
        # Who is open: the address of each ancestor's statement or declaration, and its number.
        # (Of a declaration ``d1`` is a flag, 0 or 1.)
        addresses = [root.d0]
        numbers = [0]
        lost = False

        def visit(cursor: CXCursor, parent: CXCursor, _data: object) -> int:
            nonlocal lost
            address = parent.d1
            if address is None or address == 1:
                address = parent.d0
            while addresses[-1] != address:
                addresses.pop()
                numbers.pop()
                if not addresses:
                    lost = True
                    return BREAK
            at = numbers[-1]
            number = len(kind)
            kids[at].append(number)
            parents.append(at)
            kind.append(cursor.kind)
            cursors.append(cursor)
            kids.append([])
            address = cursor.d1
            addresses.append(cursor.d0 if address is None or address == 1 else address)
            numbers.append(number)
            return RECURSE

        unit.lib.clang_visitChildren(root, CURSOR_VISITOR(visit), None)
        if lost:
            raise FrontendError("libclang", 0, 0, "visited a syntax tree out of order")
        extent = unit.lib.clang_getCursorExtent
        ranges = [extent(c) for c in self.cursor]
        self.raw_begin: list[int] = [r.begin for r in ranges]
        self.raw_end: list[int] = [r.end for r in ranges]

    def __len__(self) -> int:
        return len(self.kind)

    def around(self, i: int) -> Iterator[int]:
        """The nodes that node ``i`` is in, from the inside out."""
        while (i := self.parent[i]) >= 0:
            yield i

    def below(self, i: int) -> Iterator[int]:
        """The nodes in node ``i``: those after it that have no parent before it."""
        for k in range(i + 1, len(self)):
            if self.parent[k] < i:
                break
            yield k

    def is_number_of_case(self, i: int) -> bool:
        """The node that clang puts around the number of a ``case``: of its kind, conversions aside.

        In a macro's body each node has the macro's place, so places alone would take any operator for such a node.
        What the case does comes last of it.
        """
        case, at = self.parent[i], i
        while self.kind[case] == Kind.UNEXPOSED_EXPR and len(self.kids[case]) == 1:
            case, at = self.parent[case], case
        number = self.kind[case] == Kind.CASE_STMT and self.kids[case][-1] != at
        return number and self.kind[i] == self.kind[self.kids[i][0]]

    def is_around(self, i: int, k: int) -> bool:
        """A node has the place of its child, which is an expression."""
        expression = Kind.UNEXPOSED_EXPR <= self.kind[k] <= Kind.LAST_EXPR
        return expression and self.raw_begin[k] == self.raw_begin[i] and self.raw_end[k] == self.raw_end[i]


def has_attributes(tree: Tree, i: int) -> bool:
    """Whether a declaration has attributes (alignment, a section, ...), whoever wrote them: a macro may have."""
    return any(Kind.FIRST_ATTRIBUTE <= tree.kind[k] <= Kind.LAST_ATTRIBUTE for k in tree.kids[i])


_WRAPPERS = (Kind.PAREN_EXPR, Kind.UNEXPOSED_EXPR)
_OPERAND = {0: re.compile(r"(?!(?:return|else|do|case|goto)$)[\w.\"'($]"), -1: re.compile(r"[\w.\"')\]$]|\+\+|--")}
"""The first and last tokens of an operand, which operators around it would not take for their own."""


class Places:
    """Written places of a tree's nodes: file, begin, end, and what macros did to them."""

    def __init__(self, tree: Tree, sources: Sources, macros: Macros) -> None:
        self._tree = tree
        self._macros = macros
        n = len(tree)
        self.file: list[File | None] = [None] * n
        self.begin = [0] * n
        self.end = [0] * n
        # Why a node cannot be edited: None, or the macro whose body makes it (wholly or in part).
        self.made_by: list[Expansion | None] = [None] * n
        locate = sources.locate
        files, begins, ends = self.file, self.begin, self.end
        # Nearly all nodes are plain text of one file: there a place is a subtraction.
        low, high, here = sources.range_of(tree.raw_begin[0])
        for i, (b, e) in enumerate(zip(reversed(tree.raw_begin), reversed(tree.raw_end), strict=True)):
            i = n - 1 - i
            if low <= b <= high and low <= e <= high:
                files[i], begins[i], ends[i] = here, b - low, e - low
                continue
            file, begin = locate(b)
            files[i] = file
            begins[i] = begin
            if not (b | e) & MACRO_BIT:
                ends[i] = locate(e)[1]
            elif file is not None:
                self._place_macro(i, file, begin, b, e, locate(e)[1])

    def _place_macro(self, i: int, file: File, begin: int, raw_begin: int, raw_end: int, end: int) -> None:
        macros = self._macros
        if not raw_begin & MACRO_BIT:
            # Begins in plain text, ends inside some macro's argument: the text goes on to that macro's end.
            for outer in macros.around(file.path, max(end - 1, 0)):
                if outer.begin >= begin:
                    end = max(end, outer.end)
            self.end[i] = end
            return
        body = macros.at(file.path, begin)
        around = macros.around(file.path, begin)
        if body is not None:
            self.made_by[i] = body
        if raw_end & MACRO_BIT:
            for outer in macros.around(file.path, max(end - 1, 0)):
                if outer.begin >= begin:
                    end = max(end, outer.end)
            if body is not None:
                end = max(end, body.end)
        else:
            # The last token comes from a macro body, or from plain text after one.  Inside another macro's argument
            # libclang answers with the outermost expansion's end; the last child knows better.
            shared = [self.end[k] for k in self._tree.kids[i] if self._tree.raw_end[k] == raw_end and self.end[k]]
            if shared:
                end = max(shared)
            elif body is not None and around and end >= around[-1].end:
                end = body.end
        self.end[i] = end
        for outer in around:
            if end > outer.end:
                # Begins with a macro's whole text and goes on after it.
                self.begin[i] = outer.begin
            elif end == outer.end or not macros.in_one_argument(file, outer, begin, end):
                self.begin[i], self.end[i] = outer.begin, outer.end
                self.made_by[i] = outer

    def whole(self, i: int) -> Expansion | None:
        """The object-like macro that node ``i`` is written as, when it is written as one and nothing else."""
        made = self.made_by[i]
        if made is None or not made.object_like or (self.begin[i], self.end[i]) != (made.begin, made.end):
            return None
        tree = self._tree
        top, alone = i, True
        while (parent := tree.parent[top]) >= 0:
            siblings = tree.kids[parent]
            for k in siblings:
                if k != top and self._beside(k, made) and self.file[k] is self.file[i]:
                    return None
            if alone and (self.begin[parent], self.end[parent]) == (made.begin, made.end):
                alone = self.made_by[parent] is made and tree.kind[parent] in _WRAPPERS and len(siblings) == 1
                if self.made_by[parent] is made and not alone and tree.kind[parent] < Kind.UNEXPOSED_STMT:
                    return None
            else:
                alone = False
            # Of `*SUM` with `a + 1` in the macro the star takes the `a`, and the rest is beside it further out.
            if self.made_by[parent] is None and self.begin[parent] < made.begin and self.end[parent] > made.end:
                break
            top = parent
        return made

    def _beside(self, k: int, made: Expansion) -> bool:
        """Whether node ``k`` shares written text with the expansion, other than by coming from a macro around it."""
        if self.begin[k] >= made.end or self.end[k] <= made.begin:
            return False
        if (self.begin[k], self.end[k]) == (made.begin, made.end) and self._macros.closed(made):
            return False  # the same text once more: an argument that is expanded twice
        maker = self.made_by[k]
        return maker is None or maker.begin >= made.begin or maker.end < made.end

    def editable(self, i: int) -> bool:
        """Whether the text at the node's place is the node and nothing else (see ``Span``)."""
        file = self.file[i]
        if file is None or file.system:
            return False
        begin, end = self.begin[i], self.end[i]
        if not all(self._whole_of(i, e, -1) for e in self._macros.ending(file.path, begin, end)):
            return False
        if not self._tree.raw_begin[i] & MACRO_BIT:
            return True
        made, first = self.made_by[i], self._macros.at(file.path, begin)
        for e in (first, made):  # begins with a macro: a renamed callee, `MAX(n, m) * 8`
            if e is not None and e.end < end and not ((e.object_like or self._value(i, e)) and self._whole_of(i, e, 0)):
                return False
        if made is not None and made.end >= end:
            if not made.object_like:
                return False
            if self.whole(i) is None or self._tree.kind[i] == Kind.CALL_EXPR or self._tree.kind[i] >= 200:
                return False
        around = self._macros.around(file.path, begin)
        return self._macros.argument_is_free(file, begin, end, around)

    def _value(self, i: int, made: Expansion) -> bool:
        """Node ``i`` is an expression and no call, and what the macro stands for is known."""
        kind = self._tree.kind[i]
        return made.definition is not None and kind != Kind.CALL_EXPR and kind < Kind.UNEXPOSED_STMT

    def _whole_of(self, i: int, made: Expansion, place: int) -> bool:
        """All of an expansion at one end of node ``i`` belongs to it; place: of its outermost token, 0 or -1."""
        body = made.definition.body if made.definition is not None else ()
        statement = self._tree.kind[i] >= Kind.UNEXPOSED_STMT
        if body and not (_balanced(body) and (statement or _OPERAND[place].match(body[place]))):
            return False
        top, tree = i, self._tree
        while (parent := tree.parent[top]) >= 0:
            for k in tree.kids[parent]:
                if k != top and self.file[k] is self.file[i] and self.begin[k] < made.end and self.end[k] > made.begin:
                    return False
            if self.begin[parent] < made.begin and self.end[parent] > made.end:
                return True
            top = parent
        return True

    def span(self, i: int, end: int | None = None) -> Span:
        file = self.file[i]
        if file is None:
            return NOWHERE
        begin, last = self.begin[i], self.end[i] if end is None else end
        made = self.made_by[i]
        # A node that only begins with a macro (``N * 2``) is not that macro's work.
        macro = made.name if made is not None and self.end[i] <= made.end else None
        return file.span(begin, last, self.editable(i), macro)


def _balanced(body: Sequence[str]) -> bool:
    depth = 0
    for token in body:
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if depth < 0:
            return False
    return depth == 0
