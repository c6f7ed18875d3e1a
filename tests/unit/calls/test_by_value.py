"""Which numbers of structs that are variables are read."""

from opi_xform.calls.by_value import numbers_read
from tests.core_support import program

TEXT = """
struct grid { double x; int n, m; char c; };
struct run { int steps; struct grid grid; };
static int inner(struct grid g) { return g.m; }
static int outer(struct grid g) { return g.n + inner(g); }
int main(void) {
    struct run r = { 1, { 1, 2, 3 } };
    struct grid other = { 1, 2, 3 };
    struct grid *p = &other;
    return outer(r.grid) + p->n + r.steps;
}
"""


def test_what_copies_of_copies_read() -> None:
    found = program(TEXT).program
    objects = found.values.objects
    read = numbers_read(found.graph, objects)
    named: dict[str, set[int]] = {}
    for o, numbers in read.items():
        named.setdefault(objects.table[o].name, set()).update(numbers)
    assert named["r"] >= {0, 16, 20}
    assert named["g"] == {8, 12}
    assert "other" not in named
