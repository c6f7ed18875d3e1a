"""The same member of several structs after the same words: ``h->out`` of ``halo_init(&a)`` and of ``halo_init(&b)``.

Each struct's pointer is one place in memory that only its own loads and stores reach; but the text that names it names
another struct's pointer in another copy of the function, so they convert together or not at all.  They become the rows
of one array of pointers, a row per struct, which is then looked at as always (``memory/families``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opi_xform.graph.graph import Graph
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.ownership.model.buffers import Member, Twin
from opi_xform.ownership.model.lvalues import POINTER_BYTES, Expressions, place

MOST = 64  # structs that may share their code

Found = tuple[Member, Type]


def classes(groups: Sequence[frozenset[int]], count: int) -> list[list[int]]:
    """The numbers below ``count``, with all that some group holds together put into one class; -1 is left out."""
    parent = list(range(count))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for group in groups:
        members = sorted(i for i in group if i >= 0)
        for i in members[1:]:
            a, b = sorted((root(members[0]), root(i)))
            parent[b] = a
    out: dict[int, list[int]] = {}
    for i in range(count):
        out.setdefault(root(i), []).append(i)
    return list(out.values())


def table_of(
    found: Sequence[Found], graph: Graph, written: Expressions
) -> tuple[Member, Type, dict[int, ins.Operand]] | None:
    """(the array whose rows are the members, its type, the new addresses of its loads and stores).

    None when the members are too many, or of several types.
    """
    type_ = found[0][1]
    if not 2 <= len(found) <= MOST or not all(alike(type_, other) for _, other in found):
        return None
    members = sorted((m for m, _ in found), key=lambda m: (str(m.object), m.offset, m.key))
    first = members[0]
    exprs = {(function, *place(e)): (function, e) for m in members for function, e in m.exprs}
    member = replace(
        first,
        key=f"{first.key}&{len(members)}",
        nodes=tuple(sorted(n for m in members for n in m.nodes)),
        exprs=tuple(exprs[key] for key in sorted(exprs)),
        spans=frozenset().union(*(m.spans for m in members)),
        start=-1,
        ends=tuple(sorted({n for m in members for n in m.ends})),
        raw=any(m.raw for m in members),
        count=len(members),
        named=tuple(key for m in members for key in m.named),
        cast=first.cast if len({m.cast for m in members}) == 1 else "",
        twins=tuple(Twin(m.object, m.offset, m.nodes, m.start, m.ends) for m in members),
    )
    size = member.count * POINTER_BYTES
    addresses: dict[int, ins.Operand] = {}
    for row, twin in enumerate(member.twins):
        for n in twin.nodes:
            action = graph.nodes[n].action
            assert isinstance(action, (ins.Load, ins.Store))
            e = written.of(graph.frames[graph.nodes[n].frame].function, action)
            array = ins.AddrVar(member.key, action.span if e is None else e.span)
            addresses[n] = ins.PtrAdd(array, ins.Const(row), POINTER_BYTES, size)
    return member, Type("array", f"{type_.spelling}[]", size, elem=type_, count=member.count), addresses


def alike(a: Type, b: Type) -> bool:
    """Pointers to the same."""
    x, y = a.elem, b.elem
    if x is None or y is None:
        return x is y
    return (x.kind, x.size, x.signed, x.record) == (y.kind, y.size, y.signed, y.record)


def to_data(a: Type) -> bool:
    """A pointer to numbers or structs, or to no type."""
    return a.is_pointer and a.elem is not None and a.elem.kind in ("int", "float", "record", "void")


def as_void(a: Type) -> bool:
    """A pointer to no type."""
    return a.is_pointer and a.elem is not None and a.elem.kind == "void"
