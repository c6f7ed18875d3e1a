"""Short names of buffers, written out: ``double *b = h->out[d]; MPI_Send(b, …)`` as ``MPI_Send(h->out[d], …)``.

The program that results is the same one (``ownership/spelling/short_names.py``, ``given_names.py`` for parameters) and
is analysed as any other.  Where that makes sites convert, those names are written out that the user's calls need.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.attempts.no_text_helps import FORM
from opi_xform.attempts.own_parameters import own_parameters
from opi_xform.attempts.passed_on import passed_on
from opi_xform.divide.places import Offsets
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import expressions, within
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Decision, Plan, ReplaceText, SiteKey
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.spelling.given_names import given_names
from opi_xform.ownership.spelling.mentions import plain
from opi_xform.ownership.spelling.short_names import ShortName, settings, short_names, touch
from opi_xform.text.edit import ByteEdit, apply_edits
from opi_xform.text.sources import Sources

_WORD = re.compile(r"[A-Za-z_]\w*")


class Plainly:
    """One program: ``run``.  structs: only those names that stand for the address of a struct."""

    def __init__(self, program: Program, plan: Plan, sources: Sources, again: Again, structs: bool = False) -> None:
        self.plan = plan
        self.sources = sources
        self.again = again
        self.given: dict[SiteKey, set[str]] = {}
        for use in collect(program):
            names = {e.var for e in within(use.call.args[use.argument]) if isinstance(e, ast.VarRef)}
            self.given.setdefault(use.place[:3], set()).update(names)
        kept = [d for d in plan.decisions if d.decision == "keep" and d.code not in FORM]
        keys = {key for d in kept for key in self.given.get(site(d), ())}
        said = _said(program, kept)
        found: list[ShortName] = []
        if not structs:
            keys |= _naming(again.units, said)
            found += short_names(program, again.units, keys) if keys else ()
        lost = _outside(program) if again.further is None else set()
        named = _said(program, [d for d in kept if site(d) not in lost]) if lost else said
        _add(found, given_names(program, again.units, named, structs))
        if not structs:
            given = {variable.name for key in keys if (variable := program.variables.get(key)) is not None}
            _add(found, passed_on(program, again.units, said | given))
            _add(found, own_parameters(program, again.units, said | given))
        top = os.path.realpath(again.root)
        self.names = tuple(
            name
            for name in found
            if all(os.path.commonpath([top, sources.name(edit.span.file)]) == top for edit in name.edits)
        )

    def run(self) -> Tried | None:
        """What is decided of the program with names written out; None where that is no better.  Raises OSError."""
        best = self.attempt(self.names) if self.names else None
        if best is None:
            return None
        gained = converted(best.plan) - converted(self.plan)
        keys = {key for one in gained for key in self.given.get(one, ())}
        names = tuple(name for name in self.names if name.key in keys)
        if names != self.names:
            fewer = self.attempt(names) if names else None
            if fewer is not None and converted(fewer.plan) >= converted(best.plan):
                best = fewer
            else:
                names = self.names
        return replace(best, plan=self.told_of(best.plan, names))

    def attempt(self, names: Sequence[ShortName]) -> Tried | None:
        """What is decided of the program without these names: of the same one, where it is better."""
        edits: dict[str, list[ByteEdit]] = {}
        for name in names:
            for edit in name.edits:
                file = self.sources.name(edit.span.file)
                edits.setdefault(file, []).append(_bytes(edit, self.sources.data(file)))
        texts = {file: apply_edits(self.sources.data(file), ones) for file, ones in edits.items()}
        offsets = {file: Offsets(self.sources.data(file), ones) for file, ones in edits.items()}
        pointers = self.again.pointers or any(self.subscripted(edit) for name in names for edit in name.edits)
        tried = replace(self.again, pointers=pointers).attempt(texts, offsets, self.plan)
        return tried if tried is not None and converted(tried.plan) > converted(self.plan) else None

    def subscripted(self, edit: ReplaceText) -> bool:
        """What is written for a pointer names an element, of which a subscript follows: ``a[d][i]`` for ``p[i]``.

        It stays in the row of the array by what C says.  That of a pointer may go on.
        """
        data = self.sources.data(self.sources.name(edit.span.file))
        return not edit.text.isidentifier() and data[edit.span.end :].lstrip()[:1] == b"["

    def told_of(self, plan: Plan, names: Sequence[ShortName]) -> Plan:
        """The plan, with what is written for a name said at each call that is given it."""
        return replace(plan, decisions=tuple(_told(d, self.given, names) for d in plan.decisions))


def _add(found: list[ShortName], more: Iterable[ShortName]) -> None:
    for one in more:
        if not any(touch(one, other) for other in found):
            found.append(one)


def _said(program: Program, kept: Sequence[Decision]) -> set[str]:
    """The names by which these sites name their buffers, and the variables through which they find them."""
    out = {word for d in kept for word in _WORD.findall(f"{d.object} {d.buffer}")}
    stay = {site(d) for d in kept}
    ways = (path(program, use) for use in collect(program) if use.place[:3] in stay)
    return out | {program.variables[key].name for way, key in ways for key in (*way, key) if key in program.variables}


def _outside(program: Program) -> set[SiteKey]:
    """Sites of arrays whose address a call has that is no call of the program's, or something that is not understood:
    it has it under any name of a parameter, which points where the variable of the file does that it stands for.
    """
    values, nodes, out = program.values, program.graph.nodes, set[SiteKey]()
    for use in collect(program):
        lost = values.given_away.get(use.object)
        array = use.object >= 0 and values.objects.table[use.object].kind == "variable"
        action = nodes[lost[0]].action if lost is not None and array else None
        callee = action.callee if isinstance(action, ins.CallInstr) else None
        library = isinstance(callee, ins.AddrFunc) and callee.key not in program.functions
        if library or isinstance(action, ins.Escape):
            out.add(use.place[:3])
    return out


def _naming(units: Sequence[ast.Unit], names: Collection[str]) -> set[str]:
    """Local pointers that are set from something with one of these names, or have one and are given to a call."""
    out: set[str] = set()
    for function in (f for unit in units for f in unit.functions.values()):
        for key, (_, _, value) in settings(function).items():
            parts = list(within(value))
            said = {_WORD.findall(e.var)[-1:][0] for e in parts if isinstance(e, ast.VarRef)}
            said |= {e.field for e in parts if isinstance(e, ast.Member)}
            if function.variables[key].name in names and key in _given(function):
                out.add(key)
            if not said.isdisjoint(names):
                out.add(key)
    return out


def _given(function: ast.Function) -> set[str]:
    """The variables that a function gives to others."""
    calls = (e for root in expressions(function.body) for e in within(root) if isinstance(e, ast.Call))
    return {a.var for call in calls for e in call.args if isinstance(a := plain(e), ast.VarRef)}


def _told(d: Decision, given: Mapping[SiteKey, Collection[str]], names: Sequence[ShortName]) -> Decision:
    here = [name for name in names if name.key in given.get(site(d), ())]
    said = [name.said or f"`{name.text}` is written for `{name.name}`" for name in here]
    return replace(d, message="; ".join([d.message, *said])) if said and d.decision == "convert" else d


def _bytes(edit: ReplaceText, data: bytes) -> ByteEdit:
    """The edit; a statement that goes takes its line along where it stands alone there."""
    begin, end = edit.span.begin, edit.span.end
    if not edit.text:
        start, stop = data.rfind(b"\n", 0, begin) + 1, data.find(b"\n", end) + 1
        if stop and not data[start:begin].strip() and not data[end:stop].strip():
            begin, end = start, stop
    return ByteEdit(begin, end, (), edit.text.encode("utf-8", "surrogateescape"))
