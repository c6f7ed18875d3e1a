"""Text whose edits would take a directive along is not edited: what follows may mean something else without it."""

from __future__ import annotations

import pytest

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import ReplaceText
from opi_xform.rewrite.apply import obstacle
from opi_xform.text.sources import Sources

LOST = "a directive in the text that it replaces would be lost"


@pytest.mark.parametrize(
    ("replaced", "new", "why"),
    [
        ("free(\n#define N 2\n    p);", "OPI_Free(&p);", LOST),
        ("free(\n#undef N\n    p);", "", LOST),
        ('free(\n  # include "b.h"\n    p);', "", LOST),
        ("free(\n#pragma pack(1)\n    p);", "", LOST),
        ("free(\n%:define N 2\n    p);", "", LOST),
        ("free(\n#define N 2\n    p);", "OPI_Free(\n#define N 2\n    &p);", ""),  # it goes along
        ('free(p); /* #define N 2 */ puts("# define");', "OPI_Free(&p);", ""),
    ],
)
def test_a_directive_in_replaced_text(replaced: str, new: str, why: str) -> None:
    before = "void f(void)\n{\n    "
    source = f"{before}{replaced}\n}}\n".encode()
    span = Span("/p/a.c", len(before), len(before) + len(replaced), 3, 5)
    assert obstacle(ReplaceText(span, new), Sources(lambda name: source)) == why
