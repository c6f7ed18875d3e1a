"""Whether words of a message may be evaluated before statements that stand before it."""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.divide.passages.early import stands_early
from opi_xform.ir import ast

TOP = """struct box { int at, n; double *data; struct box *next; };
static struct box all, *first = &all, boxes[4];
static int table[4], which, count = 1;
extern void *memcpy(void *, const void *, unsigned long);
extern void other(void);
extern void qsort(void *, unsigned long, unsigned long, int (*)(const void *, const void *));
static int less(const void *a, const void *b) { return *(const double *)a < *(const double *)b; }
static void fix(struct box **p) { *p = &all; }
static double u[64], v[64];
"""


@pytest.mark.parametrize(
    ("words", "between", "early"),
    [
        ("5", "b = &all;", True),  # it goes by nothing
        ("k", "k = 3;", True),  # that the value is the same is another question
        ("b->n", "u[k] = v[k]; other();", True),  # a parameter whose address nobody has
        ("b->n", "if (!b) b = &all;", False),
        ("c->n", "u[k] = 1;", True),
        ("c->n", "fix(&c);", False),
        ("c->n", "other();", False),  # its address is taken: somebody may have it
        ("d->n", "other();", False),
        ("k", "int z = which;", True),
        ("b->n", "int z = (b = &all, 0); k = z;", False),
        ("first->n", "u[k] = v[k]; k++; memcpy(u, v, 64);", True),
        ("first->n", "first = b;", False),
        ("b->n", "k = ({ b = &all; 3; });", False),  # not understood
        ("first->n", "qsort(u, 64, 8, less);", False),
        ("first->n", "other();", False),
        ("first->next->n", "all.next = b;", False),
        ("first->next->n", "all = boxes[1];", False),
        ("first->next->n", "memcpy(boxes, &all, sizeof all);", False),
        ("first->next->n", "b = first;", True),
        ("boxes[2].n", "other();", True),
        ("*table", "other();", True),  # an array is always there
        ("table[which]", "u[k] = 2; k++;", True),
        ("table[which]", "which = 0;", False),
        ("table[2 * k + 1]", "other();", True),
        ("table[2 * k + 1]", "if (k < 4) k = 0;", False),
        ("k / count", "u[k] = 2;", True),
        ("k / count", "if (!count) count = 1;", False),
        ("k % 3", "k = 4; other();", True),
        ("which ? b->n : 0", "which = b != 0;", False),
        ("which ? k : 0", "which = b != 0;", True),
        ("table[1] ? b->n : 0", "table[k] = b != 0;", False),
        ("table[1] ? b->n : 0", "u[k] = 1;", True),
        ("boxes[1].at ? b->n : 0", "boxes[1].at = b != 0;", False),
        ("mine.at ? b->n : 0", "mine.at = b != 0;", False),
        ("which && b->n", "which = b != 0;", False),
        ("b ? b->n : 0", "u[k] = 1;", True),
    ],
)
def test_words_before_statements(words: str, between: str, early: bool) -> None:
    found = source(
        f"{TOP}void send(struct box *b, int k)\n{{\n"
        "struct box *c = b, *d = b, **h = &d;\nstruct box mine = {1};\nfix(&c);\n"
        f"{{ {between} }}\nk = {words};\n}}\n"
        "int main(int argc, char **argv) { send(&all, argc); return 0; }\n"
    ).program
    (body,) = (f for f in found.functions.values() if f.name == "send")
    assert isinstance(body.body, ast.Block)
    *_, statements, last = body.body.body
    assert isinstance(last, ast.ExprStmt)
    assert isinstance(last.expr, ast.Assign)
    assert stands_early(found, body, last.expr.value, [statements]) is early
