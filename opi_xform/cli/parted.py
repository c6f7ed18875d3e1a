"""Buffers that several messages share: tried as several buffers.

Where each access of a buffer lies in one of its parts, the source is rewritten to a buffer for each (``parts``), and
the program that results is analysed as any other.  Where that makes sites convert, its plan counts, with all places
told as they are in the program that the user wrote; else the program stays as it is.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from opi_xform.frontend import FrontendError
from opi_xform.ir.ast import Unit
from opi_xform.ir.span import Span
from opi_xform.ownership.model import Program
from opi_xform.ownership.plan import Decision, Note, Plan, Told
from opi_xform.ownership.uses import collect
from opi_xform.parts import SHARED
from opi_xform.parts.find import Candidate, Dividing, candidates
from opi_xform.parts.flow import Trouble
from opi_xform.parts.places import Offsets
from opi_xform.parts.spell import Spelling
from opi_xform.record import dataclass
from opi_xform.rewrite.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.rewrite.mirror import lay_out, mirrored, mirrored_flags
from opi_xform.rewrite.sources import Sources

SIZES = "A3"
PARTED = "one for each of its parts"
"""Said of sites whose buffer was divided."""

_BETWEEN = frozenset({"OPI101", "OPI102", "OPI104", "OPI201", "OPI202", "OPI204"})
"""Reasons that parts of one buffer give each other."""

Site = tuple[str, int, str]  # file, offset of the call, side
Edits = Mapping[str, tuple[ByteEdit, ...]]
Parse = Callable[[Sequence[tuple[str, tuple[str, ...]]]], Sequence[Unit | FrontendError]]
Analyse = Callable[[Sequence[Unit], Sources, str, tuple[Told, ...]], tuple[Plan, dict[str, bytes]]]
"""Units, their files, the root, what is told -> the plan and what it makes of the files."""


@dataclass(frozen=True, slots=True)
class Parted:
    """A plan for a program with divided buffers: its places are the old program's.  ``changed``: the new contents."""

    plan: Plan
    changed: dict[str, bytes] | None


