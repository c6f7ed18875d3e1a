"""Names of the same memory are judged one after the other, and what is found out for one is known of the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest
from conditions_support import buffer_facts

from opi_xform.codes import Reason
from opi_xform.ownership.deciding.agreement import Verdict, agreed
from opi_xform.ownership.deciding.judging import Known, judge
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Carrier, Options, Place, Refusal
from opi_xform.regions.live import Live

PROGRAM = """
static double b[64];
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 64; i++)
        b[i] = i;
    MPI_Send(b, 64, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


def names(*objects: tuple[int, ...]) -> list[Buffer]:
    return [Buffer(f"b{i}", Carrier("pointer", f"b{i}"), own, (), ()) for i, own in enumerate(objects)]


def together(*objects: tuple[int, ...]) -> list[list[str]]:
    """The buffers that come with the same store of what is known, in the order in which they are judged."""
    stores: list[tuple[Known, list[str]]] = []

    def one(b: Buffer, kept: Mapping[Place, Refusal], wordless: Collection[Place], known: Known) -> Verdict:
        mine = next((found for store, found in stores if store is known), None)
        if mine is None:
            stores.append((known, mine := []))
        mine.append(b.name)
        return Verdict()

    agreed(names(*objects), buffer_facts(PROGRAM).of.parameters, {}, one)
    return [found for _, found in stores]


def test_buffers_without_memory_in_common_know_nothing_of_each_other() -> None:
    assert together((1,), (2,), (3,)) == [["b0"], ["b1"], ["b2"]]


def test_names_of_one_block_are_a_family() -> None:
    assert together((1,), (2,), (1,), (2, 5)) == [["b0", "b2"], ["b1", "b3"]]


def test_a_buffer_of_two_blocks_joins_their_families() -> None:
    assert together((1,), (2,), (3,), (1, 2), (2,)) == [["b0", "b1", "b3", "b4"], ["b2"]]


def test_of_a_silent_run_only_what_stays_is_judged_once_more() -> None:
    """A verdict that keeps no place has nothing to say."""
    asked: list[str] = []

    def one(b: Buffer, kept: Mapping[Place, Refusal], wordless: Collection[Place], known: Known) -> Verdict:
        asked.append(b.name)
        return Verdict()

    stays = Verdict(refusals={("f.c", 1, "send", 0): Refusal(Reason.ESCAPE, "")})
    before = [Verdict(), stays, Verdict()]
    found = agreed(names((1,), (2,), (3,)), buffer_facts(PROGRAM).of.parameters, {}, one, before=before)
    assert asked == ["b1"]
    assert found[0] is before[0]
    assert found[2] is before[2]


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often regions are computed."""
    out: list[int] = []
    real = Live.solve
    monkeypatch.setattr(Live, "solve", lambda live: (out.append(1), real(live))[1])
    return out


def test_another_name_of_a_block_is_not_judged_anew(solved: list[int]) -> None:
    facts = buffer_facts(PROGRAM)
    known: Known = {}
    first = judge(facts.program, facts.found, Options(), (), known)
    times = len(solved)
    assert times
    other = judge(facts.program, facts.found, Options(), (), known)
    assert len(solved) == times
    (a,), (b,) = first.judges.values(), other.judges.values()
    assert a is not b
    assert a.findings == b.findings
    judge(facts.program, facts.found, Options(), (), {})
    assert len(solved) == 2 * times


def test_what_differs_is_judged_anew(solved: list[int]) -> None:
    facts = buffer_facts(PROGRAM)
    known: Known = {}
    judge(facts.program, facts.found, Options(), (), known)
    times = len(solved)
    judge(facts.program, facts.found, Options(strict=True), (), known)
    assert len(solved) > times
    (o,) = facts.found.objects
    packed = frozenset(u.place for u in facts.found.uses)
    assert Judge.alike(facts.found, o, False, packed) != Judge.alike(facts.found, o, False, ())


def test_a_question_is_answered_once(solved: list[int]) -> None:
    (one,) = buffer_facts(PROGRAM).liveness.judges.values()
    before = len(solved)
    found = one.live((), None)
    assert len(solved) == before + 1
    assert one.live((), None)[0] is found[0]
    assert len(solved) == before + 1
    one.live((), ())
    assert len(solved) == before + 2
