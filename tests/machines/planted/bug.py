"""A bug to plant into the analyser."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bug:
    """``old`` stands once in ``module``'s file and becomes ``new``; one of the ``cases`` (of tests/cases/*/keep)
    converts then.
    also: a second bug that is planted with it (and its own), where several checks stand for the same thing.
    condition: the row of ``opi_xform.ownership.conditions.table`` that it breaks.  other_way: no site converts, since
    the other way to the decision disagrees; of a bug in ``ownership.patterns`` the cases are of tests/cases/*/convert.
    """

    name: str
    module: str
    old: str
    new: str
    cases: tuple[str, ...]
    also: Bug | None = None
    condition: str = ""
    other_way: bool = False


NO_POINT_BEHIND = Bug(
    "a name that is set right before a call that is put in has no value there",
    "opi_xform.ownership.placement.situation",
    'if point == (u, "after") and v < len(self.graph.nodes):',
    "if False:",
    ("null_copied",),
    condition="old addresses",
)
"""Planted by itself (``memory/allocated.py``), and with others whose cases it keeps as well."""
