"""Edits that belong into the bodies of macros: made in uses of these, which are written out.

A body serves all uses of its macro, so no edit is made there.  Where a site stays, the uses that make something of what
may be edited are written out (``frontend/macros/written_out.py``), and the program that results is analysed as any
other. Where that makes sites convert, the uses with an edit in what the body makes are those that the user sees written
out.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.file_names import standing
from opi_xform.frontend import FrontendError
from opi_xform.frontend.macros.macro_uses import Reading, Use, Wanted, read
from opi_xform.frontend.macros.wanted_text import WantedText
from opi_xform.ir.ast import Unit
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Edit, InsertStatement, LinkName, Plan, PointerDeclaration, ReplaceCall
from opi_xform.parallel import each
from opi_xform.rewrite.mirror import lay_out, mirrored, mirrored_flags, original
from opi_xform.rewrite.written_out import Change, Key, Text
from opi_xform.text.mapped import Mapped
from opi_xform.text.sources import Sources

LEVELS = 6  # macros in the bodies of macros
GROWTH, ENOUGH = 4, 4096  # a text that gets larger than so many times its size, and more, is not made

ALLOCATING = frozenset(("malloc", "calloc", "realloc", "free", "posix_memalign", "aligned_alloc", "memalign", "valloc"))
PARSED = 4
"""Buffers that are judged in the time in which a file is read."""
_COMPLETING = ("MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Request_free")
_WORD = re.compile(r"[A-Za-z_]\w*")
_MAKES = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+\w+(?:\(|[ \t(]+[A-Za-z_])", re.MULTILINE)

Texts = Mapping[str, Text]
"""By file; those that have no use written out are not there."""


class WritingOut:
    """One program: ``run``."""

    def __init__(self, again: Again, plan: Plan, processes: int = 1) -> None:
        self.again = again
        self.processes = processes
        self.plan = plan
        self.sources = again.sources
        self.wanted = _wanted(again, plan)
        self.root = os.path.realpath(again.root)
        files = (dict.fromkeys(map(self.sources.name, (unit.path, *unit.files))) for unit in again.units)
        self.readers = Counter(file for found in files for file in found)

    def run(self) -> Tried | None:
        """What is decided of the program with uses written out; None where that is no better.  Raises OSError."""
        texts = self.texts(lambda _: True)
        best = self.attempt(texts)
        if best is None:
            return None
        needed = self.needed(best, texts)
        fewer = self.texts(lambda key: key in needed)
        if _keys(fewer) != _keys(texts):
            tried = self.attempt(fewer)
            if tried is not None and converted(tried.plan) >= converted(best.plan):
                best, texts = replace(tried, plan=_with_reasons(tried.plan, best.plan)), fewer
        return replace(best, plan=_told(best.plan, texts))

    def inside(self, file: str) -> bool:
        return os.path.commonpath([self.root, standing(file)]) == self.root

    @cached_property
    def text(self) -> WantedText:
        """What the text alone tells of the uses that are wanted."""
        words = self.wanted.calls | self.wanted.made | self.wanted.names
        return WantedText({file: self.sources.data(file) for file in self.readers}, words)

    # --- texts --------------------------------------------------------------------------------------------------------

    def texts(self, chosen: Callable[[Key], bool]) -> Texts:
        """The files with the chosen uses written out, one level of bodies after the other."""
        texts: dict[str, Text] = {}
        for _ in range(LEVELS):
            readings = self.readings(texts, self.wanted, False, not texts)
            changes = self.changes(readings, texts, chosen) if readings is not None else None
            if changes is None:
                return {}
            if not changes:
                break
            for file, found in changes.items():
                texts[file] = texts.get(file, Text(Mapped(self.sources.data(file)))).written(found)
                if len(texts[file].mapped.data) > GROWTH * len(self.sources.data(file)) + ENOUGH:
                    return {}
        return texts

    def changes(
        self, readings: Sequence[Reading], texts: Texts, chosen: Callable[[Key], bool]
    ) -> dict[str, list[Change]]:
        """The outermost uses that are chosen, by file.  All units that read a text have to say the same of it."""
        uses: dict[tuple[str, int], Use | None] = {}
        said: Counter[tuple[str, int]] = Counter()
        for reading in readings:
            for one in reading.uses:
                said[one.file, one.begin] += 1
                if uses.setdefault((one.file, one.begin), one) != one:
                    uses[one.file, one.begin] = None
        out: dict[str, list[Change]] = {}
        ends: dict[str, int] = {}
        counts: Counter[tuple[str, int, int, str]] = Counter()
        for file, begin in sorted(uses):
            use = uses[file, begin]
            if use is None or said[file, begin] < self.readers[file]:
                continue
            if begin < ends.get(file, 0) or not self.inside(file):
                continue
            key = _key(use, texts.get(file), counts)
            if chosen(key):
                ends[file] = use.end
                out.setdefault(file, []).append(Change(key, begin, use.end, use.pieces))
        return out

    def readings(self, texts: Texts, wanted: Wanted | None, trees: bool, every: bool = False) -> list[Reading] | None:
        """Of the units that read one of these texts, or of every one that may have a use that is wanted.

        None where one does not compile.
        """
        with tempfile.TemporaryDirectory(prefix="opi-xform-") as folder:
            top = os.path.realpath(folder)

            def reading(unit: Unit) -> Reading | None:
                path = mirrored(top, self.sources.name(unit.path))
                try:
                    found = read(path, mirrored_flags(top, self.again.flags(unit.path)), wanted, top, trees)
                except FrontendError:
                    return None
                uses = tuple(replace(u, file=self.sources.name(original(top, u.file))) for u in found.uses)
                return replace(found, uses=uses)

            lay_out(top, self.again.units, {file: text.mapped.data for file, text in texts.items()}, self.sources)
            units = []
            for unit in self.again.units:
                files = [self.sources.name(file) for file in (unit.path, *unit.files)]
                if self.text.may_be_in(files) if every else any(file in texts for file in files):
                    units.append(unit)
            found = each(reading, units, self.processes, PARSED * len(units))
        out = [one for one in found if one is not None]
        return out if len(out) == len(found) else None

    # --- attempts -----------------------------------------------------------------------------------------------------

    def attempt(self, texts: Texts) -> Tried | None:
        """What is decided of the program with these texts: of the same one, where it is better."""
        if not texts or not self.is_same(texts):
            return None
        once = Counter(map(site, self.plan.decisions))
        old = Plan(tuple(d for d in self.plan.decisions if once[site(d)] == 1))
        data = {file: text.mapped.data for file, text in texts.items()}
        tried = self.again.attempt(data, {file: text.mapped for file, text in texts.items()}, old)
        return tried if tried is not None and converted(tried.plan) > converted(self.plan) else None

    def is_same(self, texts: Texts) -> bool:
        """The program with these texts has the same trees as the one that the user wrote."""
        new = self.readings(texts, None, True)
        plain = {file: Text(Mapped(self.sources.data(file))) for file in texts}
        old = self.readings(plain, None, True)
        return new is not None and old is not None and [r.shape for r in new] == [r.shape for r in old]

    def needed(self, tried: Tried, texts: Texts) -> set[Key]:
        """The uses with an edit in what their macros' bodies make, and those in whose bodies these stand."""
        parents = {r.key: r.parent for text in texts.values() for r in text.regions}
        needed: set[Key] = set()
        for file, edit in tried.edits:
            regions = texts[file].regions if file in texts else ()
            for span in _edited(edit):
                needed.update(region.key for region in regions if region.makes(span.begin, span.end))
        work = list(needed)
        while work:
            parent = parents.get(work.pop())
            if parent is not None and parent not in needed:
                needed.add(parent)
                work.append(parent)
        return needed


