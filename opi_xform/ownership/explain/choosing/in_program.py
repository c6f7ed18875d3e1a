"""What the text of the whole program says of the memory that a call names, where the analysis does not follow it.

OpenMP, the budget, or a call through a pointer keep a site for what the tool cannot do.  A person who reads the program
mostly sees another reason first: the pointer is set to a place in a larger block, another call sends a part of the same
block, or the function's callers go on reading it.  A cheap look at the words finds these.  What two functions name by
the same member, or by one variable, may be other memory: so all is told as what *may* be, with the lines that show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from opi_xform.codes import Reason
from opi_xform.effects.model import MpiBuffer
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, uncast, within_statement
from opi_xform.ownership.buffers.uses import all_calls, sides
from opi_xform.ownership.explain.choosing.argument import begins_inside
from opi_xform.ownership.explain.choosing.given_on import given_on, moved_in_text, moves_in_text, several_given
from opi_xform.ownership.explain.choosing.in_the_text import read_after, read_beside
from opi_xform.ownership.explain.choosing.in_turns import set_in_turn
from opi_xform.ownership.explain.choosing.order import NOT_FOLLOWED, in_order
from opi_xform.ownership.explain.choosing.places import set_to_a_place
from opi_xform.ownership.explain.choosing.requests_told import given_anew
from opi_xform.ownership.explain.choosing.text_names import Found, names_in
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, function_expressions, spelling
from opi_xform.ownership.model.roots import base_of, is_inside, is_moved, is_zero, member_key

Key = tuple[str, str]  # ("v", the key of a variable) or ("m", ``member_key``)
Set = tuple[Span, ast.Expr, ast.Expr]  # where a pointer is set, what is set, what to

UNSTEADY = "stays as it is"
LEVELS = 3  # names that are followed to where a pointer comes from


class InProgram:
    """One per program: ``first`` of calls that were looked at, ``besides`` of others."""

    def __init__(self, text: Found) -> None:
        self.text = text

    def first(self, program: Program, use: Use, refusal: Refusal, pending: str) -> Refusal:
        """Of a call that was looked at: with what the text shows, where it stays for what was not followed.

        pending: what is said of its request, where nothing completes that.
        """
        unsure = refusal.reason is Reason.SEVERAL_BUFFERS and UNSTEADY in refusal.message
        if not (unsure or refusal.reason in NOT_FOLLOWED) or use.op.replaces or not use.op.convertible:
            return refusal
        function = program.functions[program.graph.frames[program.graph.nodes[use.node].frame].function]
        if refusal.reason is Reason.BUDGET:
            return self.besides(refusal, function, use.call, use.side, use.buffer)
        begun = (
            Refusal(Reason.PENDING, pending.removeprefix("; "), ((use.call.span, "begun here"),)) if pending else None
        )
        found = begun or self.elsewhere(function, use.call, use.call.args[use.argument])
        return (
            refusal
            if found is None
            else replace(in_order((found, refusal)) or found, form=refusal.form or refusal.reason)
        )

    def whole(self, program: Program, use: Use, closed: Refusal) -> Refusal:
        """Of a call in a program whose ways are not followed."""
        function = program.functions[program.graph.frames[program.graph.nodes[use.node].frame].function]
        told = closed.reason is not Reason.NOT_ANALYSED or use.op.replaces or not use.op.convertible
        return closed if told else self.besides(closed, function, use.call, use.side, use.buffer)

    def besides(
        self, refusal: Refusal, function: ast.Function, call: ast.Call, side: str, buffer: MpiBuffer
    ) -> Refusal:
        """What the text alone shows first, then what is not followed; the budget is not told besides."""
        if buffer.buf >= len(call.args):
            return refusal
        e = call.args[buffer.buf]
        read = read_after if side == "send" else read_beside
        surest = (
            read(self.text, function.key, call, e),
            begins_inside(e),
            given_anew(function, self.text.effects, call),
        )
        found = in_order(surest) or self.elsewhere(function, call, e)
        if refusal.reason is Reason.BUDGET:
            found = found or given_on(function, call, e)
            return refusal if found is None else replace(found, form=refusal.form or refusal.reason)
        return (
            refusal
            if found is None
            else replace(in_order((found, refusal)) or found, form=refusal.form or refusal.reason)
        )

    def elsewhere(self, function: ast.Function, call: ast.Call, e: ast.Expr) -> Refusal | None:
        """What is said where neither the call itself nor what comes after it tells."""
        return (
            set_to_a_place(function, e)
            or self.placed(function, e)
            or self.sliced(e)
            or self.parts(function, call, e)
            or moved_in_text(function, e)
            or several_given(function, e, self.text.callers)
            or set_in_turn(function, call, e)
        )

    def placed(self, function: ast.Function, e: ast.Expr) -> Refusal | None:
        """A line of the program sets the pointer to a place inside a block, or another one to a place in its own."""
        if is_inside(e):
            return None
        name = spelling(base_of(e))
        keys = self.keys(function, e)
        for key in keys:
            every = self.sets.get(key, [])
            if not every or not all(is_moved(v) and self.key(base_of(v)) not in (None, key) for _, _, v in every):
                continue
            span, target, value = every[0]
            what = spelling(target)
            message = f"{line_of(span)} sets `{what}` to a place in the block of `{spelling(base_of(value))}`"
            message += f", and `{name}` may be that" if what != name else ""
            return Refusal(Reason.CARRIER, f"{message}; a message needs a buffer of its own", ((span, "set here"),))
        for key in keys:
            for span, target in self.pointed.get(key, ()):
                message = f"{line_of(span)} makes `{spelling(target)}` point into the block that `{name}` names"
                return Refusal(Reason.CARRIER, f"{message}: it would point to memory that is gone", ((span, "here"),))
        return None

    def sliced(self, e: ast.Expr) -> Refusal | None:
        """Every line that sets rows of a table sets them to places in one block: ``row[d] = all; all += n[d];``."""
        row = uncast(e)
        key = _table(row) if isinstance(row, ast.Index) and not is_zero(row.index) else None
        every = self.rows.get(key, []) if key is not None else []
        if not every or not all(moved for _, _, _, moved in every):
            return None
        span, target, value, moved = next((one for one in every if _path(one[1]) == _path(row)), every[0])
        message = f"{line_of(span)} sets `{spelling(target)}` to a place in the block of `{spelling(base_of(value))}`"
        notes, line = [(span, "set here")], line_of(moved[0])
        if moved[0] != span:
            message += f", which {line} moves on"
            notes.append((moved[0], "moved on here"))
        return Refusal(Reason.CARRIER, f"{message}; a message needs a buffer of its own", tuple(notes))

    def parts(self, function: ast.Function, call: ast.Call, e: ast.Expr) -> Refusal | None:
        """Another call has a message further in, in memory of the same name."""
        name, found = spelling(base_of(e)), []
        for key in self.keys(function, e) if not is_inside(e) else ():
            for other, where, side, place in self.messages.get(key, ()):
                if where is call or (other is function and _apart(function, call, where)):
                    continue
                found.append((other is not function, where.span.file != call.span.file, where.span.begin, side, place))
        if not found or UNSPELLED in name:
            return None
        _, _, _, side, place = min(found, key=lambda one: one[:3])
        what = spelling(base_of(place))
        does = "sends from further in" if side == "send" else "receives further in"
        message = f"the message lies in `{name}`, and {line_of(place.span)} {does}"
        message += "" if what == name else f", as `{what}`"
        note = (place.span, "a message begins further in here")
        return Refusal(Reason.CARRIER, f"{message}; a message needs a buffer of its own", (note,))

    def keys(self, function: ast.Function, e: ast.Expr) -> list[Key]:
        """What a pointer may be known by elsewhere: its variable, its member, and those that it is set from."""
        out: list[Key] = []
        work = [(function, e, LEVELS)]
        while work:
            around, e, levels = work.pop()
            base = base_of(e)
            key = self.key(base)
            if key is None or key in out or levels == 0:
                continue
            out.append(key)
            if not isinstance(base, ast.VarRef) or base.var not in around.variables:
                continue
            values = [v for _, _, v in self.sets.get(key, ()) if not is_moved(v)]
            if base.var in around.params and not values:
                at = around.params.index(base.var)
                given = self.text.callers.get(around.key, ())
                work += [(c, x.args[at], levels - 1) for c, x in given if at < len(x.args) and not is_moved(x.args[at])]
            elif len(values) == 1:
                work.append((around, values[0], levels - 1))
        return out

    def key(self, base: ast.Expr) -> Key | None:
        if isinstance(base, ast.VarRef):
            return "v", base.var
        known = isinstance(base, ast.Member) and base.base.type.record and UNSPELLED not in spelling(base)
        return ("m", member_key(base)) if isinstance(base, ast.Member) and known else None

    @cached_property
    def sets(self) -> dict[Key, list[Set]]:
        """By pointer: what it is set to."""
        out: dict[Key, list[Set]] = {}
        for function in self.text.functions.values():
            for span, target, value in _sets(function):
                key = self.key(target)
                if key is not None:
                    out.setdefault(key, []).append((span, target, value))
        return out

    @cached_property
    def rows(self) -> dict[Key, list[tuple[Span, ast.Expr, ast.Expr, list[Span]]]]:
        """By table of pointers: what its rows are set to, and where that pointer is moved, or is a place in a block."""
        out: dict[Key, list[tuple[Span, ast.Expr, ast.Expr, list[Span]]]] = {}
        for function in self.text.functions.values():
            for e in function_expressions(function):
                target = uncast(e.target) if isinstance(e, ast.Assign) and not e.op else None
                key = _table(target) if isinstance(target, ast.Index) and target.type.is_pointer else None
                if not isinstance(e, ast.Assign) or target is None or key is None or is_zero(e.value):
                    continue
                base, moved = base_of(e.value), []
                if isinstance(base, ast.VarRef):
                    moved = [e.span] if is_moved(e.value) else moves_in_text(function, base.var, e.span)
                out.setdefault(key, []).append((e.span, target, e.value, moved))
        return out

    @cached_property
    def pointed(self) -> dict[Key, list[tuple[Span, ast.Expr]]]:
        """By pointer: the lines that put a place inside its block into a member, or a variable of the whole program."""
        out: dict[Key, list[tuple[Span, ast.Expr]]] = {}
        for key, every in self.sets.items():
            for span, target, value in every if key[0] == "m" or "@" not in key[1] else ():
                of = self.key(base_of(value)) if is_moved(value) else None
                if of is not None and of != key:
                    out.setdefault(of, []).append((span, target))
        return out

    @cached_property
    def messages(self) -> dict[Key, list[tuple[ast.Function, ast.Call, str, ast.Expr]]]:
        """By pointer: the calls with a message that begins further in."""
        out: dict[Key, list[tuple[ast.Function, ast.Call, str, ast.Expr]]] = {}
        for function, call, name in all_calls(self.text.functions.values(), self.text.effects):
            op = self.text.effects[name].mpi
            for side, buffer in sides(op.send, op.recv) if op is not None else ():
                place = call.args[buffer.buf] if buffer.buf < len(call.args) else None
                if place is not None and begins_inside(place) is not None:
                    for key in self.keys(function, place):
                        out.setdefault(key, []).append((function, call, side, place))
        return out


def _path(e: ast.Expr) -> str:
    """The member of which a table is a part: ``halo`` of ``all->level[k]->halo.out[d]``; '' for none."""
    while isinstance(e, (ast.Index, ast.Deref, ast.Cast)):
        e = e.base if isinstance(e, ast.Index) else e.operand
    around = e.base if isinstance(e, ast.Member) else None
    while isinstance(around, (ast.Index, ast.Cast)):
        around = around.base if isinstance(around, ast.Index) else around.operand
    return around.field if isinstance(around, ast.Member) else ""


def _table(row: ast.Index) -> Key | None:
    """What the table of a row may be known by elsewhere; tables in elements of an array count as one."""
    base = uncast(row.base)
    if isinstance(base, ast.VarRef):
        return "v", base.var
    if not isinstance(base, ast.Member) or not base.base.type.record or spelling(base).startswith(UNSPELLED):
        return None
    return "m", member_key(base)


def _apart(function: ast.Function, call: ast.Call, other: ast.Call) -> bool:
    """What is tested around two calls may be so that no process comes to both."""
    mine, its = _tests(function, call), _tests(function, other)
    names = {name for cond in mine.values() for name in names_in(cond)}
    return any(at not in mine and not names.isdisjoint(names_in(cond)) for at, cond in its.items())


def _tests(function: ast.Function, call: ast.Call) -> dict[tuple[int, bool], ast.Expr]:
    """The conditions around a call, each with the arm in which that stands."""
    out: dict[tuple[int, bool], ast.Expr] = {}
    for s, _ in statements(function.body):
        if isinstance(s, ast.If):
            for arm, holds in ((s.then, True), (s.other, False)):
                if arm is not None and any(e is call for e in within_statement(arm, function.variables)):
                    out[id(s), holds] = s.cond
    return out


def _sets(function: ast.Function) -> Iterator[Set]:
    """Where a function sets pointers to other values than NULL."""
    for variable in function.variables.values():
        if variable.init is not None and variable.type.is_pointer and not is_zero(variable.init):
            yield variable.span, ast.VarRef(variable.type, variable.span, variable.key), variable.init
    for e in function_expressions(function):
        if isinstance(e, ast.Assign) and not e.op and e.target.type.is_pointer and not is_zero(e.value):
            target = uncast(e.target)
            if isinstance(target, (ast.VarRef, ast.Member)):
                yield e.span, target, e.value
