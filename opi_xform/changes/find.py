"""Which changes a site that stays may have: those that add no copy first."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.changes.copies import copied
from opi_xform.changes.guards import guarded
from opi_xform.changes.model import Change, Site
from opi_xform.ir import ast
from opi_xform.ownership.model import Program, Use
from opi_xform.ownership.plan import Decision
from opi_xform.ownership.uses import collect
from opi_xform.rewrite.sources import Sources

NOTHING_TO_GAIN = frozenset(("OPI108", "OPI208", "OPI117", "OPI217", "OPI118", "OPI218"))
"""Small messages travel in the envelope anyway; a site that a person keeps is kept."""
GUARDED = frozenset(("OPI203",))


class Finder:
    """One program: ``of`` each of its sites."""

    def __init__(self, program: Program, units: Sequence[ast.Unit], sources: Sources) -> None:
        self.program = program
        self.units = units
        self.sources = sources
        self.uses: dict[Site, list[Use]] = {}
        for use in collect(program):
            self.uses.setdefault(use.place[:3], []).append(use)

    def of(self, decision: Decision) -> list[Change]:
        """The changes of a site that stays, in the order in which they are tried."""
        site = (decision.span.file, decision.span.begin, decision.side)
        uses = self.uses.get(site)
        if uses is None or decision.decision != "keep" or decision.code in NOTHING_TO_GAIN:
            return []
        source = self.sources.text(site[0])
        found = [guarded(self.program, site, uses, source)] if decision.code in GUARDED else []
        found.append(copied(self.program, self.units, site, uses, source))
        return [change for change in found if change is not None]
