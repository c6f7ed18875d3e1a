"""Structs that functions get by value: tried as structs that they get the address of.

Where the copy is as good as the caller's struct (``divide/structs/by_address.py``), the source is rewritten so, and the
program that results is analysed as any other.  Where that makes sites convert, its plan counts, told in places of the
program that the user wrote; structs of a type that does not help stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.divide.structs.by_address import ByAddress
from opi_xform.divide.structs.by_result import ByResult
from opi_xform.graph.whole import merge
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan

MOST = 8  # types of structs that are tried one after the other


class Passing:
    """One use: ``run``."""

    def __init__(self, program: Program, plan: Plan, units: Sequence[Unit], again: Again) -> None:
        self.program = program
        self.plan = plan
        self.units = units
        self.again = again
        self.sources = again.sources

    def run(self) -> Tried | None:
        """The better plan; None where the program stays as it is.  Raises OSError."""
        whole, read = merge(self.units), self.sources.data
        found = [
            *ByAddress(self.program, whole, self.units, read).run(),
            *ByResult(self.program, whole, self.units, read).run(),
        ]
        ways = [edits for _, edits in found if self.again.inside(edits)][:MOST]
        if not ways:
            return None
        best = self.again.better(ways, self.plan)
        if best is None:
            return None
        for way in list(ways):  # without those that do not help
            fewer = [one for one in ways if one is not way]
            tried = self.again.better(fewer, self.plan) if fewer else None
            if tried is not None and converted(tried.plan) >= converted(best.plan):
                best, ways = tried, fewer
        return replace(best, plan=self.told(best.plan))

    def told(self, plan: Plan) -> Plan:
        """The plan, with what is new said at the sites."""
        old = converted(self.plan)
        return replace(
            plan,
            decisions=tuple(
                replace(d, message=f"{d.message}; functions get the address of the struct instead of a copy")
                if d.decision == "convert" and site(d) not in old
                else d
                for d in plan.decisions
            ),
        )
