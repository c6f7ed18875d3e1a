"""What is done to a variable of static storage where the source names it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opi_xform.frontend.clang.libclang import CXCursor, Kind
from opi_xform.frontend.clang.tree import Tree
from opi_xform.frontend.clang.typemap import TypeMap

_TRANSPARENT = (Kind.PAREN_EXPR, Kind.UNEXPOSED_EXPR, Kind.MEMBER_REF_EXPR, Kind.ARRAY_SUBSCRIPT_EXPR)


class Contexts:
    """Of the nodes of one translation unit's trees."""

    def __init__(self, lib: Any, types: TypeMap) -> None:
        self._lib = lib
        self._types = types

    def of(self, tree: Tree, i: int, owners: dict[int, str]) -> tuple[str, bool, str]:
        """What is done to the variable at node ``i``: ``Use.what``, ``Use.alone``, ``Use.holder``."""
        alone = True
        child, p = i, tree.parent[i]
        while p >= 0:
            kind = tree.kind[p]
            if kind == Kind.UNARY_EXPR:
                if alone:
                    return "sizeof", True, ""
                break  # it may be the bound of an array, which is evaluated
            if kind == Kind.CSTYLE_CAST_EXPR and child != tree.kids[p][-1] and tree.kind[child] >= Kind.UNEXPOSED_EXPR:
                return "type", False, ""
            value = kind == Kind.UNEXPOSED_EXPR and not self._types.of(tree.cursor[child]).is_array
            alone = alone and kind in _TRANSPARENT and not value
            if kind == Kind.VAR_DECL:
                if p not in owners:
                    break
                cursor = tree.cursor[p]
                init = self._lib.clang_Cursor_getVarDeclInitializer(cursor).d1
                if not init or tree.cursor[child].d1 != init:
                    return "type", False, ""
                return "init", False, owners[p]
            child, p = p, tree.parent[p]
        return self._access(tree, i), False, ""

    def _access(self, tree: Tree, i: int) -> str:
        child, p = i, tree.parent[i]
        while p >= 0:
            kind = tree.kind[p]
            if kind in (Kind.PAREN_EXPR, Kind.MEMBER_REF_EXPR):
                pass
            elif kind == Kind.ARRAY_SUBSCRIPT_EXPR:
                pass  # reached through the decayed base: a subscript is a value, which was read below
            elif kind == Kind.UNEXPOSED_EXPR:
                if not self._types.of(tree.cursor[child]).is_array:
                    return "read"
                q = tree.parent[p]
                while q >= 0 and tree.kind[q] == Kind.PAREN_EXPR:
                    q = tree.parent[q]
                direct = q >= 0 and (
                    tree.kind[q] in (Kind.ARRAY_SUBSCRIPT_EXPR, Kind.MEMBER_REF_EXPR)
                    or (tree.kind[q] == Kind.UNARY_OPERATOR and self._operator(tree.cursor[q]) == "*")
                )
                if not direct:
                    return "address"
                child, p = q, tree.parent[q]
                continue
            elif kind == Kind.UNARY_OPERATOR:
                return "address" if self._operator(tree.cursor[p]) == "&" else "write"
            elif kind in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGN_OPERATOR):
                return "write"
            else:
                return "address"
            child, p = p, tree.parent[p]
        return "address"

    def _operator(self, cursor: CXCursor) -> str:
        return {5: "&", 6: "*"}.get(int(self._lib.clang_getCursorUnaryOperatorKind(cursor)), "")


def holder(tree: Tree, i: int, owners: dict[int, str]) -> str:
    """The variable of static storage whose initialiser node ``i`` is part of."""
    p = i
    while p >= 0:
        if tree.kind[p] == Kind.VAR_DECL:
            return owners.get(p, "")
        p = tree.parent[p]
    return ""


def below(tree: Tree, i: int) -> Iterator[int]:
    work = [i]
    while work:
        k = work.pop()
        yield k
        work.extend(tree.kids[k])


def is_callee(tree: Tree, i: int) -> bool:
    child, p = i, tree.parent[i]
    while p >= 0 and tree.kind[p] in (Kind.UNEXPOSED_EXPR, Kind.PAREN_EXPR):
        child, p = p, tree.parent[p]
    return p >= 0 and tree.kind[p] == Kind.CALL_EXPR and tree.kids[p][0] == child
