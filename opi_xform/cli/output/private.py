"""``--privatize``: after ownership has its edits, variables become private in what came of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache

from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.outcome import SELF_CHECK, Failure, Problem, fail
from opi_xform.frontend import FrontendError, parse_once
from opi_xform.frontend.headers.beginning import Beginning
from opi_xform.frontend.headers.system_part import Job, beginnings
from opi_xform.frontend.statics import collect
from opi_xform.ir.ast import Unit
from opi_xform.ir.statics import Statics
from opi_xform.ownership.model.plan import Decision
from opi_xform.privatize.decide import decide
from opi_xform.privatize.edits.edits import edits
from opi_xform.privatize.edits.prologue import form_of
from opi_xform.privatize.edits.text import Text
from opi_xform.privatize.edits.verify import identities, left_behind
from opi_xform.privatize.model import Decided, Settings
from opi_xform.privatize.program import Whole, merge
from opi_xform.record import dataclass
from opi_xform.report.globals import GlobalDecision
from opi_xform.rewrite.mirror import lay_out, mirrored, mirrored_flags, original
from opi_xform.rewrite.selfcheck import Rejected
from opi_xform.text.edit import EditConflict, apply_edits
from opi_xform.text.sources import Sources

Flags = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Private:
    """changed: new contents by name, those of ownership included.  remarks: what hinders ranks of one process."""

    changed: Mapping[str, bytes]
    variables: tuple[GlobalDecision, ...]
    remarks: tuple[Decision, ...]


def privatised(
    units: Sequence[Unit], flags: Flags, changed: Mapping[str, bytes], sources: Sources, form: str, root: str
) -> Private:
    """The program with private variables.  Raises Failure when the result fails its check, OSError when the mirror
    cannot be written."""
    run = _Run(units, flags, sources, form, os.path.realpath(root))
    return run.run(changed)


class _Run:
    def __init__(self, units: Sequence[Unit], flags: Flags, sources: Sources, form: str, root: str) -> None:
        self.units = units
        self.flags = flags
        self.sources = sources
        self.form = form
        self.root = root

    def run(self, changed: Mapping[str, bytes]) -> Private:
        for file in sorted({file for unit in self.units for file in (unit.path, *unit.files)}):
            form = form_of(self.sources.data(file))
            if form not in ("", self.form):
                raise fail(f"is private in the form {form} already; use --privatize={form}", shown(file))
        plain = _collected([(unit.path, self.flags(unit.path)) for unit in self.units])
        if not changed:
            decided, after = self._decide(plain, self.sources, "", {unit.path: unit for unit in self.units})
            self._check(decided, merge(plain), self.sources.name, after)
            return self._told(decided, merge(plain), decided, merge(plain), after)
        with tempfile.TemporaryDirectory(prefix="opi-xform-") as folder:
            top = os.path.realpath(folder)
            lay_out(top, self.units, changed, self.sources)
            there = _collected(self._jobs(top))
            files = Sources()
            decided, after = self._decide(there, files, top, {})
            changed = {**changed, **after}

            def named(file: str) -> str:
                return self.sources.name(original(top, file))

            self._check(decided, merge(there), named, changed)
            return self._told(self._plainly(plain), merge(plain), decided, merge(there), changed, named)

    def _jobs(self, top: str) -> list[tuple[str, tuple[str, ...]]]:
        return [(mirrored(top, self.sources.name(u.path)), mirrored_flags(top, self.flags(u.path))) for u in self.units]

    def _settings(self, top: str) -> Settings:
        def named(file: str) -> str:
            return shown(original(top, file) if top else file)

        @cache
        def real(file: str) -> str:
            return os.path.realpath(original(top, file) if top else file)

        return Settings(self.form, self.root, real, named)

    def _decide(
        self, statics: Sequence[Statics], sources: Sources, top: str, known: dict[str, Unit]
    ) -> tuple[Decided, dict[str, bytes]]:
        """What becomes of the variables of a program as it lies there, and its new contents by original name."""
        flags = dict(self._jobs(top)) if top else {}

        def unit(path: str) -> Unit:
            if path not in known:
                known[path] = parse_once(path, flags[path] if top else self.flags(path))
            return known[path]

        settings = self._settings(top)
        text = Text(statics, sources, settings, unit)
        decided = decide(statics, settings, text)
        after = {}
        for file, ones in edits(text, decided, self.form).items():
            name = self.sources.name(original(top, file) if top else file)
            try:
                new = apply_edits(sources.data(file), ones)
            except EditConflict as conflict:
                line = sources.data(file).count(b"\n", 0, conflict.offset) + 1
                raise _rejected([Rejected(name, line, "two edits contradict each other here")]) from conflict
            if new != sources.data(file):
                after[name] = new
        return decided, after

    def _plainly(self, plain: Sequence[Statics]) -> Decided:
        """The verdicts on the program as it was given, for those that ownership's edits do not change."""
        settings = self._settings("")
        known = {unit.path: unit for unit in self.units}
        return decide(plain, settings, Text(plain, self.sources, settings, lambda path: known[path]))

    def _check(
        self, decided: Decided, before: Whole, named: Callable[[str], str], changed: Mapping[str, bytes]
    ) -> None:
        if not changed:
            return
        with tempfile.TemporaryDirectory(prefix="opi-xform-") as folder:
            top = os.path.realpath(folder)
            lay_out(top, self.units, changed, self.sources)
            try:
                after = _collected(self._jobs(top))
            except FrontendError as error:
                raise _rejected([Rejected(original(top, error.file), error.line, error.message)]) from error

            def now(file: str) -> str:
                return self.sources.name(original(top, file))

            wrong = left_behind(before, decided, after, self.form, named, now)
        if wrong:
            raise _rejected(wrong)

    def _told(
        self,
        plain: Decided,
        whole: Whole,
        decided: Decided,
        there: Whole,
        changed: Mapping[str, bytes],
        named: Callable[[str], str] | None = None,
    ) -> Private:
        """The verdicts, at their places in the files as they were given."""
        verdicts = plain.verdicts
        if named is not None:
            last = {identity: key for key, identity in identities(there, named).items()}
            first = identities(whole, self.sources.name)
            verdicts = {
                key: decided.verdicts.get(last.get(first[key], ""), verdict) for key, verdict in verdicts.items()
            }
        variables = []
        for key, verdict in verdicts.items():
            span = plain.variables[key].definition
            assert span is not None
            variables.append(
                GlobalDecision(plain.variables[key].name, span, verdict.decision, verdict.code, verdict.message)
            )
        variables.sort(key=lambda g: (g.span.file, g.span.begin))
        return Private(dict(changed), tuple(variables), plain.remarks)


def _collected(jobs: Sequence[Job]) -> list[Statics]:
    """The statics of each file; what many of them begin with is parsed once.  Raises FrontendError."""
    with ExitStack() as stack:
        found: dict[str, Beginning] = {}
        with suppress(OSError):  # no room for it: it goes without
            folder = tempfile.TemporaryDirectory(prefix="opi-xform-", ignore_cleanup_errors=True)
            found = beginnings(jobs, stack.enter_context(folder))
        return [collect(path, flags, found.get(path)) for path, flags in jobs]


def _rejected(wrong: Sequence[Rejected]) -> Failure:
    what, how = "the program with private variables fails its self-check", "nothing was written, please report it"
    problems = [Problem(f"{what}: {r.message}; {how}", shown(r.file), r.line, code="OPI903") for r in wrong]
    return Failure(problems, SELF_CHECK)
