"""What objects hold, by version (``opi_xform.values.versions``): a floating number that is stored leaves integers."""

from __future__ import annotations

import pytest
from core_support import program

from opi_xform.ir import instr as ins
from opi_xform.memory.environment import Environment
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.values import Values
from opi_xform.values.evaluate import Evaluator
from opi_xform.values.versions import kind_of

TEXT = """
struct grid { int n; double x; } g;
int main(void) { g.n = 4; g.x = 1.5; return g.n; }
"""


@pytest.mark.parametrize(("kind", "same"), [("float", True), ("int", False)])
def test_a_store_of_a_floating_number_leaves_the_version_of_the_integers(kind: str, same: bool) -> None:
    at = program(TEXT).program
    values = Values(Symbols(), at.values.objects, Environment([0]))
    seen = Evaluator(at.variables, at.values.objects, at.points_to, values, {})
    stores = [node for node in at.graph.nodes if isinstance(node.action, ins.Store)]
    (store,) = [node for node in stores if isinstance(node.action, ins.Store) and node.action.type.kind == kind]
    assert isinstance(store.action, ins.Store)
    (o,) = at.points_to.accessed(store.frame, store.action.address)
    before = seen.version(o)
    seen.havoc(frozenset({o}), store, store.action.type)
    assert seen.version(o) != before
    assert (seen.of_whole(seen.version(o)) == before) is same


def test_kinds_tell_the_sign_of_integers_alone() -> None:
    found = program(TEXT).program
    types = {
        node.action.type.kind: node.action.type for node in found.graph.nodes if isinstance(node.action, ins.Store)
    }
    assert kind_of(types["int"]) == ("int", 4, True)
    assert kind_of(types["float"]) == ("float", 8, False)


def test_of_memory_that_others_write_no_version_is_kept() -> None:
    at = program(TEXT).program
    values = Values(Symbols(), at.values.objects, Environment([0]))
    seen = Evaluator(at.variables, at.values.objects, at.points_to, values, {})
    store = next(node for node in at.graph.nodes if isinstance(node.action, ins.Store))
    assert isinstance(store.action, ins.Store)
    (o,) = at.points_to.accessed(store.frame, store.action.address)
    at.values.objects.foreign.add(o)
    seen.havoc(frozenset({o}), store)
    assert not values.out.now
    assert seen.version(o) != seen.version(o)
