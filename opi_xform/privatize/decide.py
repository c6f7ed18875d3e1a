"""Which variables become private, which may stay shared, which cannot be made private and why."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from opi_xform.ir.statics import Declared, Statics
from opi_xform.privatize.hazards import remarks, threads_of_its_own
from opi_xform.privatize.model import (
    DECLARATION,
    HELD,
    INITIALISER,
    LIBRARY,
    NAMED,
    OTHERS,
    OUTSIDE,
    STRUCT,
    TLS,
    USE,
    Decided,
    Settings,
    Variable,
    Verdict,
    generated,
)
from opi_xform.privatize.names import Names
from opi_xform.privatize.program import Whole, merge
from opi_xform.privatize.table import table

_ATTRIBUTES = re.compile(
    rb"\b(?:__)?(?:section|alias|weak|weakref|common|nocommon|ifunc|tls_model|cleanup|dllimport|dllexport|init_priority"
    rb"|noinit|persistent|selectany|transparent_union|mode|vector_size)(?:__)?\b"
)

_OF_THREADS = "it is each thread's, and the fibers of a thread share it; without that word each rank would have its own"


def decide(units: Sequence[Statics], settings: Settings, text: Names) -> Decided:
    """The verdict on every variable of static storage that the program declares."""
    whole = merge(units)
    decision = _Decision(whole, settings, text)
    verdicts = decision.run()
    variables = {key: whole.variables[key] for key in verdicts}
    private = {key for key, verdict in verdicts.items() if verdict.decision == "private"}
    return Decided(variables, verdicts, tuple(remarks(whole, private)))


class _Decision:
    def __init__(self, whole: Whole, settings: Settings, text: Names) -> None:
        self.whole = whole
        self.settings = settings
        self.text = text
        self.holders = whole.holders()
        self.complete = whole.complete
        self.words = frozenset(word for unit in whole.units for word in unit.words)
        self.shared: dict[str, str] = {}

    def run(self) -> dict[str, Verdict]:
        mine = [v for v in self.whole.variables.values() if v.declared and not all(generated(s) for _, s in v.parts)]
        mine = [v for v in mine if not all(d.system for d in v.declared)]
        mine.sort(key=_place)
        own = {v.key for v in mine}
        found: dict[str, Verdict] = {}
        for v in mine:
            if v.done and self.settings.form == STRUCT and any(part.thread_local for _, part in v.parts):
                found[v.key] = Verdict("refused", DECLARATION, _OF_THREADS)
            elif v.done:
                found[v.key] = Verdict("private", "", "it is private already")
        shared = {v.key: why for v in mine if v.key not in found and (why := self.unwritten(v))}
        self._unshare(mine, found, shared)
        self.shared = shared
        concurrent = threads_of_its_own(self.whole)
        for v in mine:
            if v.key in found or v.key in shared:
                continue
            trouble = self.trouble(v, concurrent)
            if trouble is not None:
                found[v.key] = trouble
        self._spread(mine, own, found, shared)
        out: dict[str, Verdict] = {}
        for v in mine:
            if v.key in found:
                out[v.key] = found[v.key]
            elif v.key in shared:
                out[v.key] = Verdict("shared", "", shared[v.key])
            else:
                out[v.key] = Verdict("private", "", self._private_message(v))
        return out

    def _private_message(self, v: Variable) -> str:
        message = "each rank has its own"
        if self._holds_private(v):
            message += ", with the addresses of its own variables"
        guarded = next(self.text.guards(v), None) if self.settings.form == STRUCT else None
        if guarded is not None:
            message += "; code that another configuration compiles names it, and says #error there"
        return message

    # --- shared -----------------------------------------------------------------------------------

    def unwritten(self, v: Variable) -> str:
        """Why one copy is enough for all ranks: what shows that nothing writes it; '' when something may."""
        type_ = v.first.type
        if any(s.literal for _, s in v.parts) or any(s.type.volatile or s.type.atomic for _, s in v.parts):
            return ""
        if type_.const and not type_.volatile:
            return "it is const" if v.first.defined or self.complete or v.first.kind != "extern" else ""
        if v.first.kind == "extern" and not (self.complete and any(s.defined for _, s in v.parts)):
            return ""
        if any(use.what in ("write", "address") for use in v.uses) or v.name in self.words:
            return ""
        if any(use.what == "init" for use in v.uses):
            return ""  # its address is kept: what is written through that is not followed
        return "nothing writes it"

    def _unshare(self, mine: Sequence[Variable], found: dict[str, Verdict], shared: dict[str, str]) -> None:
        """What holds the address of a private variable is not the same for all ranks, however constant it is."""
        changed = True
        while changed:
            changed = False
            for key in list(shared):
                if any(held not in shared for held in self.holders.get(key, ())):
                    del shared[key]
                    changed = True
            if self.settings.form == TLS:
                changed |= self._ungroup(mine, found, shared)

    def _ungroup(self, mine: Sequence[Variable], found: dict[str, Verdict], shared: dict[str, str]) -> bool:
        """Variables of one declaration get one storage class: a constant beside private ones is private too."""
        changed = False
        for group in _groups(mine):
            if any(key not in shared and key not in found for key in group):
                for key in group:
                    changed |= shared.pop(key, None) is not None
        return changed

    # --- refused ----------------------------------------------------------------------------------

    def _spread(
        self, mine: Sequence[Variable], own: set[str], found: dict[str, Verdict], shared: dict[str, str]
    ) -> None:
        """What cannot be private takes along whose address it holds, and what stands in the same declaration."""
        names = {v.key: v.name for v in mine}
        changed = True
        while changed:
            changed = False
            for v in mine:
                if v.key in shared or (v.key in found and found[v.key].decision == "refused"):
                    for held in sorted(self.holders.get(v.key, ())):
                        if held in own and held not in found and held not in shared:
                            message = f"`{v.name}` holds its address from the start and is not private"
                            found[held] = Verdict("refused", HELD, message)
                            changed = True
            if self.settings.form == TLS:
                for group in _groups(mine):
                    bad = [k for k in group if k in found and found[k].decision == "refused"]
                    for key in group if bad else ():
                        if key not in found and key not in shared:
                            verdict = found[bad[0]]
                            said = f"it is declared together with `{names[bad[0]]}`: {verdict.message}"
                            found[key] = replace(verdict, message=said)
                            changed = True

    def trouble(self, v: Variable, concurrent: dict[str, str]) -> Verdict | None:
        """Why it cannot be private; None when it can."""
        for code, check in (
            (OUTSIDE, self._outside),
            (NAMED, self._named),
            (DECLARATION, self._declaration),
            (INITIALISER, self._initialiser),
            (USE, self._use),
        ):
            message = check(v)
            if message:
                shared = table().variables.get(v.name)
                if code == OUTSIDE and shared is not None:
                    return Verdict("refused", LIBRARY, f"it {shared.advice}")
                return Verdict("refused", code, message)
        if v.key in concurrent:
            return Verdict("refused", OTHERS, concurrent[v.key])
        return None

    def _outside(self, v: Variable) -> str:
        for d in v.declared:
            file = self.settings.original(d.name.file)
            if d.system or not _below(file, self.settings.root):
                return (
                    f"it is declared in {self.settings.named(file)}, outside {self.settings.named(self.settings.root)}"
                )
        if v.first.kind != "extern":
            return ""
        defining = [number for number, s in v.parts if s.defined]
        texts = {(d.name.file, d.name.begin) for _, s in v.parts for d in s.declared if d.definition}
        if not defining:
            return "no file given defines it"
        if len(defining) > 1:
            where = " and ".join(sorted({self.settings.named(self.settings.original(f)) for f, _ in texts}))
            return f"several files define it ({where}); define it in one and declare it extern in the others"
        return "" if self.complete else "main is not among the files given: others may use it"

    def _named(self, v: Variable) -> str:
        if v.name in self.words:
            return "inline assembly, an attribute or a pragma names it"
        for d in v.declared:
            match = _ATTRIBUTES.search(self.text.written(d.statement))
            if match and b"attribute" in self.text.written(d.statement):
                return f"it is declared with the attribute {match.group().decode()}"
        return ""

    def _declaration(self, v: Variable) -> str:
        for d in v.declared:
            if d.bare == "for":
                return "it is declared in the head of a loop"
            if d.crowded:
                return "a macro writes its declaration together with others"
            if d.with_function:
                return "it is declared together with a function"
            if self.settings.form == TLS and d.specifier < 0:
                return "a macro writes its declaration"
            if self.settings.form == STRUCT and d.after < 0:
                return "a macro writes its declaration"
        if self.settings.form == STRUCT:
            if any(s.flexible for _, s in v.parts) and any(d.has_init for d in v.declared):
                return "it ends in an array without a size, which its initialiser gives it"
            if any(s.type.atomic for _, s in v.parts):
                return "it is _Atomic, which no `typeof` keeps"
            if any(s.defined and s.type.size is None for _, s in v.parts):
                return "its size is not known"
        return ""

    def _initialiser(self, v: Variable) -> str:
        if any(s.literal for _, s in v.parts):
            return "its initialiser makes an unnamed object, which all ranks would share"
        if not self._holds_private(v):
            return ""
        return self.text.movable(v) if self.settings.form == TLS else self.text.relocatable(v)

    def _holds_private(self, v: Variable) -> bool:
        return any(held not in self.shared for held in self.holders.get(v.key, ()))

    def _use(self, v: Variable) -> str:
        if self.settings.form == TLS:
            return ""
        return self.text.uses(v)


def _place(v: Variable) -> tuple[str, int]:
    span = v.definition
    return (span.file, span.begin) if span is not None else ("", 0)


def _groups(mine: Sequence[Variable]) -> list[list[str]]:
    """Variables of one declaration, where there are several; each such group."""
    by_statement: dict[tuple[str, int, int], dict[str, None]] = {}
    for v in mine:
        for d in v.declared:
            by_statement.setdefault(_statement(d), {})[v.key] = None
    return [list(keys) for keys in by_statement.values() if len(keys) > 1]


def _statement(d: Declared) -> tuple[str, int, int]:
    return d.statement.file, d.statement.begin, d.statement.end


def _below(file: str, folder: str) -> bool:
    return os.path.commonpath([os.path.abspath(file), os.path.abspath(folder)]) == os.path.abspath(folder)
