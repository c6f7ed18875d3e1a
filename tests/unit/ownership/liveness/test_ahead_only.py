"""What is judged where the regions of the whole program take too long: messages alone, with what they lead to."""

from __future__ import annotations

import pytest
from conditions_support import only_buffer
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ownership.liveness.liveness import Finding, Judge, Judged
from opi_xform.ownership.model.buffers import Options
from opi_xform.regions.sets import FEWER, OPERATIONS, BudgetExceeded

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
        f"for (int t = 0; t < 3; t++) {{ v[0] += b[20]; {PACK} {SEND} }}",  # in the next turn
        f"for (int t = 0; t < 3; t++) {{ {PACK} {SEND} {INSIDE} }}",  # by another message
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


def test_reasons_alone_are_worth_one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def hard(judge: Judge, assumed: frozenset[str]) -> Judged:
        tried.append(1)
        raise BudgetExceeded("the whole program")

    monkeypatch.setattr(Judge, "judged", hard)
    found = source(TEXT.format(body=SEND))
    (buffer,) = [one for one in found.buffers.values() if one.uses]
    for told_only, attempts in ((False, 3), (True, 1)):
        tried.clear()
        judge = Judge(found.program, buffer, buffer.objects[0], False, frozenset(), told_only)
        assert judge.exceeded
        assert len(tried) == attempts
        assert judge.regions.operations == (FEWER if told_only else OPERATIONS)
