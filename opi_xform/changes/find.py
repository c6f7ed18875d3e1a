"""Which changes a site that stays may have: those that add no copy first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opi_xform.changes.call import CallText, element, may_be_nobody
from opi_xform.changes.copies import copied
from opi_xform.changes.ground import Ground
from opi_xform.changes.guards import guarded
from opi_xform.changes.model import Change
from opi_xform.ir import ast
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program, Use
from opi_xform.ownership.model.plan import Decision, SiteKey
from opi_xform.text.sources import Sources

NOTHING_TO_GAIN = frozenset(("OPI108", "OPI208", "OPI117", "OPI217", "OPI118", "OPI218"))
"""Small messages travel in the envelope anyway; a site that a person keeps is kept."""
Way = Callable[[Program, SiteKey, CallText, str, bool], Change | None]
GUARDED = frozenset(("OPI203",))


class Finder:
    """One program: ``of`` each of its sites."""

    def __init__(
        self,
        program: Program,
        units: Sequence[ast.Unit],
        sources: Sources,
        flags: Callable[[str], tuple[str, ...]],
    ) -> None:
        """flags: of a unit's path."""
        self.program = program
        self.grounds: dict[str, Ground] = {}
        self.units = units
        self.sources = sources
        self.flags = flags
        self.uses: dict[SiteKey, list[Use]] = {}
        for use in collect(program):
            self.uses.setdefault(use.place[:3], []).append(use)

    def of(self, decision: Decision) -> list[Change]:
        """The changes of a site that stays, in the order in which they are tried."""
        site = (decision.span.file, decision.span.begin, decision.side)
        uses = self.uses.get(site)
        if uses is None or decision.decision != "keep" or decision.code in NOTHING_TO_GAIN:
            return []
        ways = ([guarded] if decision.code in GUARDED else []) + [copied]
        return [change for way in ways if (change := self._agreed(way, site, uses)) is not None]

    def _agreed(self, way: Way, site: SiteKey, uses: Sequence[Use]) -> Change | None:
        """What all calls want that are written at the site, wherever from they are reached: a file that is included
        twice has two there.
        """
        if site[0] not in self.grounds:
            self.grounds[site[0]] = Ground(self.units, site[0], self.sources, self.flags)
        kind, nobody = element(self.program, uses), may_be_nobody(self.program, uses)
        found: list[Change | None] = []
        for use in uses:
            call = CallText.of(self.program, use, self.grounds[site[0]])
            found.append(None if call is None else way(self.program, site, call, kind, nobody))
            if found[-1] is None or found[-1] != found[0]:
                return None
        return found[0]
