"""Inclusion constraints: random systems against the closure that defines their least solution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opi_xform import budget
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.pointsto.inclusions import BYTES, NO_OBJECT, OUTSIDE, WEAK, Exhausted, Inclusions, Name

OBJECTS = range(1, 5)
VARIABLES: tuple[Name, ...] = tuple(("v", i) for i in range(-9, -3))
CONTENTS: tuple[Name, ...] = tuple(("c", o) for o in OBJECTS)
Sets = dict[Name, set[int]]


@dataclass(frozen=True)
class Rule:
    """``kind``: addr (``to`` holds ``objects``), copy, load (``to = *by``), store (``*to = by``) or wide."""

    kind: str
    to: Name
    by: Name = OUTSIDE
    objects: frozenset[int] = frozenset()


def system(rules: Iterable[Rule], apart: dict[Name, frozenset[int]] | None = None) -> Inclusions:
    out = Inclusions(Objects({}), apart or {}, False)
    for rule in rules:
        match rule.kind:
            case "addr":
                out.add(rule.to, rule.objects)
            case "copy":
                out.copy(rule.by, rule.to)
            case "load":
                out.load(rule.by, rule.to)
            case "store":
                out.store(rule.to, rule.by)
            case "wide":
                out.widen(rule.to)
    return out


def closure(rules: Sequence[Rule], apart: dict[Name, frozenset[int]] | None = None) -> Sets:
    """The least sets that satisfy all rules, by applying each until nothing changes.

    What is outside may hold whatever is in it, and is held by all of it: ``OUTSIDE`` and the contents of its objects
    are one set, but for those that are told to hold less (``apart``).
    """
    forbidden = apart or {}
    sets: Sets = {OUTSIDE: {UNKNOWN}}

    def grow(name: Name, new: Iterable[int]) -> None:
        kept = set(new) - forbidden.get(name, frozenset())
        if name == OUTSIDE:
            kept = {o for o in kept if o >= 0}
        sets.setdefault(name, set()).update(kept)

    while True:
        before = sum(map(len, sets.values()))
        for o in sorted(sets[OUTSIDE]):
            grow(("c", o), sets[OUTSIDE])
            grow(("w", o), sets[OUTSIDE])
            grow(OUTSIDE, sets.get(("c", o), ()))
        for rule in rules:
            held = sorted(sets.get(rule.by, ()))
            match rule.kind:
                case "addr":
                    grow(rule.to, rule.objects)
                case "copy":
                    grow(rule.to, held)
                case "load":
                    for o in held:
                        grow(rule.to, sets.get(("c", o), ()) if o >= 0 else ())
                case "store":
                    for o in sorted(sets.get(rule.to, ())):
                        if o >= 0:
                            grow(("c", o), held)
                case "wide":
                    grow(rule.to, sets[OUTSIDE])
        if sum(map(len, sets.values())) == before:
            return sets


names = st.sampled_from((*VARIABLES, *CONTENTS, OUTSIDE))
variables = st.sampled_from(VARIABLES)
objects = st.frozensets(st.sampled_from((NO_OBJECT, *OBJECTS)), min_size=1, max_size=2)
rules = st.one_of(
    st.builds(Rule, st.just("addr"), names, objects=objects),
    st.builds(Rule, st.just("addr"), variables, objects=objects),
    st.builds(Rule, st.sampled_from(["copy", "load", "store"]), variables, variables),
    st.builds(Rule, st.sampled_from(["copy", "load", "store"]), names, names),
    st.builds(Rule, st.just("wide"), names),
)
barred = st.dictionaries(st.sampled_from(CONTENTS), st.frozensets(st.sampled_from(OBJECTS), min_size=1), max_size=2)


@settings(max_examples=400)
@given(st.lists(rules, max_size=20))
def test_the_least_solution_is_found(code: list[Rule]) -> None:
    """Nothing is missing and nothing too much, in what each name holds of objects."""
    found, _ = system(code).solution()
    expected = closure(code)
    for name in (*VARIABLES, *CONTENTS, OUTSIDE):
        assert found.get(name, frozenset()) == {o for o in expected.get(name, ()) if o >= 0}, name


@settings(max_examples=200)
@given(st.lists(rules, max_size=20))
def test_numbers_are_told(code: list[Rule]) -> None:
    """A variable may hold something that is no object exactly if the closure says so."""
    _, numbers = system(code).solution()
    expected = closure(code)
    outside = expected[OUTSIDE]
    for name in VARIABLES:
        # what is stored into an object that is outside is not told apart from what is outside
        if not outside & set(OBJECTS):
            assert (name in numbers) == (NO_OBJECT in expected.get(name, ())), name


@settings(max_examples=200)
@given(st.lists(rules, max_size=20), barred)
def test_what_is_told_apart_stays_apart(code: list[Rule], apart: dict[Name, frozenset[int]]) -> None:
    """An object that a variable never points to is not in its set; nothing that follows from the rest is missing.

    There may be more: what is read of memory that is outside is all that is outside, also where that memory holds less.
    """
    found, _ = system(code, apart).solution()
    expected = closure(code, apart)
    for name in (*VARIABLES, *CONTENTS, OUTSIDE):
        held = found.get(name, frozenset())
        assert held >= {o for o in expected.get(name, ()) if o >= 0}, name
        assert held.isdisjoint(apart.get(name, frozenset())), name


@settings(max_examples=200)
@given(st.lists(rules, max_size=20), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(code: list[Rule], random: object) -> None:
    shuffled = list(code)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = system(code).solution(), system(shuffled).solution()
    for name in (*VARIABLES, *CONTENTS, OUTSIDE):
        assert one[0].get(name, frozenset()) == other[0].get(name, frozenset()), name


def test_large_equal_sets_are_one() -> None:
    """What is asked of two pointers that are outside is kept once."""
    code = [Rule("addr", OUTSIDE, objects=frozenset(OBJECTS)), *(Rule("wide", name) for name in VARIABLES)]
    found, _ = system(code).solution()
    assert len({id(found[name]) for name in (*VARIABLES, *CONTENTS, OUTSIDE)}) == 1


def test_a_followed_pointer_of_which_nothing_is_known_leads_anywhere() -> None:
    """p is read through and nobody sets it: it may point to each object that something points to."""
    code = Inclusions(Objects({}), {}, False)
    code.add(("v", 1), frozenset({1, 2}))
    code.load(("p", 1), ("v", 2))
    code.copy(("p", 2), ("v", 3))  # it is not followed
    found, _ = code.solution()
    assert found["p", 1] == {UNKNOWN, 1, 2}
    assert found["v", 2] == {UNKNOWN}
    assert found.get(("v", 3), frozenset()) == frozenset()


def test_bytes_that_may_be_addresses_do_not_take_outside_what_is_weak() -> None:
    """What is weak is among the bytes; where it is told to be outside, it is not: it is there already."""
    code = Inclusions(Objects({}), {}, False)
    code.add(WEAK, frozenset({1}))
    code.widen(WEAK)
    found, _ = code.solution()
    assert found[BYTES] == {1}
    assert found[OUTSIDE] == {UNKNOWN}


def test_the_budget_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "INCLUSIONS", 10)
    chain = [Rule("copy", ("v", i + 1), ("v", i)) for i in range(20)]
    with pytest.raises(Exhausted):
        system([*chain, Rule("addr", ("v", 0), objects=frozenset({1}))]).solution()


def test_the_work_grows_with_the_chain() -> None:
    """Each object is handed on once along each copy."""
    handed = []
    for n in (200, 400):
        code = system([Rule("copy", ("v", i + 1), ("v", i)) for i in range(n)])
        code.add(("v", 0), frozenset(OBJECTS))
        code.solution()
        handed.append(code.handed)
    assert handed == [200 * len(OBJECTS), 400 * len(OBJECTS)]
