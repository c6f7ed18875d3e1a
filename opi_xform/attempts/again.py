"""The program with other texts of some of its files, analysed as any other, and told in places of the one that the user
wrote.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from opi_xform.divide.places import Offsets
from opi_xform.file_names import standing
from opi_xform.frontend import FrontendError
from opi_xform.frontend.pickling import renamed
from opi_xform.ir.ast import Unit, Units
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Edit, Note, Plan, SiteKey, Told
from opi_xform.record import dataclass
from opi_xform.rewrite.apply import place_of
from opi_xform.rewrite.mirror import lay_out, mirrored, mirrored_flags
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.text.sources import Sources

if TYPE_CHECKING:
    from opi_xform.ownership.model.buffers import Program

Job = tuple[str, tuple[str, ...]]  # a file and its flags
Parse = Callable[[Sequence[Job]], Sequence[Unit | FrontendError]]
Known = Callable[[Sequence[Unit]], "Program | None"]
"""The program of some units, of which nothing is decided; None: it is too large."""
Analysed = tuple["Program | None", Plan, dict[str, bytes]]
"""The program, the plan and what it makes of the files."""
Analyse = Callable[[Sequence[Unit], Sources, str, tuple[Told, ...], int, bool, bool], Analysed]
"""Units, their files, the root, what is told, how many sites are not enough to ask why others stay, and whether one
malloc may have become several, and subscripts have been a pointer's (``Options``)."""
Further = Callable[["Again", "Program", Plan], tuple[Plan, dict[str, bytes] | None]]
"""A better plan for a program that is analysed again, and what that makes of the files where its edits do not tell."""


_LINES = re.compile(r"(`[^`]*`)|\bline ([0-9]+(?: and [0-9]+(?![0-9]| other))*)(?: of ([\w+-]+(?:\.[\w+-]+)+))?")
"""Lines in a message, with the name of their file where it is another one than the call's; what is quoted is none, nor
is a number of other lines ("line 4 and 2 other lines")."""


class Moved(Protocol):
    """Places in a text that was rewritten, and the same places in the text before."""

    def after(self, offset: int, ends: bool) -> int:
        """Where a place of the old text is in the new one."""

    def span(self, span: Span, file: str) -> Span:
        """A span of the new text as one of the old."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A plan in places of the old program; the new contents of files; the edits, in places of the new texts, by file of
    the old program.
    """

    plan: Plan
    changed: dict[str, bytes]
    edits: tuple[tuple[str, Edit], ...]


