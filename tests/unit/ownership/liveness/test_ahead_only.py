"""What is judged where the regions of the whole program take too long: messages alone, with what they lead to."""

from __future__ import annotations

import pytest
from conditions_support import only_buffer
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ownership.liveness import liveness
from opi_xform.ownership.liveness.findings import Finding, Judged
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Options, Program
from opi_xform.regions.sets import FEWER, OPERATIONS, ROUGHLY, BudgetExceeded

TEXT = """
static double v[N];
int main(int argc, char **argv)
{{
    double *b = malloc(N * sizeof(double));
{body}
    free(b);
    return 0;
}}
"""
SEND = "MPI_Send(b, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
INSIDE = "MPI_Send(b + 20, 10, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"
HARD = "for (int i = 0; i < N; i++) b[i] = i; for (int i = 0; i < N; i++) v[1] += b[i];"
PACK = "for (int i = 0; i < 10; i++) b[i] = i;"


def judged(body: str, monkeypatch: pytest.MonkeyPatch, text: str = TEXT) -> Judge:
    """A buffer's judge, for which the whole program is too much."""
    monkeypatch.undo()
    whole = Judge.judged

    def limited(judge: Judge, assumed: frozenset[str]) -> Judged:
        if not judge.ahead_only:
            raise BudgetExceeded("the whole program")
        return whole(judge, assumed)

    monkeypatch.setattr(Judge, "judged", limited)
    facts = only_buffer(source(text.format(body=body)), Options())
    (judge,) = facts.liveness.judges.values()
    return judge


def findings(judge: Judge) -> list[Finding]:
    return [judge.findings[key] for key in sorted(judge.findings)]


def test_what_comes_before_a_message_is_left_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = judged(f"{HARD} {SEND}", monkeypatch)
    assert not judge.exceeded
    assert [found.ok for found in findings(judge)] == [True]
    assert judge.unwritten  # of first contents nothing is known
    assert not judge.initial


def test_the_message_of_another_start_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = judged(f"{HARD} {INSIDE} {SEND}", monkeypatch)
    assert not judge.exceeded
    assert [(found.ok, found.reason) for found in findings(judge)] == [(False, Reason.BUDGET), (True, None)]


@pytest.mark.parametrize(
    "body",
    [
        f"{HARD} {SEND} v[0] = b[20];",
        f"{HARD} for (int t = 0; t < 3; t++) {{ v[0] += b[20]; {PACK} {SEND} }}",  # in the next turn
        f"{HARD} for (int t = 0; t < 3; t++) {{ {PACK} {SEND} {INSIDE} }}",  # by another message
    ],
)
def test_what_is_read_later_counts(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = findings(judged(body, monkeypatch))
    assert Reason.READ_LATER in {one.reason for one in found}
    assert not any(one.ok for one in found)


def test_without_a_message_of_the_start_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(f"{HARD} {INSIDE}", monkeypatch).exceeded


def test_zeros_of_the_start_count_as_read(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = TEXT.replace("malloc(N * sizeof(double))", "calloc(N, sizeof(double))")
    assert judged(f"{PACK} {SEND}", monkeypatch, zeros).zeros
    static = TEXT.replace("static double v[N];", "static double v[N], b[N];").replace("double *b =", "double *c =")
    assert judged(f"{PACK} {SEND}", monkeypatch, static.replace("free(b)", "free(c)")).exceeded


def buffer_of(body: str) -> tuple[Program, Buffer]:
    found = source(TEXT.format(body=body))
    (buffer,) = [one for one in found.buffers.values() if one.uses]
    return found.program, buffer


@pytest.mark.parametrize(
    ("body", "told_only", "attempts"),
    [(f"{HARD} {SEND}", False, 3), (SEND, False, 2), (f"{HARD} {SEND}", True, 1)],  # exact, rough, with less of it
)
def test_what_takes_too_long_is_given_up(
    body: str, told_only: bool, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def hard(judge: Judge, assumed: frozenset[str]) -> Judged:
        tried.append(1)
        raise BudgetExceeded("the whole program")

    monkeypatch.setattr(Judge, "judged", hard)
    program, buffer = buffer_of(body)
    judge = Judge(program, buffer, buffer.objects[0], False, frozenset(), told_only)
    assert judge.exceeded
    assert len(tried) == attempts
    assert judge.regions.operations == (FEWER if told_only else OPERATIONS)


@pytest.mark.parametrize("enough", [OPERATIONS, OPERATIONS + 1])
def test_exact_sets_are_gone_on_with_where_rough_ones_get_to_an_end(
    enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """enough: operations that exact sets take."""
    tried: list[tuple[bool, int]] = []
    whole = Judge.judged

    def judged(judge: Judge, assumed: frozenset[str]) -> Judged:
        most = judge.regions.context.get_max_operations()
        tried.append((judge.regions.rough, most))
        if not judge.regions.rough and most < enough:
            raise BudgetExceeded("exact sets")
        return whole(judge, assumed)

    monkeypatch.setattr(Judge, "judged", judged)
    program, buffer = buffer_of(f"{HARD} {PACK} {SEND}")
    Judge(program, buffer, buffer.objects[0], False)
    part = OPERATIONS // ROUGHLY
    assert tried == [(False, OPERATIONS), *([] if enough == OPERATIONS else [(True, part)])]  # a small program
    monkeypatch.setattr(liveness, "LARGE", 0)
    tried.clear()
    judge = Judge(program, buffer, buffer.objects[0], False)
    assert tried[:3] == [(False, part), (True, part), (False, OPERATIONS)]
    assert tried[3:] == ([] if enough == OPERATIONS else [(True, part)])
    assert judge.regions.rough is (enough > OPERATIONS)
    assert [found.ok for found in findings(judge)] == [True]
