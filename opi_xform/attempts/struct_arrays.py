"""Arrays in structs: tried as variables of their own.

Where nothing but the text depends on where such an array lies (``divide/structs/from_structs.py``), the source is
rewritten so, and the program that results is analysed as any other.  Where that makes sites convert, its plan counts,
told in places of the program that the user wrote; arrays that do not help stay in their structs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.divide.structs.from_structs import FromStructs, Lifted
from opi_xform.ir.ast import Unit
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan, SiteKey


class Loosening:
    """One use: ``run``."""

    def __init__(self, program: Program, plan: Plan, units: Sequence[Unit], again: Again, strict: bool = False) -> None:
        self.program = program
        self.plan = plan
        self.units = units
        self.again = again
        self.sources = again.sources
        self.strict = strict

    def run(self) -> Tried | None:
        """The better plan; None where the program stays as it is.  Raises OSError."""
        kept = frozenset(site(d) for d in self.plan.decisions if d.decision == "keep")
        found = FromStructs(self.program, self.units, self.sources.data, self.strict).run(kept)
        ways = self.shown([one for one in found if self.again.inside(one.edits)])
        best = self.again.better([one.edits for one in ways], self.plan) if ways else None
        if best is None:
            return None
        gained = converted(best.plan) - converted(self.plan)
        fewer = [one for one in ways if self.sites(one) & gained]
        if len(fewer) < len(ways):
            tried = self.again.better([one.edits for one in fewer], self.plan) if fewer else None
            if tried is not None and converted(tried.plan) >= converted(best.plan):
                best, ways = tried, fewer
        return replace(best, plan=self.told(best.plan, ways))

    def shown(self, ways: list[Lifted]) -> list[Lifted]:
        """Those of whose sends it is known that they end in the array: all their bytes are written by its name."""
        if not any(one.unshown for one in ways):
            return ways
        asked = replace(self.again, further=None, wordless=True)
        seen = asked.better([one.wide if one.unshown else one.edits for one in ways], self.plan)
        sent = converted(seen.plan) if seen is not None else set()
        return [one for one in ways if one.unshown <= sent]

    def sites(self, one: Lifted) -> set[SiteKey]:
        """The sites of messages in the struct that the array is of."""
        table = self.program.values.objects.table
        mine = (u for u in collect(self.program) if u.object >= 0 and table[u.object].variable == one.key)
        return {*one.sites, *(u.place[:3] for u in mine)}

    def told(self, plan: Plan, ways: Sequence[Lifted]) -> Plan:
        """The plan, with what becomes of the arrays said at the sites that are new."""
        old = converted(self.plan)
        by_site: dict[SiteKey, list[str]] = {}
        assumes: dict[SiteKey, set[str]] = {}
        for one in ways:
            name = self.program.variables[one.key].name
            for place in self.sites(one):
                by_site.setdefault(place, []).append(f"`{name}.{one.field}`")
                assumes.setdefault(place, set()).update(one.assumes)
        decisions = []
        for d in plan.decisions:
            place = site(d)
            if d.decision == "convert" and place not in old and place in by_site:
                resting = tuple(sorted({*d.assumptions, *assumes[place]}))
                d = replace(d, message=f"{d.message}; {_leaving(by_site[place])}", assumptions=resting)
            decisions.append(d)
        return replace(plan, decisions=tuple(decisions))


def _leaving(names: Sequence[str]) -> str:
    return f"{names[0]} leaves its struct" if len(names) == 1 else f"{' and '.join(names)} leave their structs"
