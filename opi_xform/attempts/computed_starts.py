"""Messages that begin at a place which the program computes: tried with a block of their own.

Where what travels is scratch between the statements that pack or unpack it and the message
(``divide/passages/find.py``, ``proof.py``), the source is rewritten to a block that holds just that, and the
program that results is analysed as any other.  Where that makes the message's site convert, its plan counts; the other
messages stay as they were.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.divide import SHARED, WRITTEN
from opi_xform.divide.flow import Trouble
from opi_xform.divide.left_out import left_out
from opi_xform.divide.passages.find import Passage, passages
from opi_xform.divide.passages.proof import Marked, Proof, single, told_one_by_one
from opi_xform.divide.passages.spell import PassageSpelling
from opi_xform.divide.passages.tables import Table
from opi_xform.divide.places import Offsets
from opi_xform.ir import ast
from opi_xform.ownership.model.buffers import Place, Program, Use
from opi_xform.ownership.model.plan import Plan, SiteKey
from opi_xform.ownership.spelling.configurations import LEFT_OUT
from opi_xform.record import dataclass
from opi_xform.rewrite.left_out import stops
from opi_xform.rewrite.mirror import mirrored
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.text.errors import PlanError

Edits = dict[str, dict[ByteEdit, None]]
ALONE = "get a block of their own"


@dataclass(frozen=True, slots=True)
class Ready:
    """A passage whose block is proved, and what is known of it, told in places of the program as it is."""

    passage: Passage | Table
    assumes: tuple[str, ...]
    edits: tuple[tuple[str, ByteEdit], ...]
    left_out: bool  # other text that names the buffer gets an #error


def kept_sites(plan: Plan) -> frozenset[SiteKey]:
    """Those that stay since their message is not the whole buffer, or may do so."""
    kept = SHARED | WRITTEN
    return frozenset(site(d) for d in plan.decisions if d.decision == "keep" and (d.form or d.code) in kept)


class Starting:
    """One use: ``run``."""

    def __init__(
        self, program: Program, units: Sequence[ast.Unit], plan: Plan, again: Again, strict: bool = False
    ) -> None:
        self.program = program
        self.units = units
        self.plan = plan
        self.again = again
        self.sources = again.sources
        self.strict = strict
        self.spelling = PassageSpelling(program, self.sources)

    def run(self) -> Tried | None:
        """The better plan; None where the program stays as it is.  Raises OSError."""
        ready = self.proved()
        best: Tried | None = None
        while ready:
            tried = self.attempt(ready)
            if tried is None:
                break
            gained = converted(tried.plan) - converted(self.plan)
            helped = [one for one in ready if one.passage.place[:3] in gained]
            if len(helped) == len(ready):
                if converted(self.plan) <= converted(tried.plan):
                    best = replace(tried, plan=self.told(tried.plan, ready))
                break
            ready = helped
        return best

    # --- what is proved --------------------------------------------------------------------------------------------

    def proved(self) -> list[Ready]:
        kept = kept_sites(self.plan)
        if not told_one_by_one(self.program) or not self.spelling.possible():
            return []  # what cannot be proved anyway costs no analysis
        found = [one for one in passages(self.program, kept, self.own(), self.sources.data) if self.untouched(one)]
        by_place: dict[Place, list[Use]] = {}
        for use in self.spelling.uses:
            by_place.setdefault(use.place, []).append(use)
        found = [p for p in found if all(single(self.program, self.spelling.uses, u) for u in by_place[p.place])]
        edits: Edits = {}
        marked = []
        for one in found:
            try:
                more = self.spelling.marks(one)
            except PlanError:
                continue
            edits.setdefault(self.sources.name(one.place[0]), {}).update(dict.fromkeys(more))
            marked.append(one)
        texts = self.applied(edits) if marked else None
        looked = None if texts is None else self.again.look(texts)
        if looked is None:
            return []
        program, top = looked
        offsets = {file: Offsets(self.sources.data(file), ones) for file, ones in edits.items()}
        proof = Proof(program, self.strict)
        out: list[Ready] = []
        taken: set[tuple[str, int]] = set()
        for one in marked:
            if any(other.passage.place == one.place for other in out):
                continue  # a shorter one will do
            file = self.sources.name(one.place[0])
            there = mirrored(top, file)
            after = offsets[file].after
            moved = {(there, after(m.ref.span.begin, False)): m.place for m in one.mentions}
            place = (there, after(one.place[1], False), one.place[2], one.place[3])
            names = self.spelling.names(one)
            known = proof.of(Marked(place, *names, frozenset(moved), one.handed))
            if known is None:
                continue
            anew = frozenset(moved[place] for place in known.anew)
            known = replace(known, anew=anew)
            ready = self.written(one, known.assumes, partial(self.spelling.blocks, one, known))
            if ready is not None and taken.isdisjoint(anew):
                taken |= anew
                out.append(ready)
        program.end()
        return out

    def written(
        self, one: Passage | Table, assumes: tuple[str, ...], spelled: Callable[[], Iterable[ByteEdit]]
    ) -> Ready | None:
        """None where it cannot be written."""
        if self.strict and assumes:
            return None
        objects = {u.object for u in self.spelling.uses if u.place == one.place}
        table = self.program.values.objects.table
        named = {one.key, *(table[o].variable or one.key for o in objects if table[o].kind == "variable")}
        try:
            edits = [(self.sources.name(one.place[0]), edit) for edit in spelled()]
            others = left_out(self.units, self.program, named, objects, self.strict)
            for stop in others:
                more = stops(self.sources.text(stop.span.file), stop)
                edits += [(self.sources.name(stop.span.file), edit) for edit in more]
        except (PlanError, Trouble):
            return None
        return Ready(one, assumes, tuple(edits), bool(others))

    def own(self) -> frozenset[str]:
        """Files that only one unit reads, below the root: its source, and headers of its own."""
        top = os.path.realpath(self.again.root)
        read = dict.fromkeys(path for u in self.units for path in (u.path, *u.files))
        once = [path for path in read if self.sources.name(path) not in self.program.shared]
        return frozenset(path for path in once if os.path.commonpath([top, self.sources.name(path)]) == top)

    def untouched(self, one: Passage | Table) -> bool:
        """No text of other configurations stands in it."""
        texts = [(one.first.span.begin, one.last.span.end)]
        if isinstance(one, Passage):
            bodies = [self.program.functions[key].span for key in one.through]
            if any(span.file != one.place[0] for span in bodies):
                return False
            texts += [(span.begin, span.end) for span in bodies]
        return not any(
            skipped.span.file == one.place[0] and skipped.span.begin < end and begin < skipped.span.end
            for unit in self.units
            for skipped in unit.skipped
            for begin, end in texts
        )

    # --- the program with blocks -----------------------------------------------------------------------------------

    def attempt(self, ready: Sequence[Ready]) -> Tried | None:
        """What is decided of the program with these blocks."""
        edits: Edits = {}
        for one in ready:
            for file, edit in one.edits:
                edits.setdefault(file, {})[edit] = None
        for file in {self.sources.name(one.passage.place[0]) for one in ready}:
            edits[file].update(dict.fromkeys(self.spelling.headers(file, self.units)))
        texts = self.applied(edits)
        if texts is None:
            return None
        offsets = {file: Offsets(self.sources.data(file), ones) for file, ones in edits.items()}
        return self.again.attempt(texts, offsets, self.plan)

    def applied(self, edits: Edits) -> dict[str, bytes] | None:
        try:
            return {file: apply_edits(self.sources.data(file), ones) for file, ones in edits.items()}
        except EditConflict:
            return None

    def told(self, plan: Plan, ready: Sequence[Ready]) -> Plan:
        """The plan, with what becomes of the buffers said at the sites that are new."""
        by_site = {one.passage.place[:3]: one for one in ready}
        decisions = []
        for d in plan.decisions:
            one = by_site.get(site(d))
            if one is not None and d.decision == "convert":
                name, lines = self.program.variables[one.passage.key].name, one.passage.first.span.line
                message = f"{d.message}; these elements of `{name}` {ALONE} at line {lines}"
                assumes = {*d.assumptions, *one.assumes, *((LEFT_OUT,) if one.left_out else ())}
                d = replace(d, message=message, assumptions=tuple(sorted(assumes)))
            decisions.append(d)
        return replace(plan, decisions=tuple(decisions))