class Parting:
    """One use: ``run``."""

    def __init__(
        self,
        program: Program,
        plan: Plan,
        units: Sequence[Unit],
        flags: Callable[[str], tuple[str, ...]],
        sources: Sources,
        root: str,
        told: Sequence[Told],
        parse: Parse,
        analyse: Analyse,
        strict: bool = False,
    ) -> None:
        self.program = program
        self.plan = plan
        self.units = units
        self.flags = flags
        self.sources = sources
        self.root = root
        self.told = told
        self.parse = parse
        self.analyse = analyse
        self.strict = strict

    def run(self) -> Parted:
        """The better plan; ``changed`` is None where it is the old one (with what keeps buffers whole told)."""
        found = candidates(self.program)
        if not found:
            return Parted(self.plan, None)
        sites = self.sites(found)
        kept = {site(d) for d in self.plan.decisions if d.decision == "keep" and d.code in SHARED}
        divisions: dict[str, Edits] = {}
        counts: dict[str, int] = {}
        assuming: set[str] = set()
        troubles: dict[str, Trouble] = {}
        for candidate in found:
            if not sites[candidate.key] & kept:
                continue
            try:
                division = Dividing(self.program, candidate, self.sources.data).run()
                edits = Spelling(self.program, division, self.sources.data).run()
                self.require_inside(candidate, edits)
                if division.assumes and self.strict:
                    raise Trouble(
                        self.program.variables[candidate.key].span, "has parts that may be of a negative size"
                    )
                if division.assumes:
                    assuming.add(candidate.key)
                divisions[candidate.key], counts[candidate.key] = edits, division.layout.count
            except Trouble as trouble:
                if trouble.message:
                    troubles[candidate.key] = trouble
        best = Parted(self.plan, None)
        while divisions:
            tried = self.attempt(self.compatible(divisions))
            if tried is None:
                break
            gained = converted(tried.plan) - converted(self.plan)
            helped = {key: edits for key, edits in divisions.items() if sites[key] & gained}
            if len(helped) == len(divisions) and not converted(self.plan) - converted(tried.plan):
                known = {key: counts[key] for key in divisions}
                best = replace(tried, plan=self.told_of(tried.plan, sites, known, assuming))
                break
            if len(helped) == len(divisions):
                break  # another site would be lost
            divisions = helped
        notes = {s: trouble for key, trouble in troubles.items() for s in sites[key]}
        return replace(best, plan=self.explained(best.plan, notes))

    def require_inside(self, candidate: Candidate, edits: Edits) -> None:
        """Only files below the root are edited.  Raises Trouble."""
        top = os.path.realpath(self.root)
        for file in edits:
            if os.path.commonpath([top, os.path.realpath(file)]) != top:
                raise Trouble(self.program.variables[candidate.key].span, f"is named in {file}, outside the root")

    def sites(self, found: Sequence[Candidate]) -> dict[str, set[Site]]:
        out: dict[str, set[Site]] = {candidate.key: set() for candidate in found}
        uses = collect(self.program)
        for candidate in found:
            out[candidate.key] = {u.place[:3] for u in uses if u.object in candidate.objects}
        return out

    def compatible(self, divisions: dict[str, Edits]) -> dict[str, dict[ByteEdit, None]]:
        """The edits of those divisions, by file, that do not contradict one of before; the others go."""
        out: dict[str, dict[ByteEdit, None]] = {}
        for key, edits in list(divisions.items()):
            trial = {file: {**out.get(file, {}), **dict.fromkeys(more)} for file, more in edits.items()}
            try:
                for file, ones in trial.items():
                    apply_edits(self.sources.data(file), ones)
            except EditConflict:
                del divisions[key]
                continue
            out.update(trial)
        return out

    def attempt(self, edits: Mapping[str, Mapping[ByteEdit, None]]) -> Parted | None:
        """The plan for the program with these edits; None when it is no program any more."""
        texts = {self.sources.name(file): apply_edits(self.sources.data(file), ones) for file, ones in edits.items()}
        offsets = {self.sources.name(file): Offsets(self.sources.data(file), ones) for file, ones in edits.items()}
        with tempfile.TemporaryDirectory(prefix="opi-xform-") as folder:
            top = os.path.realpath(folder)
            lay_out(top, self.units, texts, self.sources)
            jobs = [
                (mirrored(top, self.sources.name(u.path)), mirrored_flags(top, self.flags(u.path))) for u in self.units
            ]
            units: list[Unit] = []
            for result in self.parse(jobs):
                if isinstance(result, FrontendError) or any(d.severity == "error" for d in result.diagnostics):
                    return None
                units.append(result)
            back = Back(top, offsets, self.sources)
            told = tuple(self.moved(one, top, offsets) for one in self.told)
            files = Sources()
            plan, changed = self.analyse(units, files, mirrored(top, self.root), told)
            return Parted(back.plan(plan, self.plan), {**texts, **{back.file(n): data for n, data in changed.items()}})

    def moved(self, told: Told, top: str, offsets: Mapping[str, Offsets]) -> Told:
        file = self.sources.name(told.file)
        known = offsets.get(file)
        begin, end = told.begin, told.end
        if known is not None:
            begin, end = known.after(begin, False), known.after(end, True)
        return replace(told, file=mirrored(top, file), begin=begin, end=end)

    def told_of(
        self, plan: Plan, sites: Mapping[str, set[Site]], counts: Mapping[str, int], assuming: Collection[str]
    ) -> Plan:
        """The plan, with what becomes of the divided buffers said at the sites that convert."""
        decisions = list(plan.decisions)
        for key, count in counts.items():
            name = self.program.variables[key].name
            for i, d in enumerate(decisions):
                if d.decision == "convert" and site(d) in sites[key] and d.object.partition("[")[0] == name:
                    message = f"{d.message}; `{name}` becomes {count} buffers, {PARTED}"
                    resting = sorted({*d.assumptions, *((SIZES,) if key in assuming else ())})
                    decisions[i] = replace(d, message=message, assumptions=tuple(resting))
        return replace(plan, decisions=tuple(decisions))

    def explained(self, plan: Plan, notes: Mapping[Site, Trouble]) -> Plan:
        """The plan, with what keeps a buffer whole noted at its sites."""
        out = []
        for d in plan.decisions:
            trouble = notes.get(site(d))
            if trouble is not None and d.code in _BETWEEN:
                said = f"its parts stay one buffer: line {trouble.span.line} {trouble.message}"
                d = replace(d, notes=(*d.notes, Note(trouble.span, said)))
            out.append(d)
        return replace(plan, decisions=tuple(out))


class Back:
    """From the mirror, and its rewritten texts, to the program as it is."""

    def __init__(self, top: str, offsets: Mapping[str, Offsets], sources: Sources) -> None:
        self.top = top
        self.offsets = offsets
        self.sources = sources

    def file(self, name: str) -> str:
        return self.sources.name(name[len(self.top) :]) if name.startswith(self.top + os.sep) else name

    def span(self, span: Span) -> Span:
        file = self.file(span.file)
        known = self.offsets.get(file)
        return replace(span, file=file) if known is None or file == span.file else known.span(span, file)

    def decision(self, d: Decision) -> Decision:
        notes = tuple(Note(self.span(note.span), note.message.replace(self.top, "")) for note in d.notes)
        return replace(d, span=self.span(d.span), message=d.message.replace(self.top, ""), notes=notes)

    def plan(self, plan: Plan, old: Plan) -> Plan:
        """The plan's decisions and remarks, each buffer in the words of the program as it is."""
        words = {site(d): d.buffer for d in old.decisions}
        decisions = [self.decision(d) for d in plan.decisions]
        decisions = [replace(d, buffer=words.get(site(d), d.buffer)) for d in decisions]
        return Plan(tuple(decisions), diagnostics=tuple(self.decision(d) for d in plan.diagnostics))


def site(d: Decision) -> Site:
    return (d.span.file, d.span.begin, d.side)


def converted(plan: Plan) -> set[Site]:
    return {site(d) for d in plan.decisions if d.decision == "convert"}
