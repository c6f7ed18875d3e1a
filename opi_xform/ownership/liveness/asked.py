"""The liveness of objects that only reasons ask about: each found when it is asked for, within a budget of steps.

A step is an item of the program that a sweep came to, so the same program gets the same reasons on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opi_xform import budget
from opi_xform.ownership.liveness.liveness import Judge


class Steps:
    """What the reasons of one program may cost, and have cost.  most: so many steps."""

    def __init__(self, most: int | None = None) -> None:
        self.most = budget.REASONS if most is None else most
        self.taken = 0

    @property
    def spent(self) -> bool:
        return self.taken >= self.most


class Judges:
    """The liveness of objects, each found when it is asked for.  known: gives what is found elsewhere of some.

    refused: something was asked for that the budget no longer held.
    """

    def __init__(self, steps: Steps, known: Callable[[], Mapping[int, Judge]] = dict) -> None:
        self.steps = steps
        self.known = known
        self.found: dict[int, Judge] | None = None
        self.refused = False
        self.before: dict[int, int] = {}  # the steps that the judge of an object had taken before it was asked for

    def of(self, o: int, make: Callable[[], Judge]) -> Judge | None:
        """The judge of an object; None: the budget is spent."""
        if self.steps.spent:
            self.refused = True
            return None
        if self.found is None:
            self.found = dict(self.known())
        new = o not in self.found
        if new:
            self.found[o] = make()
        self.before.setdefault(o, 0 if new else self.found[o].steps)
        return self.found[o]

    def settle(self) -> bool:
        """Takes down what was asked for since the last time; whether the budget held all of it."""
        found = self.found or {}
        self.steps.taken += sum(found[o].steps - before for o, before in self.before.items())
        self.before.clear()
        held, self.refused = not self.refused, False
        return held
