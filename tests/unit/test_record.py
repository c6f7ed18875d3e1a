"""``record.dataclass``: as the standard library's, whether a method is called for the first time or again."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import field
from functools import cached_property

import pytest

from opi_xform.ir import record as fast
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    left: int
    right: tuple[int, ...] = ()
    notes: list[str] = field(default_factory=list, compare=False, repr=False)


@dataclass(frozen=True)
class Open:
    left: int

    @cached_property
    def twice(self) -> int:
        return 2 * self.left


@dataclass(frozen=True, slots=True, eq=False)
class Itself:
    left: int


@dataclass(frozen=True, slots=True)
class Names:
    put: int
    missing: int = 1
    default_missing: int = 2
    make_put: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Own:
    """With methods of its own."""

    left: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", self.left + 1)

    def __hash__(self) -> int:
        return 7


@fast.dataclass(frozen=True, slots=True)
class Quick:
    left: int
    right: int = 3


def test_fields_defaults_and_names() -> None:
    one, two = Pair(1), Pair(left=1, right=(2,))
    assert (one.left, one.right, one.notes, two.right) == (1, (), [], (2,))
    assert one.notes is not two.notes
    assert repr(two) == "Pair(left=1, right=(2,))"
    assert dataclasses.replace(two, left=5) == Pair(5, (2,))
    with pytest.raises(TypeError):
        Pair()  # type: ignore[call-arg]


def test_any_name_is_a_fields() -> None:
    one = Names(5)
    assert (one.put, one.missing, one.default_missing, one.make_put) == (5, 1, 2, [])
    assert pickle.loads(pickle.dumps(one)) == one


def test_compared_by_fields_that_count() -> None:
    assert Pair(1, (), ["a"]) == Pair(1, (), ["b"]) != Pair(2)
    assert Pair(1) != (1, ())
    assert len({Pair(1), Pair(1, notes=["c"]), Pair(2)}) == 2
    assert Quick(1) == Quick(1, 3)
    assert len({Quick(1), Quick(1), Quick(2)}) == 2


def test_no_field_is_assigned_or_deleted() -> None:
    for one in (Pair(1), Open(1), Itself(1)):
        with pytest.raises(dataclasses.FrozenInstanceError, match="left"):
            one.left = 2  # type: ignore[misc]
        with pytest.raises(dataclasses.FrozenInstanceError, match="left"):
            del one.left  # type: ignore[attr-defined]
        assert one.left == 1


def test_with_a_dictionary() -> None:
    one = Open(4)
    assert one.twice == 8
    assert one == Open(4)
    assert hash(one) == hash(Open(4))


def test_compared_as_objects_where_fields_do_not_count() -> None:
    one = Itself(1)
    assert one == one != Itself(1)
    assert len({one, Itself(1)}) == 2


def test_methods_of_its_own_stay() -> None:
    assert Own(1).left == 2
    assert hash(Own(1)) == 7
    assert Own(1) == Own(1)


@pytest.mark.parametrize("one", [Pair(1, (2,), ["a"]), Open(1), Own(1), Quick(1)])
def test_travels(one: object) -> None:
    for _ in range(2):
        assert pickle.loads(pickle.dumps(one, pickle.HIGHEST_PROTOCOL)) == one


def test_a_field_is_given_by_its_place() -> None:
    with pytest.raises(TypeError, match="given by its place"):

        @dataclass(frozen=True, slots=True)
        class Wrong:
            left: int = field(init=False, default=1)
