"""Where a store goes that has a known place, and what functions do that are told as a whole."""

from __future__ import annotations

import pytest
from core_support import Found, called_in, lowered, program

from opi_xform.calls.stored import Stored, begins_as_null, fixed_length
from opi_xform.calls.summarised import Summarised
from opi_xform.effects.table import load_effects
from opi_xform.ir import instr as ins

EFFECTS = load_effects()
HEAD = "static int t[8], s[8]; static int *p, *q = s; static struct { int a, b; } r;\n"


def places(body: str) -> set[tuple[str, int]] | None:
    """What the address of the store of 77 may be."""
    found: Found = program(f"{HEAD}int main(int n, char **v) {{ {body} return t[0] + s[0] + *q; }}")
    stored = Stored(found.calls(), (), True)
    (store,) = [
        n for n in found.nodes(ins.Store) if isinstance(n.action, ins.Store) and n.action.value == ins.Const(77)
    ]
    assert isinstance(store.action, ins.Store)
    at = stored.places(store.frame, store.action.address)
    table = found.program.values.objects.table
    return (
        None if at is None else {(table[o].name if table[o].kind == "variable" else "heap", offset) for o, offset in at}
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("t[2] = 77;", {("t", 8)}),
        ("t[n] = 77;", None),
        ("p = t + 1; p[2] = 77;", {("t", 12)}),
        ("p = n > 1 ? t : s + 1; p[0] = 77;", {("t", 0), ("s", 4)}),
        ("q = t; q[1] = 77;", None),  # it begins as something else than NULL
        ("p = malloc(8); p[1] = 77;", {("heap", 4)}),
        ("p = t; p++; p[0] = 77;", None),  # it moves by itself
        ("p = t; int **pp = &p; (*pp)[1] = 77;", None),  # loaded: who set that is not asked
        ("p = (int *)(char *)t; p[3] = 77;", {("t", 12)}),
    ],
)
def test_where_a_store_goes(body: str, expected: set[tuple[str, int]] | None) -> None:
    assert places(body) == expected


def test_arguments_are_followed_into_a_function() -> None:
    found = program(
        f"{HEAD}static void put(int *to) {{ to[1] = 77; }} int main(void) {{ put(t); put(s + 2); return t[0]; }}"
    )
    stored = Stored(found.calls(), (), True)
    stores = [n for n in found.nodes(ins.Store) if isinstance(n.action, ins.Store)]
    at = [stored.places(n.frame, n.action.address) for n in stores if isinstance(n.action, ins.Store)]
    assert at == [frozenset({(found.object("t"), 4)}), frozenset({(found.object("s"), 12)})]


def test_what_variables_begin_as() -> None:
    found = program(
        HEAD
        + "extern int *elsewhere; int *tentative; int main(void) { return p + q + elsewhere + tentative; }".replace(
            "p + q + elsewhere + tentative", "p == q && elsewhere == tentative"
        )
    )
    begins = {v.name: begins_as_null(v) for v in found.program.variables.values() if v.type.is_pointer}
    assert {name: begins[name] for name in ("p", "q", "elsewhere", "tentative")} == {
        "p": True,
        "q": False,
        "elsewhere": False,
        "tentative": True,
    }


@pytest.mark.parametrize(
    ("call", "length"),
    [
        ("memcpy(a, b, 24)", 24),
        ("memcpy(a, b, n)", None),
        ("MPI_Recv(a, 3, MPI_DOUBLE, 0, 0, 0, 0)", 24),
        ("MPI_Recv(a, n, MPI_DOUBLE, 0, 0, 0, 0)", None),
        ("MPI_Comm_rank(0, c)", 4),
    ],
)
def test_bytes_that_are_the_same_at_each_call(call: str, length: int | None) -> None:
    (found,) = called_in(lowered(f"void f(double *a, double *b, int *c, int n) {{ {call}; }}"))
    assert isinstance(found.callee, ins.AddrFunc)
    effect = EFFECTS[found.callee.key]
    region = effect.all_writes[0]
    assert fixed_length(region, region.arg, found) == length


def test_without_summaries_nothing_is_told_as_a_whole() -> None:
    found = program(f"{HEAD}static void put(void) {{ t[0] = 1; }} int main(void) {{ put(); return t[0]; }}")
    assert Summarised(found.calls()).anything == frozenset()