def _keys(texts: Texts) -> set[Key]:
    return {region.key for text in texts.values() for region in text.regions}


def _key(use: Use, text: Text | None, counts: Counter[tuple[str, int, int, str]]) -> Key:
    """What the use is known by, whatever else is written out."""
    if text is None:
        begin, end = use.begin, use.end
    else:
        begin, end = text.mapped.before(use.begin, False), text.mapped.before(use.end, True)
    base = (use.file, begin, end, use.name)
    written = sum(r.key[:4] == base and r.begin < use.begin for r in text.regions) if text is not None else 0
    counts[base] += 1
    return (*base, written + counts[base] - 1)


def makes_code(units: Sequence[Unit], sources: Sources, root: str) -> bool:
    """A file below the root defines a macro that is more than a number."""
    files = {sources.name(file) for unit in units for file in (unit.path, *unit.files)}
    top = os.path.realpath(root)
    return any(_MAKES.search(sources.data(file)) for file in files if os.path.commonpath([top, file]) == top)


def _wanted(again: Again, plan: Plan) -> Wanted:
    """What may be edited for the sites that stay."""
    kept = [d for d in plan.decisions if d.decision == "keep"]
    declared = {name for unit in again.units for name in unit.declared}
    calls = {d.call for d in kept} | {name for name in declared if name.startswith(_COMPLETING)} | ALLOCATING
    made = {function.name for unit in again.units for function in unit.functions.values()}
    names = {word for d in kept for word in _WORD.findall(f"{d.object} {d.buffer}")}
    return Wanted(frozenset(calls), frozenset(made), frozenset(names))


def _edited(edit: Edit) -> Iterator[Span]:
    """The places of an edit."""
    match edit:
        case ReplaceCall(callee=callee, arguments=arguments):
            yield callee
            yield from (span for span, _ in arguments)
        case InsertStatement(anchor=span):
            yield span
        case PointerDeclaration(statement=span) | LinkName(declarator_name=span):
            yield span
        case _:
            yield edit.span


def _with_reasons(plan: Plan, other: Plan) -> Plan:
    """The plan, with what keeps sites where more uses are written out: less of it is about macros."""
    reasons = {site(d): d for d in other.decisions if d.decision == "keep"}
    decisions = tuple(reasons.get(site(d), d) if d.decision == "keep" else d for d in plan.decisions)
    return replace(plan, decisions=decisions, diagnostics=other.diagnostics)


def _told(plan: Plan, texts: Texts) -> Plan:
    """The plan, with the macro that is written out said at each call."""
    decisions = list(plan.decisions)
    for i, d in enumerate(decisions):
        regions = texts[d.span.file].regions if d.span.file in texts else ()
        names = dict.fromkeys(r.key[3] for r in regions if r.key[1] <= d.span.begin < r.key[2])
        if names and d.decision == "convert":
            said = " and ".join(f"`{name}`" for name in names)
            decisions[i] = replace(d, message=f"{d.message}; {said} is written out here")
    return replace(plan, decisions=tuple(decisions))
