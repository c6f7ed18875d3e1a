"""Blocks whose parts elements of arrays name: tried as a block for each part.

What could be written so is found by the text (``divide/named/by_arrays.py``), and proved of the program with these
blocks (``divide/named/by_arrays_proof.py``).  That is analysed as any other then.  Where more sites convert, its plan
counts; other blocks stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.attempts.divided import PARTED
from opi_xform.divide.flow import Trouble
from opi_xform.divide.left_out import left_out, nobodys, of_others
from opi_xform.divide.mentions import mentions_of
from opi_xform.divide.named.by_arrays import Rows, RowsSpelling, rows_of
from opi_xform.divide.named.by_arrays_proof import RowsProof
from opi_xform.divide.spell import accounted
from opi_xform.ir.ast import Unit, Variable
from opi_xform.ir.instr import CallInstr
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan, SiteKey
from opi_xform.ownership.spelling.configurations import LEFT_OUT
from opi_xform.record import dataclass
from opi_xform.rewrite.left_out import stops
from opi_xform.text.edit import ByteEdit, apply_edits
from opi_xform.text.errors import PlanError

Edits = Mapping[str, tuple[ByteEdit, ...]]


@dataclass(frozen=True, slots=True)
class _Parted:
    """Blocks that can be one for each part.  name: of the array that has their addresses.  sites: of messages there."""

    name: str
    count: int
    edits: Edits
    sites: frozenset[SiteKey]
    assumes: tuple[str, ...]


class RowParts:
    """One program: ``run``."""

    def __init__(self, program: Program, units: Sequence[Unit], plan: Plan, again: Again, strict: bool = False) -> None:
        self.program = program
        self.units = units
        self.plan = plan
        self.again = again
        self.sources = again.sources
        self.strict = strict

    def run(self) -> Tried | None:
        """The better plan; None where the program stays as it is.  Raises OSError."""
        kept = {site(d) for d in self.plan.decisions if d.decision == "keep"}
        ways: list[_Parted] = []
        for rows in rows_of(self.program) if kept else ():
            sites = self.sites(rows)
            if not sites & kept:
                continue
            try:
                ways.append(self.parted(rows, sites))
            except (Trouble, PlanError):
                continue
        best = self.again.better([one.edits for one in ways], self.plan) if ways else None
        if best is None:
            return None
        gained = converted(best.plan) - converted(self.plan)
        fewer = [one for one in ways if one.sites & gained]
        if len(fewer) < len(ways):
            tried = self.again.better([one.edits for one in fewer], self.plan) if fewer else None
            if tried is not None and converted(tried.plan) >= converted(best.plan):
                best, ways = tried, fewer
        return replace(best, plan=self.told(best.plan, ways))

    def sites(self, rows: Sequence[Rows]) -> frozenset[SiteKey]:
        """The sites of messages that may be in these blocks."""
        objects = {one.object for one in rows}
        out: set[SiteKey] = set()
        for use in collect(self.program):
            node = self.program.graph.nodes[use.node]
            if isinstance(node.action, CallInstr):
                given = self.program.points_to.operand(node.frame, node.action.args[use.argument])
                out |= set() if given.isdisjoint(objects) else {use.place[:3]}
        return frozenset(out)

    def parted(self, rows: Sequence[Rows], sites: frozenset[SiteKey]) -> _Parted:
        """Raises Trouble, PlanError."""
        program, tables, objects = self.program, rows[0].tables, [one.object for one in rows]
        edits = RowsSpelling(program, rows, self.sources.data).run()
        if not self.again.inside(edits):
            raise Trouble(rows[0].stmt.span, "is named outside the root")
        others = left_out(self.units, program, tables, objects, self.strict)
        foreign = of_others(self.units, program, tables)
        unread = (*nobodys(self.units), *foreign, *(stop.span for stop in others))
        for key in tables:
            accounted(program, program.variables[key], mentions_of(program).of(key), self.sources.data, unread)
        self.prove(tables, edits)
        for stop in others:
            more = tuple(stops(self.sources.text(stop.span.file), stop))
            edits[stop.span.file] = tuple(dict.fromkeys((*edits.get(stop.span.file, ()), *more)))
        return _Parted(program.variables[tables[0]].name, len(tables), edits, sites, (LEFT_OUT,) if others else ())

    def prove(self, tables: Sequence[str], edits: Edits) -> None:
        """That the program with these edits does what it did.  Raises Trouble."""
        named = {self.sources.name(file): ones for file, ones in edits.items()}
        texts = {file: apply_edits(self.sources.data(file), ones) for file, ones in named.items()}
        looked = self.again.look(texts)
        if looked is None:
            raise Trouble(self.program.variables[tables[0]].span, "is in a program that is too large with more blocks")
        program, _ = looked
        try:
            RowsProof(program, [self.there(key, program) for key in tables]).run()
        finally:
            program.end()

    def there(self, key: str, program: Program) -> str:
        """A variable of the program, in the same one with other text.  Raises Trouble."""
        v = self.program.variables[key]

        def alike(other: Variable) -> bool:
            same = (other.name, other.kind, other.type.is_array) == (v.name, v.kind, v.type.is_array)
            return same and os.path.basename(other.function) == os.path.basename(v.function)

        found = [k for k, other in program.variables.items() if alike(other)]
        if len(found) != 1 or sum(alike(other) for other in self.program.variables.values()) != 1:
            raise Trouble(v.span, "has a name that others have, too")
        return found[0]

    def told(self, plan: Plan, ways: Sequence[_Parted]) -> Plan:
        """The plan, with what becomes of the blocks said at the sites that are new."""
        old = converted(self.plan)
        decisions = []
        for d in plan.decisions:
            for one in ways:
                if d.decision == "convert" and site(d) in one.sites and site(d) not in old:
                    resting = tuple(sorted({*d.assumptions, *one.assumes}))
                    message = f"{d.message}; a block of `{one.name}` becomes {one.count}, {PARTED}"
                    d = replace(d, message=message, assumptions=resting)
            decisions.append(d)
        return replace(plan, decisions=tuple(decisions))
