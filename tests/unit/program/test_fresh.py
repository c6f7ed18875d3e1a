"""Functions that only hand out memory that they have just allocated."""

from __future__ import annotations

import pytest
from core_support import unit

from opi_xform.effects.table import load_effects
from opi_xform.ir.lowering.statements import lower
from opi_xform.program.fresh import fresh

HEAD = """
void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); void free(void *); void exit(int);
int printf(const char *, ...); void *memset(void *, int, unsigned long);
static int count; static void *kept, *list[8]; static char spare[64];
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return malloc(n);", True),
        ('void *p = malloc(n); if (!p) { printf("none\\n"); exit(1); } return p;', True),
        ("void *p; p = (char *)calloc(n, 1); count++; if (p == 0) return 0; return p;", True),
        ("char *p = malloc(n), *q = p; return q;", True),
        ("void *p = malloc(n); kept = p; return p;", False),
        ("void *p = malloc(n); list[count++] = p; return p;", False),
        ("void *p = kept ? kept : malloc(n); return p;", False),
        ("if (n < 64) return spare; return malloc(n);", False),
        ("long *p = malloc(n + 8); p[0] = n; return p + 1;", False),
        ("void *p = malloc(n); void **q = &p; *q = kept; return p;", False),
        ("void *p = malloc(n); count = (int)(unsigned long)p; return p;", False),
        ("void *p = malloc(n), *q = malloc(n); free(q); return p;", False),
    ],
)
def test_what_hands_out_fresh_memory(body: str, expected: bool) -> None:
    found = unit(HEAD + f"void *get(unsigned long n) {{ {body} }}\nint main(void) {{ return get(8) != 0; }}\n")
    lowered = lower(found.functions["get"], found.globals)
    assert (fresh(lowered, load_effects()) is not None) is expected
