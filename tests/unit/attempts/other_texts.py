"""A program of one file that can be analysed with other texts: what an attempt is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ownership_support import source_in

from opi_xform.analysis import plans
from opi_xform.attempts.again import Again, Analysed, Job
from opi_xform.frontend import parse_unit
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.buffers import Options, Program
from opi_xform.ownership.model.plan import Plan, Told
from opi_xform.rewrite.apply import rewrite
from opi_xform.text.sources import Sources


@dataclass(frozen=True)
class Whole:
    """A program and the plan that is made of it as it is."""

    program: Program
    units: tuple[Unit, ...]
    plan: Plan
    sources: Sources
    again: Again
    line: dict[int, str]

    @property
    def decisions(self) -> dict[str, str]:
        """What is decided of each call, by the mark in its line's comment."""
        return self.of(self.plan)

    def of(self, plan: Plan) -> dict[str, str]:
        """The same of another plan."""
        return {self.line[d.span.line]: d.decision for d in plan.decisions if d.span.line in self.line}


def whole(folder: Path, body: str) -> Whole:
    """``// WORD`` at the end of a call's line is its name."""
    found = source_in(folder, body)
    flags = ("-I", str(folder.resolve()))
    sources = Sources()
    options = Options(root=str(folder.resolve()))

    def parse(jobs: Sequence[Job]) -> list[Unit]:
        return [parse_unit(path, own) for path, own in jobs]

    def analyse(
        units: Sequence[Unit],
        files: Sources,
        root: str,
        told: tuple[Told, ...],
        more: int,
        rewritten: bool,
        pointers: bool,
    ) -> Analysed:
        plan, program = plans.analyse(
            units, Options(root=root, told=told, more_than=more, rewritten=rewritten, pointers=pointers)
        )
        return program, plan, dict(rewrite(plan, files).changed)

    again = Again(
        found.units,
        lambda _: flags,
        sources,
        options.root,
        (),
        parse,
        analyse,
        lambda units: plans.looked_at(units, options),
    )
    plan, program = plans.analyse(found.units, options)
    assert program is not None
    lines = enumerate(found.text.split("\n"), 1)
    marks = {n: text.rpartition("// ")[2].strip() for n, text in lines if "// " in text}
    return Whole(program, found.units, plan, sources, again, marks)
