"""Functions that pack, read or allocate a buffer: tried with their bodies where they are called.

A block of its own for a message wants the statements that pack it, or read it, beside the message
(``computed_starts.py``, ``message_tables.py``); a buffer wants a statement that allocates it alone.  Where they stand
in a function, the program with its calls written out (``bodies.py``) is the same one, and is analysed as any other.
Where that makes sites convert, its plan counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.attempts.bodies import Written, written_out
from opi_xform.attempts.computed_starts import kept_sites
from opi_xform.attempts.no_text_helps import no_text_helps
from opi_xform.divide.passages.given import leading
from opi_xform.divide.passages.proof import told_one_by_one
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.ast import Unit
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.plan import Plan, SiteKey
from opi_xform.text.edit import ByteEdit


class WrittenCalls:
    """One program: ``run``."""

    def __init__(self, program: Program, plan: Plan, units: Sequence[Unit], again: Again) -> None:
        self.program = program
        self.plan = plan
        self.units = units
        self.again = again
        self.objects: dict[int, set[SiteKey]] = {}
        for use in collect(program):
            if use.object >= 0:
                self.objects.setdefault(use.object, set()).add(use.place[:3])

    def run(self) -> Tried | None:
        """The better plan; None where the program stays as it is.  Raises OSError."""
        if self.again.further is None or not told_one_by_one(self.program):
            return None
        calls = self.calls()
        best = self.again.better([self.edits(calls)], self.plan) if calls else None
        if best is None:
            return None
        gained = converted(best.plan) - converted(self.plan)
        for fewer in (self.edited(calls, best), self.of(calls, self.touching(gained) | self.handing)):
            tried = self.again.better([self.edits(fewer)], self.plan) if 0 < len(fewer) < len(calls) else None
            if tried is not None and converted(tried.plan) >= converted(best.plan):
                best, calls = tried, fewer
                break
        return replace(best, plan=self.told(best.plan, calls, gained))

    def calls(self) -> list[Written]:
        """Those of functions that touch, or allocate, the buffers of sites that stay."""
        shared, name = self.program.shared, self.again.sources.name
        wanted = self.touching(kept_sites(self.plan))
        if not no_text_helps(self.program, self.plan, False):
            wanted |= self.handing
        found = written_out(self.program, self.units, wanted) if wanted else ()
        return [one for one in found if name(one.place[0]) not in shared and self.again.inside([one.place[0]])]

    def touching(self, sites: frozenset[SiteKey] | set[SiteKey]) -> set[str]:
        """The functions that themselves touch the buffers of these sites, and lead to no message."""
        graph, accesses = self.program.graph, index_of(self.program).accesses
        wanted = [o for o, mine in self.objects.items() if mine & sites]
        nodes = (graph.nodes[n] for o in wanted for n in accesses.nodes(o))
        return {graph.frames[node.frame].function for node in nodes if node.frame >= 0} - leading(self.program)

    @cached_property
    def handing(self) -> set[str]:
        """The functions that allocate or free memory for a pointer whose address they get, and lead to no message.

        They do so in their own bodies or in those that they call.  Which memory a site's is may be what is not known.
        """
        graph, functions, effects = self.program.graph, self.program.functions, self.program.effects
        nodes = {n for info in self.program.values.objects.table if info.kind == "heap" for n in info.nodes}
        for node in graph.nodes:
            callee = node.action.callee if isinstance(node.action, ins.CallInstr) else None
            effect = effects.get(callee.key) if isinstance(callee, ins.AddrFunc) else None
            if effect is not None and effect.frees is not None:
                nodes.add(node.number)
        out, frames = set[str](), {graph.nodes[n].frame for n in nodes}
        while frames := {frame for frame in frames if frame >= 0}:
            out |= {graph.frames[frame].function for frame in frames}
            frames = {graph.frames[frame].parent for frame in frames}
        return {name for name in out - leading(self.program) if name in functions and _gets_address(functions[name])}

    def edited(self, calls: Sequence[Written], tried: Tried) -> list[Written]:
        """Those of which another text stands there in the end: the others may as well stay calls."""
        bodies = [(self.again.sources.name(one.place[0]), max((e.text for e in one.edits), key=len)) for one in calls]
        many = Counter(bodies)
        return [
            one
            for one, (file, body) in zip(calls, bodies, strict=True)
            if tried.changed.get(file, b"").count(body) < many[file, body]
        ]

    def of(self, calls: Sequence[Written], functions: Collection[str]) -> list[Written]:
        return [one for one in calls if one.function in functions]

    def edits(self, calls: Sequence[Written]) -> dict[str, list[ByteEdit]]:
        out: dict[str, list[ByteEdit]] = {}
        for one in calls:
            out.setdefault(one.place[0], []).extend(one.edits)
        return out

    def told(self, plan: Plan, calls: Sequence[Written], gained: set[SiteKey]) -> Plan:
        """The plan, with the functions whose calls are written out said at the sites that are new."""
        names = sorted({self.program.functions[one.function].name for one in calls})
        said = f"the calls of {' and '.join(f'`{name}`' for name in names)} are written out"
        decisions = (
            replace(d, message=f"{d.message}; {said}") if d.decision == "convert" and site(d) in gained else d
            for d in plan.decisions
        )
        return replace(plan, decisions=tuple(decisions))


def _gets_address(function: ast.Function) -> bool:
    """A parameter points to a pointer."""
    types = (function.variables[key].type for key in function.params)
    return any(t.is_pointer and t.elem is not None and t.elem.is_pointer for t in types)
