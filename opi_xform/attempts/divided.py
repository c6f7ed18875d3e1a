"""Buffers that several messages share: tried as several buffers.

Where each access of a buffer lies in one of its parts, the source is rewritten to a buffer for each (``parts``), and
the program that results is analysed as any other.  Where that makes sites convert, its plan counts, with all places
told as they are in the program that the user wrote; else the program stays as it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from opi_xform.attempts.again import Again, converted, site
from opi_xform.divide import SHARED, WRITTEN
from opi_xform.divide.find import Candidate, Dividing, candidates
from opi_xform.divide.flow import Trouble
from opi_xform.divide.left_out import left_out, nobodys, of_others
from opi_xform.divide.named.names import Naming, namings
from opi_xform.divide.named.proof import NamedDividing
from opi_xform.divide.named.spell import NamedSpelling
from opi_xform.divide.places import Offsets
from opi_xform.divide.spell import Spelling
from opi_xform.file_names import standing
from opi_xform.ir.ast import Unit
from opi_xform.ir.span import Span
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Note, Plan, SiteKey, StopOthers
from opi_xform.ownership.spelling.configurations import LEFT_OUT
from opi_xform.record import dataclass
from opi_xform.rewrite.left_out import stops
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.text.errors import PlanError
from opi_xform.text.sources import Sources

SIZES = "A3"
PARTED = "one for each of its parts"
"""Said of sites whose buffer was divided."""

_BETWEEN = frozenset({"OPI101", "OPI102", "OPI104", "OPI201", "OPI202", "OPI204"})
"""Reasons that parts of one buffer give each other."""

Edits = Mapping[str, tuple[ByteEdit, ...]]


@dataclass(frozen=True, slots=True)
class Parted:
    """A plan for a program with divided buffers: its places are the old program's.  ``changed``: the new contents."""

    plan: Plan
    changed: dict[str, bytes] | None


