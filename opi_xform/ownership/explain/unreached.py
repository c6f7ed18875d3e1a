"""Why a call is not in the program graph: what stands between it and main."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.dataflow.scc import reached
from opi_xform.graph.graph import COUNT_DIFFERS, POINTER, Lost
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, uncast, within_statement
from opi_xform.ownership.explain.reaching.by_pointer import called_by, why_anywhere
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.lines import line_of, marked
from opi_xform.ownership.model.lvalues import function_expressions, spelling

OTHERS = 3  # functions that are not followed either, which are named
OTHER = 2  # a call through a pointer that is another function's
NO_WAY, NEVER = "the call is not reached from", "the program never comes to the call"
NOT_LOOKED_AT = "and what more may keep it was not looked at"


def never_comes(message: str) -> bool:
    """What is said of a call that no way leads to, as far as the program tells; of others one may."""
    return message.startswith((NO_WAY, NEVER))


class Unreached:
    """Asked for one function after the other."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.callers: dict[str, list[str]] = {}
        for key in sorted(program.functions):
            for name in sorted(_named(program.functions[key])):
                self.callers.setdefault(name, []).append(key)
        self.known: dict[str, Refusal] = {}
        graph = program.graph
        self.reached = {graph.frames[graph.nodes[n].frame].function for block in graph.blocks for n in block}

    def refusal(self, key: str) -> Refusal:
        """Of the calls in a function that no copy of it in the graph has."""
        if key not in self.known:
            found = self.found(key)
            looked_at = not any(message.endswith(NOT_LOOKED_AT) for _, message in found.notes)
            self.known[key] = found if looked_at else self.with_others(key, found)
        return self.known[key]

    def with_others(self, key: str, found: Refusal) -> Refusal:
        """With the other functions on the ways to a call that are not followed: each of them would keep it alone."""
        functions = (self.program.functions[f] for f in self.above(key) if f in self.program.functions)
        others = [f for f in functions if f.refused and not found.message.startswith(f"`{f.name}`, which leads to")]
        if not others:
            return found
        why = [marked(f.refused, f.span.file) for f in others[:OTHERS]]
        notes = [(f.span, f"`{f.name}` is not followed: {text}") for f, text in zip(others, why, strict=False)]
        told = f"{len(others)} more functions on the ways to it are not followed: {_listed([f.name for f in others])}"
        if len(others) == 1:
            told = f"`{others[0].name}`, on a way to it, is not followed: {why[0]}"
        message = f"{found.message}; also, {told}"
        return replace(found, message=message, notes=(*found.notes, *notes))

    def found(self, key: str) -> Refusal:
        above = self.above(key)
        functions = self.program.functions
        direct, through = self.lost(above)
        if direct is not None:
            return direct
        refused = next((functions[f] for f in above if f in functions and functions[f].refused), None)
        if refused is not None:
            message = f"`{refused.name}`, which leads to the call, is not analysed: {refused.refused}"
            return Refusal(Reason.NOT_ANALYSED, message, ((refused.span, f"here, {NOT_LOOKED_AT}"),))
        started = self.started(above)
        if started is not None:
            return started
        if through is not None:
            return through
        first = functions[key]
        if not self.program.complete and key not in self.reached:
            return Refusal(Reason.NOT_ANALYSED, f"{NO_WAY} a function that other files could call")
        note = (first.span, f"no call of `{first.name}` is reached from main")
        message = f"{NO_WAY} main"
        if key in self.reached:
            here = (first.span, f"`{first.name}` runs, but no way through it leads to the call")
            return Refusal(Reason.NOT_ANALYSED, NEVER, (here,))
        top = self.top(key, above)
        if top is None:
            dead = self.dead(above)
            if dead is not None:
                function, call = dead
                name = functions[call.callee.name].name if isinstance(call.callee, ast.FuncRef) else ""
                text = f"{message}: the program never comes to the call of `{name}` at {line_of(call.span)}"
                why = never_true(function, call)
                return Refusal(
                    Reason.NOT_ANALYSED, f"{text}: {why}" if why else text, ((call.span, "never called here"),)
                )
            return Refusal(Reason.NOT_ANALYSED, message, (note,))
        if top == key:
            return Refusal(Reason.NOT_ANALYSED, f"{message}: nothing calls `{first.name}`", (note,))
        here = (functions[top].span, "nothing calls this")
        return Refusal(
            Reason.NOT_ANALYSED, f"{message}: nothing calls `{functions[top].name}`, which leads to it", (note, here)
        )

    def lost(self, above: Mapping[str, int]) -> tuple[Refusal | None, Refusal | None]:
        """A call that is not followed and leads there: one by name, and the nearest through a pointer."""
        functions = self.program.functions
        near: list[tuple[int, int, int, Lost, str]] = []
        for node in self.program.graph.nodes:
            lost = node.action
            if not isinstance(lost, Lost):
                continue
            leading = [f for f in lost.functions if f in above]
            if lost.reason == POINTER:
                taken = [f for f in leading if f in self.program.taken]  # none other is called so
                near += [(self.other(lost, f), above[f], node.number, lost, f) for f in taken]
            elif leading:
                nearest = min(leading, key=lambda f: above[f])
                return Refusal(Reason.NOT_ANALYSED, *_stopped(lost, functions[nearest].name, functions)), None
        if not near:
            return None, None
        other, *_, lost, f = min(near, key=lambda one: one[:3])
        name = functions[f].name
        if other == OTHER:  # another pointer, below that call, leads to it
            what = f"`{name}`, which leads to the call, is only reached through pointers that are not followed"
            return None, Refusal(
                Reason.NOT_ANALYSED,
                what,
                ((lost.call.span, f"a pointer that may lead anywhere is called here, {NOT_LOOKED_AT}"),),
            )
        message, notes = _stopped(lost, name, functions)
        why, there = why_anywhere(self.program)
        return None, Refusal(Reason.NOT_ANALYSED, message + why, (*notes, *there))

    def other(self, lost: Lost, f: str) -> int:
        """How unlikely it is that a call through a pointer is of a function, by its name and its arguments."""
        if not _fits(lost, self.program.functions[f]):
            return OTHER
        return 0 if called_by(self.program, lost, f) else 1

    def dead(self, above: Mapping[str, int]) -> tuple[ast.Function, ast.Call] | None:
        """A call in a function that is reached, and that function, of one that leads to the call and is not."""
        found = [
            (above[called_name(call)], call.span.file, call.span.begin, f, call)
            for f in sorted(self.reached & self.program.functions.keys())
            for call in calls_of(self.program.functions[f])
            if called_name(call) in above.keys() - self.reached
        ]
        if not found:
            return None
        *_, f, call = min(found, key=lambda one: one[:3])
        return self.program.functions[f], call

    def top(self, key: str, above: Mapping[str, int]) -> str | None:
        """The function from which the call would be reached, where there is one, and nothing at all calls it."""
        if any(self.program.functions[f].name == "main" or f in self.program.taken for f in above):
            return None
        return next((f for f in above if not self.callers.get(f)), None)

    def started(self, above: Mapping[str, int]) -> Refusal | None:
        """A function that leads to the call is given to one of a library, which calls it beside the program, or at a
        time that nobody knows.
        """
        functions = self.program.functions
        for call in (c for key in sorted(functions) for c in calls_of(functions[key])):
            if not isinstance(call.callee, ast.FuncRef) or call.callee.name in functions:
                continue
            if call.callee.name not in self.program.effects:
                given = next((f for f in map(_function, call.args) if f in above and f in functions), None)
                if given is not None:
                    what = f"`{functions[given].name}`, which leads to the call, is given to `{call.callee.name}`"
                    text = f"{what}, of which nothing is known"
                    return Refusal(Reason.NOT_ANALYSED, text, ((call.span, f"here, {NOT_LOOKED_AT}"),))
                continue
            for callback in self.program.effects[call.callee.name].calls:
                name = _function(call.args[callback.arg]) if callback.arg < len(call.args) else None
                if callback.when == "now" or name is None or name not in above or name not in functions:
                    continue
                how = "calls it later"
                if callback.when == "concurrent":
                    signal = call.callee.name.lstrip("_").startswith(("sig", "bsd_sig", "sysv_sig"))
                    how = "runs it whenever a signal comes" if signal else "runs it in a thread of its own"
                text = f"`{functions[name].name}`, which leads to the call, is not followed: `{call.callee.name}` {how}"
                return Refusal(Reason.NOT_ANALYSED, text, ((call.span, "here"),))
        return None

    def elsewhere(self, key: str) -> Refusal | None:
        """A library's function runs the calls in a function, in a thread perhaps, whatever else may lead to them."""
        return self.started(self.above(key))

    def above(self, key: str) -> dict[str, int]:
        """The function and all that lead to it, by name or by its address, with how many steps away: nearest first."""
        return reached((key,), lambda name: self.callers.get(name, ()))


