"""What is found out about a value, kept with that value: made when it is first asked for, and once.

A program has ``findings``; so have the values of a program graph, and the units that a program is read from.  A
function with ``@once`` keeps its result there, and so do classes of which a program has one.  An entry says something
of the value, which does not change: whether it is there already shows in the time alone.  So the value is as frozen as
before for those who read it.

Nothing else keeps findings: no list of a module, no ``lru_cache`` of functions that are given a program
(``tests/system/test_house.py``).  Findings refer to their program, and no garbage is collected during a run; so who has
a program made calls ``Program.end`` when nobody asks about it any more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

Findings = dict[Any, Any]
"""By the function that found it, or by that and what else it was given."""


class Known(Protocol):
    """What findings are kept with."""

    @property
    def findings(self) -> Findings: ...


K = TypeVar("K", bound=Known)
A = TypeVar("A")
R = TypeVar("R")


def once(work: Callable[[K], R]) -> Callable[[K], R]:
    """The function, which does its work once for each value that it is given."""

    @wraps(work)
    def found(known: K) -> R:
        findings = known.findings
        if work not in findings:
            findings[work] = work(known)
        return cast(R, findings[work])

    return found


def once_each(work: Callable[[K, A], R]) -> Callable[[K, A], R]:
    """The same for functions that are given something more, which can be hashed."""

    @wraps(work)
    def found(known: K, more: A) -> R:
        findings = known.findings
        key = work, more
        if key not in findings:
            findings[key] = work(known, more)
        return cast(R, findings[key])

    return found
