"""Memory that a function of the program hands out: where it comes from, and what may change what that does later."""

from __future__ import annotations

import pytest
from ownership_support import Source, source

from opi_xform.divide.named.handed import origin, origins, other_later
from opi_xform.ir import instr as ins

TOP = "static int room = 80, calls; void other(void); void abort(void);\n"
CHECKS = "if (room < 0) abort(); return malloc(k);"


def program(function: str, between: str = "") -> Source:
    return source(
        f"{TOP}static double *get(int k) {{ {function} }}\n"
        f"int main(int argc, char **argv)\n{{\ndouble *b = get(80);\n{between}\nb[0] = 1;\nfree(b);\nreturn 0;\n}}\n"
    )


def the_heap(found: Source) -> int:
    (o,) = [o.number for o in found.program.values.objects.table if o.kind == "heap"]
    return o


@pytest.mark.parametrize(
    ("function", "handed", "reads"),
    [
        ("return malloc(k);", True, set()),
        (CHECKS, True, {"room"}),
        ("return malloc(room);", False, set()),  # not as much as its argument says
        ("double *p = malloc(k); calls++; return p;", False, set()),  # it does something else
    ],
)
def test_where_memory_comes_from(function: str, handed: bool, reads: set[str]) -> None:
    found = program(function)
    o = the_heap(found)
    told = origin(found.program, o)
    malloc = found.program.values.objects.table[o].node
    assert (told.call != malloc) is handed
    assert bool(told.frames) is handed
    if handed:
        assert told.reads is not None
        assert {found.program.variables[key].name for key in told.reads} == reads
    assert origins(found.program)[o] == told


@pytest.mark.parametrize(
    ("function", "between", "changes"),
    [
        ("return malloc(k);", "room = 3;", False),
        (CHECKS, "room = 3;", True),
        (CHECKS, "calls = 3;", False),
        (CHECKS, "other();", True),
    ],
)
def test_what_may_change_what_it_does_the_next_time(function: str, between: str, changes: bool) -> None:
    found = program(function, between)
    (free,) = [
        n.number
        for n in found.program.graph.nodes
        if isinstance(n.action, ins.CallInstr) and n.action.callee == ins.AddrFunc("free")
    ]
    assert (other_later(found.program, the_heap(found), free) is not None) is changes
