"""Receives in a loop into stretches of one buffer: tried with a table of blocks, one for each message.

Where what comes is read, up to the end of the block, only in the stretch of the message that brought it
(``divide/passages/tables.py``, ``table_proof.py``), the source is rewritten to a table whose rows are these stretches,
and the program that results is analysed as any other.  Where that makes the message's site convert, its plan counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.attempts.again import Again
from opi_xform.attempts.computed_starts import Edits, Ready, Starting, kept_sites
from opi_xform.divide.passages.proof import single, told_one_by_one
from opi_xform.divide.passages.table_proof import MarkedTable, ProvedTable, TableProof
from opi_xform.divide.passages.table_spell import RowNames, TableSpelling
from opi_xform.divide.passages.tables import Table, tables
from opi_xform.divide.places import Offsets
from opi_xform.ir import ast
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Plan
from opi_xform.rewrite.mirror import mirrored
from opi_xform.text.edit import ByteEdit
from opi_xform.text.errors import PlanError

Place = tuple[str, int]


class Tabling(Starting):
    """One use: ``run``."""

    def __init__(
        self, program: Program, units: Sequence[ast.Unit], plan: Plan, again: Again, strict: bool = False
    ) -> None:
        super().__init__(program, units, plan, again, strict)
        self.rows = TableSpelling(program, self.sources)

    def proved(self) -> list[Ready]:
        if self.strict or not told_one_by_one(self.program) or not self.spelling.possible():
            return []
        found = tables(self.program, kept_sites(self.plan), self.own(), self.sources.data)
        found = [one for one in found if self.untouched(one)]
        uses = self.spelling.uses
        found = [t for t in found if all(single(self.program, uses, u) for u in uses if u.place == t.place)]
        edits: Edits = {}
        marked: list[Table] = []
        for one in found:
            try:
                more = list(self.rows.table_marks(one))
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
        proof = TableProof(program, self.strict)
        held: list[tuple[Table, ProvedTable, dict[Place, Place]]] = []
        for one in marked:
            file = self.sources.name(one.place[0])
            there, after = mirrored(top, file), offsets[file].after
            moved = {m.place: (there, after(m.ref.span.begin, False)) for m, _ in one.mentions}
            place = (there, after(one.place[1], False), one.place[2], one.place[3])
            rows: dict[Place, list[RowNames]] = {}
            for spot, _, names in self.rows.row_names(one):
                rows.setdefault(moved[spot], []).append(names)
            spots = tuple((spot, tuple(names)) for spot, names in rows.items())
            known = proof.table(MarkedTable(place, *self.rows.mark_names(one), spots))
            if known is not None:
                held.append((one, known, moved))
        rests = proof.together([known for _, known, _ in held])
        program.end()
        out: list[Ready] = []
        for i, (one, known, moved) in enumerate(held):
            ready = self.ready_table(one, known, moved, rests[i]) if i in rests else None
            if ready is not None:
                out.append(ready)
        return out

    def ready_table(
        self, one: Table, known: ProvedTable, moved: dict[Place, Place], assumes: tuple[str, ...]
    ) -> Ready | None:
        """None where it cannot be written."""
        chosen = dict(known.chosen)
        rows = {m.place: of_m[chosen[moved[m.place]]] for m, of_m in one.mentions}

        def spelled() -> list[ByteEdit]:
            return list(self.rows.table_blocks(one, rows, not known.bytes))

        return self.written(one, assumes, spelled)