@dataclass(frozen=True, slots=True)
class Tried:
    """A division that is proved, on what is assumed.  keys: the variables of its parts; the first is the buffer's."""

    keys: tuple[str, ...]
    objects: tuple[int, ...]
    edits: Edits
    count: int
    assumes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to divide a buffer, of variable ``key``: ``run`` proves it and writes its edits, or raises Trouble."""

    key: str
    objects: tuple[int, ...]
    run: Callable[[], Tried]


class Parting:
    """One use: ``run``."""

    def __init__(
        self,
        program: Program,
        units: Sequence[Unit],
        plan: Plan,
        sources: Sources,
        again: Again,
        strict: bool = False,
    ) -> None:
        self.program = program
        self.units = units
        self.plan = plan
        self.sources = sources
        self.again = again
        self.strict = strict
        self.uses = collect(program)

    def run(self) -> Parted:
        """The better plan; ``changed`` is None where it is the old one (with what keeps buffers whole told).

        Allocations whose parts have names of their own come last: they are tried with what was divided before.
        """
        best = Parted(self.plan, None)
        divided: tuple[Tried, ...] = ()
        notes: dict[SiteKey, Trouble] = {}
        for ways in (self.by_places(), self.by_names()):
            found, troubles = self.proved(ways, divided)
            notes = {**notes, **troubles}
            best, divided = self.best(best, divided, found)
        return replace(best, plan=self.explained(best.plan, notes))

    def by_places(self) -> list[list[Way]]:
        """Buffers with a variable for all their parts."""
        found = candidates(self.program)

        def way(candidate: Candidate) -> Way:
            def run() -> Tried:
                division = Dividing(self.program, candidate, self.sources.data).run()
                keys, objects = (candidate.key,), candidate.objects
                others, unread = self.elsewhere(keys, objects)
                edits = Spelling(self.program, division, self.sources.data, unread).run()
                return self.tried(Tried(keys, objects, edits, division.layout.count, ()), division.assumes, others)

            return Way(candidate.key, candidate.objects, run)

        return [[way(candidate)] for candidate in found]

    def by_names(self) -> list[list[Way]]:
        """Buffers with a variable for each part."""

        def way(naming: Naming) -> Way:
            def run() -> Tried:
                division = NamedDividing(self.program, naming, self.sources.data).run()
                keys, objects = naming.names, naming.objects
                others, unread = self.elsewhere(keys, objects)
                edits = NamedSpelling(self.program, division, self.sources.data, unread).run()
                return self.tried(Tried(keys, objects, edits, division.count, ()), division.assumes, others)

            return Way(naming.base, naming.objects, run)

        return [[way(naming) for naming in ways] for ways in namings(self.program)]

    def elsewhere(
        self, keys: Collection[str], objects: Collection[int]
    ) -> tuple[tuple[StopOthers, ...], tuple[Span, ...]]:
        """What keeps other configurations from text with these names; the text in which they may stand unread."""
        others = left_out(self.units, self.program, keys, objects, self.strict)
        foreign = of_others(self.units, self.program, keys)
        return others, (*nobodys(self.units), *foreign, *(stop.span for stop in others))

    def tried(self, one: Tried, sizes: bool, others: Sequence[StopOthers]) -> Tried:
        """The division, with its ``#error`` in other text, and with what it rests on.  Raises Trouble."""
        edits = {file: dict.fromkeys(more) for file, more in one.edits.items()}
        for stop in others:
            try:
                found = list(stops(self.sources.text(stop.span.file), stop))
            except PlanError as error:
                raise Trouble(stop.span, "leaves out text where no #error can be put") from error
            edits.setdefault(stop.span.file, {}).update(dict.fromkeys(found))
        assumes = (*((SIZES,) if sizes else ()), *((LEFT_OUT,) if others else ()))
        return replace(one, edits={file: tuple(more) for file, more in sorted(edits.items())}, assumes=assumes)

    def proved(
        self, found: Sequence[Sequence[Way]], divided: Sequence[Tried]
    ) -> tuple[list[Tried], dict[SiteKey, Trouble]]:
        """Of each buffer with a site that its parts keep, the first division that is proved; else why none is."""
        codes = SHARED | WRITTEN
        kept = {site(d) for d in self.plan.decisions if d.decision == "keep" and (d.form or d.code) in codes}
        known = {o for one in divided for o in one.objects}
        out: list[Tried] = []
        notes: dict[SiteKey, Trouble] = {}
        for ways in found:
            sites = self.sites(ways[0].objects)
            if not sites & kept or not known.isdisjoint(ways[0].objects):
                continue
            first: Trouble | None = None
            for way in ways:
                try:
                    one = way.run()
                    self.require_inside(way.key, one.edits)
                    if SIZES in one.assumes and self.strict:
                        span = self.program.variables[way.key].span
                        raise Trouble(span, "has parts that may be of a negative size")
                    out.append(one)
                    first = None
                    break
                except Trouble as trouble:
                    first = first or trouble.with_traceback(None)  # whose frames would keep what was tried
            if first is not None and first.message:
                notes.update(dict.fromkeys(sites, first))
        return out, notes

    def best(self, before: Parted, divided: tuple[Tried, ...], found: list[Tried]) -> tuple[Parted, tuple[Tried, ...]]:
        """The better of a plan, for a program with some buffers divided, and of one with these divided as well."""
        old = converted(before.plan)
        while found:
            found, edits = self.compatible(divided, found)
            tried = self.attempt(edits) if found else None
            if tried is None:
                break
            gained = converted(tried.plan) - old
            helped = [one for one in found if self.sites(one.objects) & gained]
            if len(helped) == len(found):
                if old - converted(tried.plan):
                    break  # another site would be lost
                both = (*divided, *found)
                return replace(tried, plan=self.told_of(tried.plan, both)), both
            found = helped
        return before, divided

    def require_inside(self, key: str, edits: Edits) -> None:
        """Only files below the root are edited.  Raises Trouble."""
        top = os.path.realpath(self.again.root)
        for file in edits:
            if os.path.commonpath([top, standing(file)]) != top:
                raise Trouble(self.program.variables[key].span, f"is named in {file}, outside the root")

    def sites(self, objects: Collection[int]) -> set[SiteKey]:
        """The sites of messages in these objects."""
        return {u.place[:3] for u in self.uses if u.object in objects}

    def compatible(
        self, divided: Sequence[Tried], found: Sequence[Tried]
    ) -> tuple[list[Tried], dict[str, dict[ByteEdit, None]]]:
        """Those divisions whose edits do not contradict one of before; and all edits, by file."""
        out: dict[str, dict[ByteEdit, None]] = {}
        kept: list[Tried] = []
        for one in (*divided, *found):
            trial = {file: {**out.get(file, {}), **dict.fromkeys(more)} for file, more in one.edits.items()}
            try:
                for file, ones in trial.items():
                    apply_edits(self.sources.data(file), ones)
            except EditConflict:
                continue
            kept.append(one)
            out.update(trial)
        return [one for one in kept if one not in divided], out

    def attempt(self, edits: Mapping[str, Mapping[ByteEdit, None]]) -> Parted | None:
        """The plan for the program with these edits; None when it is no program any more."""
        texts = {self.sources.name(file): apply_edits(self.sources.data(file), ones) for file, ones in edits.items()}
        offsets = {self.sources.name(file): Offsets(self.sources.data(file), ones) for file, ones in edits.items()}
        tried = self.again.attempt(texts, offsets, self.plan)
        return None if tried is None else Parted(tried.plan, tried.changed)

    def told_of(self, plan: Plan, divided: Sequence[Tried]) -> Plan:
        """The plan, with what becomes of the divided buffers said at the sites that convert."""
        decisions = list(plan.decisions)
        for one in divided:
            names = [self.program.variables[key].name for key in one.keys]
            sites = self.sites(one.objects)
            for i, d in enumerate(decisions):
                if d.decision == "convert" and site(d) in sites and d.object.partition("[")[0] in names:
                    message = f"{d.message}; `{names[0]}` becomes {one.count} buffers, {PARTED}"
                    resting = sorted({*d.assumptions, *one.assumes})
                    decisions[i] = replace(d, message=message, assumptions=tuple(resting))
        return replace(plan, decisions=tuple(decisions))

    def explained(self, plan: Plan, notes: Mapping[SiteKey, Trouble]) -> Plan:
        """The plan, with what keeps a buffer whole noted at its sites; what another site does is noted there alone."""
        out = []
        calls = {(d.span.file, d.span.line) for d in plan.decisions}
        for d in plan.decisions:
            trouble = notes.get(site(d))
            where = None if trouble is None else (trouble.span.file, trouble.span.line)
            own = where == (d.span.file, d.span.line) or where not in calls
            if trouble is not None and trouble.message and d.code in _BETWEEN and own:
                said = f"its parts stay one buffer: line {trouble.span.line} {trouble.message}"
                d = replace(d, notes=(*d.notes, Note(trouble.span, said)))
            out.append(d)
        return replace(plan, decisions=tuple(out))
