"""Other texts of the program that may convert more: each is analysed in a copy, and counts where it is better.

One attempt after the other; the first that is better is taken.  What it makes of the files has to compile.  Each text
that one makes is tried with those that come later, too: a name in a macro, parts that a name stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from opi_xform.attempts.again import Again, Parse
from opi_xform.divide import SHARED, WRITTEN
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.buffers import Options, Program
from opi_xform.ownership.model.plan import Plan
from opi_xform.record import dataclass
from opi_xform.rewrite.selfcheck import self_check
from opi_xform.text.errors import PlanError
from opi_xform.text.sources import Sources

LARGEST, LONGEST = 20_000, 50_000
"""Nodes, and lines of the files, of a program of which each attempt is tried with all that come later: each takes an
analysis, which also looks at what it does not follow.
"""
IN_LARGER = {"given": ("structs",), "structs": ("parts", "starts"), "rows": ("parts",), "blocks": ("parts",)}
"""What is tried in a larger program, too, once arrays have left their structs, or tables are blocks: only that shows
their parts.  Parts by names are divided in the program that has blocks for those in arrays: one text is made.
"""

RENAMING = ("given", "macros", "names", "chains")
"""Those that write the same calls in other words."""

Better = tuple[Plan, dict[str, bytes] | None]
"""A plan, and what it makes of the files where that is not what follows from its own edits."""


class Found(Protocol):
    """What an attempt brings."""

    @property
    def plan(self) -> Plan: ...

    @property
    def changed(self) -> dict[str, bytes] | None: ...


@dataclass(frozen=True)
class Attempts:
    """program: as it was analysed.  outline: parses texts of which only matters whether they compile.  again: analyses
    the program with other texts.  inner: it is such a text itself.  left: the attempts that are made.
    """

    program: Program
    units: Sequence[Unit]
    flags: Callable[[str], tuple[str, ...]]
    sources: Sources
    options: Options
    outline: Parse
    again: Again
    inner: bool = False
    left: tuple[str, ...] = (
        "given",
        "structs",
        "macros",
        "blocks",
        "names",
        "chains",
        "rows",
        "parts",
        "starts",
        "tables",
        "copies",
        "calls",
    )

    @cached_property
    def large(self) -> bool:
        """An analysis takes so long that few attempts are tried together."""
        lines = sum(self.sources.data(self.sources.name(unit.path)).count(b"\n") for unit in self.units)
        return len(self.program.graph.nodes) > LARGEST or lines > LONGEST

    def best(self, plan: Plan, part: Callable[[str], AbstractContextManager[None]]) -> Better:
        """The plan, or a better one; each attempt's time goes to the part that has its name."""
        for name in self.wanted(plan):
            with part(name):
                plan, changed = self.tried(plan, name)
            if changed is not None:
                return plan, changed
        return plan, None

    def wanted(self, plan: Plan) -> Iterator[str]:
        """The attempts that may bring something, those that change least first."""
        kept = [d for d in plan.decisions if d.decision == "keep"]
        codes = SHARED | WRITTEN if self.inner else SHARED
        shared = any((d.form or d.code) in codes for d in kept)
        for name in self.left:
            if (
                kept
                and (name != "chains" or self.left[0] == name)
                and (name not in ("parts", "starts", "tables") or shared)
                and (name != "copies" or self.program.complete)
            ):
                yield name

    def tried(self, plan: Plan, name: str) -> Better:
        attempts = {
            "macros": self.written_out,
            "blocks": self.row_parts,
            "names": self.plainly,
            "chains": self.plainly,  # once more: of names for names
            "given": self.named,
            "structs": self.loosened,
            "rows": self.flattened,
            "parts": self.parted,
            "starts": self.started,
            "tables": self.tabled,
            "copies": self.passed,
            "calls": self.with_bodies,
        }
        try:
            found = attempts[name](plan, self.with_later(name))
            if found is None:
                return plan, None
            if found.changed is not None and not self.inner and not self.compiles(found.changed):
                return plan, None  # what the edits of another text miss is no reason to refuse this one
            return found.plan, found.changed
        except (OSError, PlanError):  # no room for the copy, or it cannot be written: the program as it is
            return plan, None

    def with_later(self, name: str) -> Again:
        """How the program is analysed with other texts, each of them tried with the attempts that come later."""
        later = self.left[self.left.index(name) + 1 :]
        if name == "macros" and "structs" in self.left:
            later = ("structs", *later)  # a macro was the name of an array in one
        if name == "given":
            later = ("structs", "macros", "names", "chains")
        if name == "calls":
            later = ("parts", "starts", "tables", "copies")  # what shows in the caller
        if self.large:
            later = tuple(n for n in later if n in IN_LARGER.get(name, ()))
        again = replace(self.again, renames=name in RENAMING)
        if not later:
            return again

        def further(again: Again, program: Program, plan: Plan) -> Better:
            options = replace(self.options, root=again.root, told=tuple(again.told))
            own = replace(
                self,
                program=program,
                units=again.units,
                sources=again.sources,
                options=options,
                again=again,
                inner=True,
                left=later,
            )
            return own.best(plan, lambda _: nullcontext())

        return replace(again, further=further, reasons=name in ("structs", "rows"))

    def written_out(self, plan: Plan, again: Again) -> Found | None:
        """With uses of macros written out."""
        from opi_xform.attempts.macros import WritingOut, makes_code
        from opi_xform.attempts.no_text_helps import no_text_helps

        if not self.options.told and no_text_helps(self.program, plan, again.further is None):
            return None
        if not makes_code(self.units, self.sources, self.options.root):
            return None
        return WritingOut(again, plan, self.options.processes).run()

    def named(self, plan: Plan, again: Again) -> Found | None:
        """With the names of structs where functions get their addresses: only arrays that leave these need that."""
        from opi_xform.attempts.short_names import Plainly

        return Plainly(self.program, plan, self.sources, again, True).run()

    def plainly(self, plan: Plan, again: Again) -> Found | None:
        """With short names written out."""
        from opi_xform.attempts.no_text_helps import no_name_helps
        from opi_xform.attempts.short_names import Plainly

        largest = again.further is None and not self.inner  # an analysis of it is what takes the time
        if largest and not self.options.told and no_name_helps(self.program, plan):
            return None
        return Plainly(self.program, plan, self.sources, again).run()

    def loosened(self, plan: Plan, again: Again) -> Found | None:
        """With arrays of structs as variables of their own."""
        from opi_xform.attempts.struct_arrays import Loosening

        return Loosening(self.program, plan, self.units, again, self.options.strict).run()

    def row_parts(self, plan: Plan, again: Again) -> Found | None:
        """With blocks for parts that elements of arrays name."""
        from opi_xform.attempts.tables.row_parts import RowParts

        return RowParts(self.program, self.units, plan, again, self.options.strict).run()

    def flattened(self, plan: Plan, again: Again) -> Found | None:
        """With blocks for tables whose rows lie in one."""
        from opi_xform.attempts.tables.flat_tables import Flat

        return Flat(self.program, self.units, plan, again, self.options.strict).run()

    def parted(self, plan: Plan, again: Again) -> Found | None:
        """With buffers divided that several messages share."""
        from opi_xform.attempts.divided import Parting

        return Parting(self.program, self.units, plan, self.sources, again, self.options.strict).run()

    def started(self, plan: Plan, again: Again) -> Found | None:
        """With blocks of their own for messages that begin inside a buffer."""
        from opi_xform.attempts.computed_starts import Starting

        return Starting(self.program, self.units, plan, again, self.options.strict).run()

    def tabled(self, plan: Plan, again: Again) -> Found | None:
        """With tables of blocks for receives in a loop into one buffer."""
        from opi_xform.attempts.tables.message_tables import Tabling

        return Tabling(self.program, self.units, plan, again, self.options.strict).run()

    def passed(self, plan: Plan, again: Again) -> Found | None:
        """With addresses of structs where functions get copies."""
        from opi_xform.attempts.structs_by_address import Passing

        return Passing(self.program, plan, self.units, again).run()

    def with_bodies(self, plan: Plan, again: Again) -> Found | None:
        """With the bodies of functions that pack or read a shared buffer where they are called."""
        from opi_xform.attempts.written_calls import WrittenCalls

        return WrittenCalls(self.program, plan, self.units, again).run()

    def compiles(self, changed: Mapping[str, bytes]) -> bool:
        return not self_check(self.units, self.flags, changed, self.sources, self.outline).rejected
