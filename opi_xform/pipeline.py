"""The one order: what runs after what, from parsed files to new ones.

1. Parsed files are one program, for which the analysis finds a plan (``analysis/``: graph, values, conditions, edits).
2. Other texts of the program are tried where sites stay: buffers divided, macros written out (``attempts/``).
3. The plan's edits are applied to bytes (``rewrite/apply.py``).
4. What came of it is parsed (``rewrite/selfcheck.py``): what does not compile is refused as a whole.  What
   has lost its last use is marked (``rewrite/unused.py``).

Parsing is before (``frontend/``), reports (``report/``), variables that become private (``privatize/``) and writing
(``rewrite/write.py``) are after: ``cli/run.py`` does what was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from opi_xform.analysis import plans
from opi_xform.analysis.known import Part, untimed
from opi_xform.attempts.again import Again, Analysed, Parse
from opi_xform.attempts.order import Attempts
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.buffers import Options, Program
from opi_xform.ownership.model.plan import Edit, Plan, Told
from opi_xform.record import dataclass
from opi_xform.rewrite.apply import rewrite
from opi_xform.rewrite.selfcheck import Rejected, self_check
from opi_xform.rewrite.unused import without_warnings
from opi_xform.text.sources import Sources


class Phase(Protocol):
    """Around a phase; steps: files that it parses."""

    def __call__(self, name: str, steps: int = 0) -> AbstractContextManager[None]: ...


class RejectedError(Exception):
    """The result does not compile: nothing of it is used."""

    def __init__(self, rejected: Sequence[Rejected]) -> None:
        super().__init__(rejected)
        self.rejected = rejected


class NoRoomError(Exception):
    """There is no temporary directory in which the result could be checked; why."""


@dataclass(frozen=True, slots=True)
class Given:
    """A parsed program, and how its files are parsed and edited.

    flags: of a source.  parse: units of other texts.  outline: the same, of which only matters whether they compile.
    obstacle: by the root and the files, why an edit cannot be made ('' when it can).
    """

    units: Sequence[Unit]
    sources: Sources
    flags: Callable[[str], tuple[str, ...]]
    options: Options
    parse: Parse
    outline: Parse
    obstacle: Callable[[str, Sources], Callable[[Edit], str]]


@dataclass(frozen=True, slots=True)
class Decided:
    """A plan; the new contents by name in ``Sources``, where another text of the program makes them.

    program: what is known of it as it is; None where there is nothing to decide, or it is too large.
    """

    plan: Plan
    better: Mapping[str, bytes] | None
    program: Program | None


def run(
    given: Given, judged: Callable[[Plan], Plan], phase: Phase, part: Part = untimed
) -> tuple[Decided, dict[str, bytes]]:
    """What is decided, and the new contents by name in ``Sources``.  judged: what a person says of the plan.

    Raises EffectsError, PlanError, RejectedError, NoRoomError.
    """
    found = decided(given, judged, phase, part)
    with phase("rewrite"):
        better = found.better
        changed = dict(rewrite(found.plan, given.sources).changed if better is None else better)
    with phase("self-check", len(given.units)):
        try:
            checked = self_check(given.units, given.flags, changed, given.sources, given.outline)
            if checked.rejected:
                raise RejectedError(checked.rejected)
            changed = without_warnings(given.flags, changed, checked, given.sources, given.outline)
        except OSError as error:
            raise NoRoomError(error.strerror or str(error)) from error
    return found, changed


def decided(given: Given, judged: Callable[[Plan], Plan], phase: Phase, part: Part = untimed) -> Decided:
    """The plan for a program, or one for another text of it that converts more.  Raises EffectsError."""
    with phase("analyse"):
        plan, program = plans.analyse(given.units, given.options, part)
        better = None
        if program is not None:
            attempts = Attempts(
                program, given.units, given.flags, given.sources, given.options, given.outline, again(given)
            )
            plan, better = attempts.best(plan, part)
        return Decided(judged(plan), better, program)


def again(given: Given) -> Again:
    """How the program is analysed with other texts of its files."""

    def analyse(
        units: Sequence[Unit],
        files: Sources,
        root: str,
        told: tuple[Told, ...],
        more_than: int,
        rewritten: bool,
        pointers: bool,
    ) -> Analysed:
        options = replace(given.options, root=root, obstacle=given.obstacle(root, files), told=told)
        options = replace(options, more_than=more_than, rewritten=rewritten, pointers=pointers)
        plan, program = plans.analyse(units, options)
        return program, plan, dict(rewrite(plan, files).changed)

    def known(units: Sequence[Unit]) -> Program | None:
        return plans.looked_at(units, given.options)

    options = given.options
    return Again(given.units, given.flags, given.sources, options.root, options.told, given.parse, analyse, known)