@dataclass(frozen=True, slots=True)
class Again:
    """How a program is parsed and analysed.  known: what is known of units before anything is decided.

    further: what else is tried with each other text of it.  reasons: what the sites of the old program stay for says
    nothing of the other text, so it is found out anew.  wordless: nobody reads why sites stay, whatever converts.
    renames: the other text calls the same functions, in the same places.  rewritten: this one may not, see ``Options``.
    pointers: see there.
    """

    units: Sequence[Unit]
    flags: Callable[[str], tuple[str, ...]]
    sources: Sources
    root: str
    told: Sequence[Told]
    parse: Parse
    analyse: Analyse
    known: Known
    further: Further | None = None
    reasons: bool = False
    wordless: bool = False
    renames: bool = False
    rewritten: bool = False
    pointers: bool = False

    def attempt(self, texts: Mapping[str, bytes], moved: Mapping[str, Moved], old: Plan) -> Tried | None:
        """What is decided of the program with these texts; None when it is no program any more.

        Where no more sites convert than those of ``old``, it is not said why the others stay.
        """
        with tempfile.TemporaryDirectory(prefix="opi-xform-") as folder:
            top = os.path.realpath(folder)
            found_units = self._parsed(top, texts)
            if found_units is None:
                return None
            units, jobs = found_units
            back = Back(top, moved, self.sources, texts)
            told = tuple(self._moved(one, top, moved) for one in self.told)
            files, root = Sources(), mirrored(top, self.root)
            least = sys.maxsize if self.wordless else -1 if self.reasons else len(converted(old))
            rewritten = self.rewritten or not self.renames
            program, plan, changed = self.analyse(units, files, root, told, least, rewritten, self.pointers)
            if self.further is not None and program is not None:
                flags = {unit.path: own for unit, (_, own) in zip(units, jobs, strict=True)}
                inner = Again(units, flags.__getitem__, files, root, told, self.parse, self.analyse, self.known)
                inner = replace(inner, rewritten=rewritten, pointers=self.pointers)
                found, better = self.further(inner, program, plan if self.reasons else back.with_reasons(plan, old))
                if better is not None:
                    plan, changed = found, better
            if program is not None:
                program.end()
            edits = tuple((back.file(place_of(edit).file), edit) for edit in plan.edits)
            contents = {**texts, **{back.file(name): data for name, data in changed.items()}}
            return Tried(back.plan(plan, old), contents, edits)

    def inside(self, files: Iterable[str]) -> bool:
        """All of these files lie below the root: they may be edited."""
        top = os.path.realpath(self.root)
        return all(os.path.commonpath([top, standing(file)]) == top for file in files)

    def better(self, ways: Sequence[Mapping[str, Collection[ByteEdit]]], old: Plan) -> Tried | None:
        """What is decided of the program with all of these edits, each once, by file; None where no more converts."""
        edits: dict[str, dict[ByteEdit, None]] = {}
        for way in ways:
            for file, ones in way.items():
                edits.setdefault(self.sources.name(file), {}).update(dict.fromkeys(ones))
        try:
            texts = {file: apply_edits(self.sources.data(file), ones) for file, ones in edits.items()}
        except EditConflict:
            return None
        moved: Mapping[str, Moved] = {file: Offsets(self.sources.data(file), ones) for file, ones in edits.items()}
        tried = self.attempt(texts, moved, old)
        return tried if tried is not None and converted(tried.plan) > converted(old) else None

    def look(self, texts: Mapping[str, bytes]) -> tuple[Program, str] | None:
        """The program with these texts, and the folder in which its files lay; None when it is none, or too large."""
        with tempfile.TemporaryDirectory(prefix="opi-xform-") as folder:
            top = os.path.realpath(folder)
            found = self._parsed(top, texts)
            program = None if found is None else self.known(found[0])
            return None if program is None else (program, top)

    def _parsed(self, top: str, texts: Mapping[str, bytes]) -> tuple[Units, list[Job]] | None:
        """The units with these texts, and what was parsed, in a copy below a folder."""
        lay_out(top, self.units, texts, self.sources)
        jobs = [(mirrored(top, self.sources.name(u.path)), mirrored_flags(top, self.flags(u.path))) for u in self.units]
        known = [self._unchanged(top, texts, unit) for unit in self.units]
        parsed = iter(self.parse([job for job, unit in zip(jobs, known, strict=True) if unit is None]))
        units: list[Unit] = []
        for unit in known:
            result = unit or next(parsed)
            if isinstance(result, FrontendError) or any(d.severity == "error" for d in result.diagnostics):
                return None
            units.append(result)
        return Units.of(units), jobs

    def _unchanged(self, top: str, texts: Mapping[str, bytes], unit: Unit) -> Unit | None:
        """The unit in the copy, where all that it was made of is as before; None: it has to be parsed."""
        names = {file: self.sources.name(file) for file in (unit.path, *unit.files)}
        if not texts.keys().isdisjoint(names.values()):
            return None
        try:
            return renamed(unit, {file: mirrored(top, name) for file, name in names.items()})
        except RecursionError:
            return None

    def _moved(self, told: Told, top: str, moved: Mapping[str, Moved]) -> Told:
        file = self.sources.name(told.file)
        known = moved.get(file)
        begin, end = told.begin, told.end
        if known is not None:
            begin, end = known.after(begin, False), known.after(end, True)
        return replace(told, file=mirrored(top, file), begin=begin, end=end)


