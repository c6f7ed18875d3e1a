"""Arrays whose first zeros are read: tried with the zeros written by the program.

The text that is put in changes nothing of what the program does (``ownership/zeros.py``), and the program that results
is analysed as any other.  Where that makes sites of each such array convert, its plan counts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from opi_xform.cli.again import FIRST_CONTENTS, Again, Site, Tried, converted, site
from opi_xform.ir.ast import Unit
from opi_xform.ir.types import Type
from opi_xform.ownership.model import Program
from opi_xform.ownership.plan import Plan
from opi_xform.ownership.uses import collect
from opi_xform.ownership.zeros import CLEARING, Zeroing, Zeros
from opi_xform.parts.places import Offsets
from opi_xform.rewrite.edit import ByteEdit, EditConflict, apply_edits
from opi_xform.rewrite.errors import PlanError
from opi_xform.rewrite.header import header_edit
from opi_xform.rewrite.insert import Group, around
from opi_xform.rewrite.layout import layout_of
from opi_xform.rewrite.sources import Sources

_HEADER = "string.h"


class Clearing:
    """One use: ``run``."""

    def __init__(self, program: Program, plan: Plan, sources: Sources, again: Again) -> None:
        self.program = program
        self.plan = plan
        self.sources = sources
        self.again = again
        self.uses = collect(program)
        self.root = os.path.realpath(again.root)

    def run(self) -> Tried | None:
        """What is decided with the zeros of some arrays written; None where that is no better.  Raises OSError."""
        found = self.found()
        old = converted(self.plan)
        while found:
            tried = self.attempt(found)
            if tried is None or old - converted(tried.plan):
                return None
            gained = converted(tried.plan) - old
            helped = [one for one in found if self.helps(one, gained)]
            if len(helped) == len(found):
                return replace(tried, plan=self.told_of(tried.plan, found))
            found = helped
        return None

    def helps(self, one: Zeros, gained: set[Site]) -> bool:
        """A site of the array converts.  Receives of whole numbers are not taken for that: these zeros may end what
        comes without an end (as an initialiser may, ``ended_by_initialiser``).
        """
        mine = {u.place[:3] for u in self.uses if u.object == one.o} & gained
        elem: Type | None = self.program.variables[one.key].type
        while elem is not None and elem.is_array:
            elem = elem.elem
        numbers = elem is not None and elem.kind == "float"
        return bool(mine) and (numbers or all(side == "send" for _, _, side in mine))

    def found(self) -> list[Zeros]:
        """One for each array with a site that its first contents keep."""
        places: dict[int, set[tuple[str, int, int]]] = {}
        kept = {site(d): d for d in self.plan.decisions if d.decision == "keep" and d.code in FIRST_CONTENTS}
        for use in self.uses:
            d = kept.get(use.place[:3])
            if d is not None:
                notes = ((n.span.file, n.span.begin, n.span.end) for n in d.notes)
                places.setdefault(use.object, set()).update(notes)
        if not places:
            return []
        zeroing = Zeroing(self.program)
        all_ = [zeroing.of(o, readers) for o, readers in sorted(places.items())]
        return [one for one in all_ if one is not None and self.inside(one.anchor.file)]

    def inside(self, file: str) -> bool:
        """The file is one that may be edited, and no other one has its text: that would run there as well."""
        below = os.path.commonpath([self.root, os.path.realpath(file)]) == self.root
        return below and len(self.readers(self.sources.name(file))) == 1

    def readers(self, file: str) -> list[Unit]:
        return [u for u in self.again.units if any(self.sources.name(f) == file for f in (u.path, *u.files))]

    def attempt(self, found: Sequence[Zeros]) -> Tried | None:
        edits: dict[str, list[ByteEdit]] = {}
        try:
            for one in found:
                text = self.sources.text(one.anchor.file)
                group = Group(one.anchor, (one.text,), (), False)
                edits.setdefault(self.sources.name(one.anchor.file), []).extend(
                    around(text, layout_of(text.data), group)
                )
            for file, ones in edits.items():
                ones.extend(self.header(file))
            texts = {file: apply_edits(self.sources.data(file), ones) for file, ones in edits.items()}
        except (PlanError, EditConflict):
            return None
        moved = {file: Offsets(self.sources.data(file), ones) for file, ones in edits.items()}
        return self.again.attempt(texts, moved, self.plan)

    def header(self, file: str) -> list[ByteEdit]:
        """The include that declares the call, where a unit that reads the file has none."""
        if all(CLEARING in unit.declared for unit in self.readers(file)):
            return []
        edit = header_edit(self.sources.text(file), _HEADER)
        if edit is None:
            return []
        return [replace(edit, text=edit.text.replace(b'"' + _HEADER.encode() + b'"', b"<" + _HEADER.encode() + b">"))]

    def told_of(self, plan: Plan, found: Sequence[Zeros]) -> Plan:
        """The plan, with what is written for an array said at its sites that convert."""
        decisions = list(plan.decisions)
        for one in found:
            sites = {u.place[:3] for u in self.uses if u.object == one.o}
            name = self.program.variables[one.key].name
            for i, d in enumerate(decisions):
                if d.decision == "convert" and site(d) in sites:
                    said = f"the zeros that `{name}` begins with are written before line {one.anchor.line}"
                    decisions[i] = replace(d, message=f"{d.message}; {said}")
        return replace(plan, decisions=tuple(decisions))
