"""Where a buffer's memory comes from: what each condition of ``conditions/memory`` keeps and lets pass."""

from __future__ import annotations

import pytest
from conditions_support import FILL, SEND, buffer_facts, main, reason, site

from opi_xform.ownership.conditions.memory import allocators, jumps, levels
from opi_xform.ownership.deciding.condition import Condition

HEAP = "static double *b; static int depth; void *alloca(size_t);"
JUMP = "typedef long jmp_buf[32]; void longjmp(jmp_buf, int); static jmp_buf back;"
LEAVES = "static void leave(int turn) {{ if (turn > 1) {}; }}"
OWN_ARRAY = f"static void give(int turn) {{ double b[1000]; {FILL} leave(turn); {SEND} }}"


@pytest.mark.parametrize(
    ("condition", "stays", "passes", "why"),
    [
        (
            allocators.CONDITION,
            main(f"b = alloca(8000); {FILL} {SEND}", HEAP),
            main(f"b = malloc(8000); {FILL} {SEND}", HEAP),
            "DECLARATION",
        ),
        (
            jumps.CONDITION,
            main("give(argc);", f"{JUMP}\n{LEAVES.format('longjmp(back, 1)')}\n{OWN_ARRAY}"),
            main("give(argc);", f"{JUMP}\n{LEAVES.format('back[0] = 1')}\n{OWN_ARRAY}"),
            "DECLARATION",
        ),
    ],
)
def test_a_buffer(condition: Condition, stays: str, passes: str, why: str) -> None:
    assert condition.buffer is not None
    assert reason(condition.buffer(buffer_facts(stays))) == why
    assert condition.buffer(buffer_facts(passes)) is None


@pytest.mark.parametrize(("again", "stays"), [("give(turn - 1);", True), ("depth++;", False)])
def test_a_function_that_calls_itself(again: str, stays: bool) -> None:
    """The buffer is the program's: what is known of it at the first level need not hold at the others."""
    one = f"static double b[1000]; static int depth;\nstatic void give(int turn) {{ {FILL} {SEND} if (turn) {again} }}"
    assert levels.CONDITION.site is not None
    assert reason(levels.CONDITION.site(site(main("give(argc);", one)))) == ("ENTERED_AGAIN" if stays else "")
