"""What is constant in a loop: numbers that a program may put into a buffer as marks."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.ir import instr as ins
from opi_xform.ownership.liveness.constants import Constants

TOP = """
struct item { int id; double x; };
static double b[N], v[N], blank[N], data[N];
static struct item s[N];
static const struct item none = { -1, 0 };
static double set_once = -1, set_often, outside;
double nan(const char *), sqrt(double);
void *memcpy(void *, const void *, size_t);
int scanf(const char *, ...);
static double given(double x) { return x; }
static void put(double *to, double x) { to[9] = x; }
"""


@pytest.mark.parametrize(
    ("statement", "constant"),
    [
        ("b[9] = -1;", True),
        ("b[9] = -1.0 * 5 + 2;", True),
        ("b[9] = t > 3 ? -1 : -2;", True),
        ("b[9] = __builtin_inf();", True),
        ('b[9] = nan("");', True),
        ("b[9] = sqrt(2.0);", False),  # a function that computes
        ("b[9] = t;", False),  # a counter is made of itself
        ("int q = 4; b[9] = q;", True),
        ("int q = 4; q += t; b[9] = q;", False),
        ("b[9] = set_once;", True),
        ("set_often = data[t]; b[9] = set_often;", True),  # what lies in memory before the loop
        ("set_often = t; b[9] = set_often;", False),
        ("b[9] = before;", True),  # the same in all turns
        ("b[9] = given(-3);", True),
        ("b[9] = given(data[t]);", True),
        ("data[t] = t; b[9] = given(data[3]);", False),
        ("put(b, -1); put(v, 0);", True),
        ("put(b, data[t]);", True),
        ("b[9] = outside;", True),
        ('scanf("%lf", &outside); b[9] = outside;', False),  # set through its address
        ("b[9] = argc;", True),
        ("b[9] = blank[t];", True),
        ("b[9] = data[t];", True),
        ("data[t] = 2 * t; b[9] = data[t];", False),
        ("memcpy(b, blank, sizeof b);", True),
        ("memcpy(b, data, sizeof b);", True),
        ('scanf("%lf", &data[t]); memcpy(b, data, sizeof b);', False),
        ("s[9] = none;", True),
        ("s[9] = (struct item){ -1, 0 };", True),
        ("s[9] = (struct item){ t, 0 };", False),
        ("s[9] = s[t];", False),
    ],
)
def test_constants_in_a_loop(statement: str, constant: bool) -> None:
    found = source(
        f"""{TOP}
int main(int argc, char **argv)
{{
    double before = 3 * argc;
    scanf("%lf", &outside);
    for (int i = 0; i < N; i++) {{
        blank[i] = -1;
        scanf("%lf", &data[i]);
        s[i].id = (int)data[i];
    }}
    for (int t = 0; t < 9; t++) {{
        {statement}
    }}
    MPI_Send(b, N, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
    return b[0] + v[1] + s[2].id;
}}
"""
    )
    program, wanted = found.program, "s" if statement.startswith("s[") else "b"
    table, accesses = program.values.objects.table, program.values.accesses
    turns = max(program.nest.loops, key=lambda loop: loop.header).number  # the one that comes last
    (node,) = (
        n
        for n in program.graph.nodes
        if turns in program.nest.chain(n.block)
        and any((table[o].variable or "").endswith(f":{wanted}") for o in accesses.objects(n.number, "W"))
    )
    assert isinstance(node.action, (ins.Store, ins.CopyBytes, ins.CallInstr))
    assert Constants(program, frozenset({turns})).written(node) is constant