def never_true(function: ast.Function, call: ast.Call) -> str:
    """Which condition around a call never comes to it, in words: a constant (``if (DEBUG)``), or one that sets what it
    would test (``if (k = 0)``).
    """
    for s, _ in statements(function.body):
        if not isinstance(s, ast.If):
            continue
        cond = uncast(s.cond)
        value = uncast(cond.value) if isinstance(cond, ast.Assign) and not cond.op else cond
        arm = s.other if isinstance(value, ast.IntLit) and value.value else s.then
        if not isinstance(value, ast.IntLit) or arm is None:
            continue
        if not any(e is call for e in within_statement(arm, function.variables)):
            continue
        where = line_of(cond.span)
        if isinstance(cond, ast.Assign):
            return f"{where} sets `{spelling(cond.target)}` to {value.value} where it would test it"
        return f"the condition of {where} is {'always' if value.value else 'never'} true"
    return ""


def _listed(names: Sequence[str]) -> str:
    """The first of some names, in words."""
    shown = ", ".join(f"`{name}`" for name in names[:OTHERS])
    return f"{shown} and others" if len(names) > OTHERS else shown


def _function(e: ast.Expr) -> str | None:
    """The function that an argument names, casts aside."""
    while isinstance(e, (ast.Cast, ast.AddrOf)):
        e = e.operand
    return e.name if isinstance(e, ast.FuncRef) else None


def _named(function: ast.Function) -> set[str]:
    return {e.name for e in function_expressions(function) if isinstance(e, ast.FuncRef)}


def _fits(lost: Lost, function: ast.Function) -> bool:
    """The call has the arguments that the function takes."""
    return function.type.variadic or len(lost.call.args) == len(function.params)


def _stopped(lost: Lost, name: str, functions: Mapping[str, ast.Function]) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """What a call that is not followed is about, and where it is."""
    span = lost.call.span
    if lost.reason == COUNT_DIFFERS:
        wanted = len(functions[lost.functions[0]].params)
        note = (span, f"called with {len(lost.call.args)} arguments here, and has {wanted} parameters")
        return f"`{name}`, which leads to the call, is called with another number of arguments", (note,)
    if lost.reason == POINTER:
        what = f"`{name}`, which leads to the call, may be called through a pointer that may lead anywhere"
        return what, ((span, f"here, {NOT_LOOKED_AT}"),)
    called = f"called here, {NOT_LOOKED_AT}"
    reason = marked(lost.reason, next((functions[f].span.file for f in lost.functions), span.file))
    return f"`{name}`, which leads to the call, is not followed: {reason}", ((span, called),)
