"""Tables of rows in one block: tried as the block alone.

Where such a table is only named row by row (``divide/flat/flatten.py``), the source is rewritten to the block and the
length of a row, and the program that results is analysed as any other: its messages begin at computed places in a
buffer, which may be divided then.  Where that makes sites convert, its plan counts; other tables stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.divide.find import divisible
from opi_xform.divide.flat.flatten import Flattening, functions_of, row_after_first, tables_of
from opi_xform.divide.flow import Trouble
from opi_xform.divide.left_out import left_out, nobodys, of_others
from opi_xform.ir.ast import Unit
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan, SiteKey
from opi_xform.ownership.spelling.configurations import LEFT_OUT
from opi_xform.record import dataclass
from opi_xform.rewrite.left_out import stops
from opi_xform.text.edit import ByteEdit
from opi_xform.text.errors import PlanError

_WORD = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class _Flat:
    """A table that can be its block.  sites: those that name it."""

    name: str
    edits: Mapping[str, tuple[ByteEdit, ...]]
    sites: frozenset[SiteKey]
    assumes: tuple[str, ...]


class Flat:
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
        ways = self.ways()
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

    def ways(self) -> list[_Flat]:
        """The tables that sites name which stay, and whose rows are only named one by one.

        Where no block can be divided, that is none of which a message begins after the first row.
        """
        functions = functions_of(self.program, self.units, self.sources.data)
        if not functions.makers:
            return []
        out = []
        inside = set() if divisible(self.program) else self.inside()
        for key in tables_of(self.program, functions):
            name = self.program.variables[key].name
            mine = [d for d in self.plan.decisions if name in _WORD.findall(f"{d.object} {d.buffer}")]
            if all(d.decision == "convert" for d in mine) or key in inside:
                continue
            try:
                others = left_out(self.units, self.program, (key,), (), self.strict)
                foreign = of_others(self.units, self.program, (key,))
                unread = (*nobodys(self.units), *foreign, *(stop.span for stop in others))
                edits = Flattening(self.program, self.units, functions, key, self.sources.data, unread).run()
                for stop in others:
                    more = tuple(stops(self.sources.text(stop.span.file), stop))
                    edits[stop.span.file] = tuple(dict.fromkeys((*edits.get(stop.span.file, ()), *more)))
            except (Trouble, PlanError):
                continue
            if self.again.inside(edits):
                out.append(_Flat(name, edits, frozenset(map(site, mine)), (LEFT_OUT,) if others else ()))
        return out

    def inside(self) -> set[str]:
        """Tables of which a message's call names a row after the first."""
        given = (use.call.args[use.argument] for use in collect(self.program))
        return {key for e in given for key in row_after_first(e)}

    def told(self, plan: Plan, ways: Sequence[_Flat]) -> Plan:
        """The plan, with what becomes of the tables said at the sites that are new."""
        old = converted(self.plan)
        decisions = []
        for d in plan.decisions:
            for one in ways:
                if d.decision == "convert" and site(d) in one.sites and site(d) not in old:
                    resting = tuple(sorted({*d.assumptions, *one.assumes}))
                    message = f"{d.message}; `{one.name}` is its rows' block, without the table of pointers"
                    d = replace(d, message=message, assumptions=resting)
            decisions.append(d)
        return replace(plan, decisions=tuple(decisions))
