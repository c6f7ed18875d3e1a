"""A condition is one file: each is in ``TABLE`` once, and ``decide`` asks them in its order."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest
from ownership_support import source

from opi_xform.codes import Reason
from opi_xform.ownership import conditions, decide
from opi_xform.ownership.conditions.contents import read_after_send, two_ways
from opi_xform.ownership.conditions.enforced import ENFORCED
from opi_xform.ownership.conditions.table import TABLE
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import BufferFacts, ProgramFacts, Site
from opi_xform.ownership.model.buffers import Options, Refusal

WITHOUT = {"table", "enforced", "alignment"}
"""Modules of ``conditions`` that are no condition: the lists, and what others ask."""


def modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(conditions.__path__, "opi_xform.ownership.conditions.")
    return [importlib.import_module(one.name) for one in found if not one.ispkg]


def test_every_condition_is_a_module_in_the_table() -> None:
    mine = [m for m in modules() if m.__name__.rpartition(".")[2] not in WITHOUT]
    assert {id(m.CONDITION) for m in mine} == {id(c) for c in TABLE if c not in ENFORCED}
    assert len(TABLE) == len({id(c) for c in TABLE})


@pytest.mark.parametrize("condition", TABLE, ids=lambda c: f"{c.name}: {c.requires}")
def test_a_condition_says_what_it_requires_and_has_a_check_or_what_enforces_it(condition: Condition) -> None:
    assert condition.requires.endswith(".")
    assert bool(list(condition.checks())) is (condition not in ENFORCED)
    assert condition not in ENFORCED or condition.enforced
    assert not condition.form or condition.site is not None


def worded(place: str) -> bool:
    """A function or class that is there, in a module that makes reasons or hints."""
    module, _, name = place.partition(":")
    found = importlib.import_module(f"opi_xform.{module}")
    text = inspect.getsource(found)
    return hasattr(found, name) and any(made in text for made in ("Refusal(", "Advice(", "Unplaceable("))


@pytest.mark.parametrize("module", [m for m in modules() if hasattr(m, "CONDITION")], ids=lambda m: m.__name__)
def test_the_file_of_a_condition_has_its_words_or_says_where_they_are(module: ModuleType) -> None:
    """``Refusal(`` in the file itself, or ``words``; who looks for the words of a code begins at its condition."""
    assert "Refusal(" in inspect.getsource(module) or module.CONDITION.words
    assert [place for place in module.CONDITION.words if not worded(place)] == []


@pytest.mark.parametrize("condition", ENFORCED, ids=lambda c: c.requires)
def test_the_words_of_what_is_enforced_elsewhere(condition: Condition) -> None:
    assert [place for place in condition.words if not worded(place)] == []


BODY = """
static double buf[N], u[N];
int main(void)
{
    for (int i = 0; i < N; i++) buf[i] = u[i];
    MPI_Send(buf, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    return 0;
}
"""


def kept(reason: Reason, stage: str, asked: list[Reason]) -> Condition:
    """A condition that keeps all that it sees."""

    def check(*_: object) -> Refusal:
        asked.append(reason)
        return Refusal(reason, "so it is")

    return Condition("a test", "Nothing converts.", **{stage: check})  # type: ignore[arg-type]


@pytest.mark.parametrize("stage", ["program", "buffer", "site"])
def test_the_first_condition_that_refuses_is_told_and_the_others_are_not_asked(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Reason] = []
    table = (Condition("none", "No check."), kept(Reason.PENDING, stage, asked), kept(Reason.ESCAPE, stage, asked))
    monkeypatch.setattr(decide, "TABLE", table)
    known = source(BODY)
    (site,) = decide.decide(known.units, known.program, Options()).decisions
    assert (site.decision, site.code, site.message) == ("keep", "OPI106", "so it is")
    assert set(asked) == {Reason.PENDING}


def test_what_liveness_refuses_never_converts_whatever_the_table_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that lost a row of liveness, and the second way to it: the tool stops, and writes nothing."""
    known = source(BODY.replace("return 0;", "return buf[1] > u[1];"))
    lost = (read_after_send.CONDITION, two_ways.CONDITION)
    monkeypatch.setattr(decide, "TABLE", tuple(c for c in TABLE if c not in lost))
    with pytest.raises(AssertionError, match="OPI101"):
        decide.decide(known.units, known.program, Options())


def test_facts_are_computed_when_they_are_asked_for_and_once() -> None:
    known = source(BODY)
    facts = BufferFacts(ProgramFacts(known.units, known.program, Options()), known.buffers["buf"])
    assert facts.values.refusal is None
    assert facts.judges_so_far == {}  # what is known of the address does not ask for liveness
    assert facts.liveness is facts.liveness
    assert list(facts.judges_so_far) == list(facts.buffer.objects)
    site = Site(facts, facts.buffer.uses[0].place, list(facts.buffer.uses), wordless=False)
    assert site.needed is None


def test_reasons_of_the_same_codes_are_two() -> None:
    """An enumeration makes one member of two with the same value."""
    assert Reason.ESCAPE is not Reason.ENTERED_AGAIN
    assert Reason.ESCAPE.codes == Reason.ENTERED_AGAIN.codes == {"OPI103", "OPI214"}
