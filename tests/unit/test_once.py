"""``opi_xform.once``: what is found out about a value is found once, and ends with it."""

from __future__ import annotations

import gc
from dataclasses import dataclass, replace
from functools import cached_property

import pytest
from core_support import program

from opi_xform.ir.ast import Units
from opi_xform.once import Findings, once, once_each
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import Names, names_of
from opi_xform.ownership.spelling.mentioned import mentions_of


@dataclass(frozen=True)
class Thing:
    name: str

    @cached_property
    def findings(self) -> Findings:
        return {}


asked: list[str] = []


@once
def length(thing: Thing) -> int:
    """How long its name is."""
    asked.append(thing.name)
    return len(thing.name)


@once_each
def letter(thing: Thing, at: int) -> str | None:
    asked.append(f"{thing.name} {at}")
    return thing.name[at] if at < len(thing.name) else None


@pytest.fixture(autouse=True)
def nothing_asked() -> None:
    asked.clear()


def test_each_value_is_asked_once() -> None:
    one, other = Thing("one"), Thing("other")
    assert [length(one), length(other), length(one), length(other)] == [3, 5, 3, 5]
    assert asked == ["one", "other"]
    assert length.__name__ == "length"
    assert length.__doc__ == "How long its name is."


def test_with_something_more_each_is_asked_once() -> None:
    one = Thing("one")
    assert [letter(one, 0), letter(one, 7), letter(one, 0), letter(one, 7)] == ["o", None, "o", None]
    assert asked == ["one 0", "one 7"]


def test_a_value_made_from_another_begins_with_no_findings() -> None:
    one = Thing("one")
    assert length(one) == 3
    assert length(replace(one, name="four")) == 4
    assert length(replace(one)) == 3
    assert asked == ["one", "four", "one"]


def test_what_raises_is_asked_again() -> None:
    @once
    def never(thing: Thing) -> int:
        asked.append(thing.name)
        raise KeyError(thing.name)

    for _ in range(2):
        with pytest.raises(KeyError):
            never(Thing("one"))
    assert asked == ["one", "one"]


def living() -> list[Program]:
    return [o for o in gc.get_objects() if type(o) is Program]


def test_a_program_goes_when_it_ends_though_no_garbage_is_collected() -> None:
    """Its findings refer to it: until they go, it stays."""
    gc.collect()
    before = len(living())
    gc.disable()
    try:
        found = program("int main(void) { int n = 1; return n; }").program
        names = names_of(found)
        assert names_of(found) is names
        assert names.program is found
        del names
        found.end()
        assert found.findings == {}
        del found
        assert len(living()) == before
    finally:
        gc.enable()


def test_a_program_that_has_ended_may_be_asked_again() -> None:
    found = program("int main(void) { int n = 1; return n; }").program
    first = names_of(found)
    found.end()
    assert isinstance(names_of(found), Names)
    assert names_of(found) is not first
    assert names_of(found).uses == first.uses


def test_units_are_one_value_however_often_they_are_put_together() -> None:
    units = Units.of([])
    assert isinstance(units, Units)
    assert Units.of(units) is units
    assert mentions_of(units) is mentions_of(units)
    assert mentions_of(()) is not mentions_of(())