class Back:
    """From the mirror, and its rewritten texts, to the program as it is."""

    def __init__(
        self, top: str, moved: Mapping[str, Moved], sources: Sources, texts: Mapping[str, bytes] | None = None
    ) -> None:
        """texts: those that were rewritten, by the files of the program as it is."""
        self.top = top
        self.moved = moved
        self.sources = sources
        self.texts = texts or {}
        self.starts: dict[str, list[int]] = {}  # by file: where the lines of its new text begin

    def file(self, name: str) -> str:
        return self.sources.name(name[len(self.top) :]) if name.startswith(self.top + os.sep) else name

    def span(self, span: Span) -> Span:
        file = self.file(span.file)
        known = self.moved.get(file)
        return replace(span, file=file) if known is None or file == span.file else known.span(span, file)

    def decision(self, d: Decision) -> Decision:
        notes = tuple(Note(self.span(note.span), self.words(note.message, note.span.file)) for note in d.notes)
        advice = d.advice
        if advice is not None:
            words, spans = self.words(advice.words, d.span.file), tuple(map(self.span, advice.spans))
            advice = replace(advice, words=words, spans=spans)
        message = self.words(d.message, d.span.file)
        return replace(d, span=self.span(d.span), message=message, notes=notes, advice=advice)

    def words(self, message: str, file: str) -> str:
        """A message about a place in ``file``: without the mirror, its lines those of the program as it is."""

        def lines(found: re.Match[str]) -> str:
            if found[1]:
                return found[0]
            mine = self.file(file)
            of = {f for f in self.texts if os.path.basename(f) == found[3]} if found[3] else {mine}
            where = {self.line(f, int(n)) for f in of for n in found[2].split(" and ")}
            if not of or len(of) > 1:
                return found[0]  # none that was rewritten, or several by one name
            return found[0].replace(found[2], " and ".join(map(str, sorted(where))), 1)

        return _LINES.sub(lines, message.replace(self.top, ""))

    def line(self, file: str, line: int) -> int:
        """A line of the new text of a file as one of the old."""
        text, moved = self.texts.get(file), self.moved.get(file)
        if text is None or moved is None:
            return line
        if file not in self.starts:
            self.starts[file] = [0, *(i + 1 for i, byte in enumerate(text) if byte == 10)]
        starts = self.starts[file]
        if not 0 < line < len(starts):
            return line
        begin, end = starts[line - 1], starts[line] - 1
        begin += len(text[begin:end]) - len(text[begin:end].lstrip())
        return moved.span(Span(file, begin, begin, line, 1), file).line

    def with_reasons(self, plan: Plan, old: Plan) -> Plan:
        """The new plan, its sites that stay with the codes that they had: it may not have been asked for its own."""
        known = {site(d): d for d in old.decisions if d.decision == "keep"}
        decisions = []
        for d in plan.decisions:
            before = known.get(site(self.decision(d))) if d.decision == "keep" else None
            decisions.append(d if before is None else replace(d, code=before.code, form=before.form))
        return replace(plan, decisions=tuple(decisions))

    def plan(self, plan: Plan, old: Plan) -> Plan:
        """The plan's decisions and remarks, each buffer in the words of the program as it is."""
        words = {site(d): d.buffer for d in old.decisions}
        decisions = [self.decision(d) for d in plan.decisions]
        decisions = [replace(d, buffer=words.get(site(d), d.buffer)) for d in decisions]
        return Plan(tuple(decisions), diagnostics=tuple(self.decision(d) for d in plan.diagnostics))


def site(d: Decision) -> SiteKey:
    return (d.span.file, d.span.begin, d.side)


def converted(plan: Plan) -> set[SiteKey]:
    return {site(d) for d in plan.decisions if d.decision == "convert"}
