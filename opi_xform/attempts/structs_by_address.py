"""Structs that functions get by value: tried as structs that they get the address of.

Where the copy is as good as the caller's struct (``divide/structs/by_address.py``), the source is rewritten so, and the
program that results is analysed as any other.  Where that makes sites convert, its plan counts, told in places of the
program that the user wrote; structs of a type that does not help stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.divide.places import Offsets
from opi_xform.divide.structs.by_address import ByAddress, Edits
from opi_xform.divide.structs.by_result import ByResult
from opi_xform.file_names import standing
from opi_xform.graph.whole import merge
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits

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
        ways = [edits for _, edits in found if self.inside(edits)][:MOST]
        if not ways:
            return None
        best = self.attempt(ways, self.plan)
        if best is None:
            return None
        for way in list(ways):  # without those that do not help
            fewer = [one for one in ways if one is not way]
            tried = self.attempt(fewer, self.plan) if fewer else None
            if tried is not None and converted(tried.plan) >= converted(best.plan):
                best, ways = tried, fewer
        return replace(best, plan=self.told(best.plan))

    def inside(self, edits: Edits) -> bool:
        """Only files below the root are edited."""
        top = os.path.realpath(self.again.root)
        return all(os.path.commonpath([top, standing(file)]) == top for file in edits)

    def attempt(self, ways: Sequence[Edits], old: Plan) -> Tried | None:
        """What is decided of the program with these edits, where that is better."""
        edits: dict[str, dict[ByteEdit, None]] = {}
        for way in ways:
            for file, ones in way.items():
                edits.setdefault(self.sources.name(file), {}).update(ones)
        try:
            texts = {file: apply_edits(self.sources.data(file), ones) for file, ones in edits.items()}
        except EditConflict:
            return None
        offsets: Mapping[str, Offsets] = {file: Offsets(self.sources.data(file), e) for file, e in edits.items()}
        tried = self.again.attempt(texts, offsets, old)
        return tried if tried is not None and converted(tried.plan) > converted(old) else None

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
