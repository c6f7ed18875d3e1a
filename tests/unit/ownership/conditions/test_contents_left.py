"""What a buffer holds, where it is hard to say: sets that take too long, memory that comes late, receives that keep."""

from __future__ import annotations

import pytest
from conditions_support import FILL, RECV, SEND, buffer_facts, main, placed, reason, site

from opi_xform.ownership.conditions.contents import budget, replacing, unwritten
from opi_xform.ownership.model.buffers import Options
from opi_xform.regions import sets

TOP = "static double b[2000], s;"


@pytest.mark.parametrize(("operations", "why"), [(sets.OPERATIONS, ""), (1000, "BUDGET")])
def test_regions_that_take_too_long(monkeypatch: pytest.MonkeyPatch, operations: int, why: str) -> None:
    monkeypatch.setattr(sets, "OPERATIONS", operations)
    facts = buffer_facts(main(f"{FILL} {SEND}", TOP))
    assert budget.CONDITION.buffer is not None
    assert reason(budget.CONDITION.buffer(facts)) == why


@pytest.mark.parametrize(("other", "why"), [("s += b[3];", "UNPAIRED"), ("b[3] = 1; s += b[3];", "")])
def test_memory_that_comes_late_is_read(other: str, why: str) -> None:
    """Nothing may be there in the turn that has no message: OPI_Alloc brings memory, and what it holds is read."""
    turn = f"if (turn != argc) {RECV} else {{ {other} }}"
    body = f"double *b = malloc(8000); for (int turn = 0; turn < 9; turn++) {{ {turn} }} free(b);"
    at = placed(main(body, "static double s;"))
    assert at.placement.guarded
    assert unwritten.CONDITION.placed is not None
    assert reason(unwritten.CONDITION.placed(at)) == why


EARLY = """
MPI_Request q;
MPI_Irecv(b, 1000, MPI_DOUBLE, argc > 1 ? 1 : -1, 7, MPI_COMM_WORLD, &q);
%s
MPI_Wait(&q, MPI_STATUS_IGNORE);
s = b[0]; return s > 1;
"""
SET = "if (argc == 1) b[0] = 7;"


@pytest.mark.parametrize(("meanwhile", "strict", "why"), [(SET, False, ""), (SET, True, "PENDING"), ("", True, "")])
def test_a_receive_that_would_keep_what_is_there(meanwhile: str, strict: bool, why: str) -> None:
    """From nobody, what is set before the wait stays: OPI_Itake_replace sees to that, --strict does without."""
    at = site(main(EARLY % meanwhile, TOP), options=Options(strict=strict))
    assert (at.place in at.buffer.replacing) == bool(meanwhile)
    assert replacing.CONDITION.site is not None
    assert reason(replacing.CONDITION.site(at)) == why
