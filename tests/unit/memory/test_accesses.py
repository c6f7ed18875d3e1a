"""Accesses to many objects: one record, which is told of each object when it is asked for."""

from __future__ import annotations

from opi_xform.memory.accesses import Access, Accesses, Spread
from opi_xform.memory.poly import number

MANY = frozenset({3, 5, 9})


def accesses() -> Accesses:
    """Node 7 reads one of many objects and writes 5; node 2, which runs after it, writes one of many."""
    out = Accesses()
    out.add(Spread(7, out.group(MANY), "R"))
    out.add(Access(7, 5, "W", number(8), number(4), True))
    out.add(Spread(2, out.group(frozenset({9, 5, 3})), "W", "memset"))
    return out


def test_equal_sets_are_one() -> None:
    found = accesses()
    spread = [r for records in found.records.values() for r in records if isinstance(r, Spread)]
    assert [r.group.order for r in spread] == [(3, 5, 9), (3, 5, 9)]
    assert spread[0].group is spread[1].group


def test_a_node_touches_each_object() -> None:
    found = accesses()
    assert [(a.object, a.kind) for a in found.at(7)] == [(3, "R"), (5, "R"), (9, "R"), (5, "W")]
    assert [(a.kind, a.lo) for a in found.at_object(7, 5)] == [("R", None), ("W", number(8))]
    assert list(found.objects(7, "W")) == [5]
    assert found.placed(7) == found.at_object(7, 5)[1:] == list(found.single())
    assert not list(found.at(1))


def test_what_is_touched() -> None:
    found = accesses()
    assert found.touches(7, {9})
    assert not found.touches(7, {9}, "W")
    assert found.touches(2, (9, 100), "W")
    assert not found.touches(2, (100,))
    assert found.touches_other(7, 5)
    alone = Accesses()
    alone.add(Access(1, 5, "R", None, None, False))
    assert not alone.touches_other(1, 5)


def test_an_object_is_touched_in_the_order_of_the_pass() -> None:
    found = accesses()
    assert found.nodes(5) == [7, 2]
    assert list(found.of(3)) == [7, 2]
    assert [(a.node, a.why) for a in found.written(5)] == [(2, "memset"), (7, "")]
    assert found.any(9)
    assert not found.any(100)
    found.add(Access(11, 100, "R", None, None, False))
    assert found.any(100)
    assert found.nodes(100) == [11]


def test_of_accesses_anywhere_one_stands_for_all() -> None:
    found = accesses()
    found.add(Spread(12, found.group(MANY), "R"))
    assert [(a.node, a.lo) for a in found.alike(5)] == [(7, number(8)), (7, None)]
    assert [a.node for a in found.alike(3)] == [7]


def test_the_nodes_of_several_objects_are_those_of_each() -> None:
    found = accesses()
    found.add(Access(4, 3, "W", number(0), number(4), True))
    for objects in ([3], [5, 9], [3, 5, 9], [100], []):
        assert found.touching(objects) == {n for o in objects for n in found.nodes(o)}
