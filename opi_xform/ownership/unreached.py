"""Why a call is not in the program graph: what stands between it and main."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ownership.lvalues import function_expressions
from opi_xform.ownership.model import Program, Refusal
from opi_xform.program.graph import Lost


class Unreached:
    """Asked for one function after the other."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.callers: dict[str, list[str]] = {}
        for key in sorted(program.functions):
            for name in sorted(_named(program.functions[key])):
                self.callers.setdefault(name, []).append(key)
        self.known: dict[str, Refusal] = {}

    def refusal(self, key: str) -> Refusal:
        """Of the calls in a function that no copy of it in the graph has."""
        if key not in self.known:
            self.known[key] = self.found(key)
        return self.known[key]

    def found(self, key: str) -> Refusal:
        above = self.above(key)
        functions = self.program.functions
        for node in self.program.graph.nodes:
            lost = node.action
            if not isinstance(lost, Lost) or above.isdisjoint(lost.functions):
                continue
            name = functions[next(f for f in lost.functions if f in above)].name
            return Refusal("11", *_stopped(lost, name, functions))
        refused = next((functions[f] for f in sorted(above) if f in functions and functions[f].refused), None)
        if refused is not None:
            note = (refused.span, refused.refused)
            return Refusal("11", f"`{refused.name}`, which leads to the call, is not analysed", (note,))
        if not self.program.complete:
            return Refusal("11", "the call is not reached from a function that other files could call")
        first = functions[key]
        note = (first.span, f"no call of `{first.name}` is reached from main")
        return Refusal("11", "the call is not reached from main", (note,))

    def above(self, key: str) -> set[str]:
        """The function and all that lead to it, by name or by its address."""
        out = {key}
        work = [key]
        while work:
            for caller in self.callers.get(work.pop(), ()):
                if caller not in out:
                    out.add(caller)
                    work.append(caller)
        return out


def _named(function: ast.Function) -> set[str]:
    return {e.name for e in function_expressions(function) if isinstance(e, ast.FuncRef)}


def _stopped(lost: Lost, name: str, functions: Mapping[str, ast.Function]) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """What a call that is not followed is about, and where it is."""
    span = lost.call.span
    if lost.reason == "argument count differs":
        wanted = len(functions[lost.functions[0]].params)
        note = (span, f"called with {len(lost.call.args)} arguments here, and has {wanted} parameters")
        return f"`{name}`, which leads to the call, is called with another number of arguments", (note,)
    if lost.reason == "call through a pointer":
        return f"`{name}`, which leads to the call, is called through a pointer that may lead anywhere", (
            (span, "here"),
        )
    return f"`{name}`, which leads to the call, is not followed: {lost.reason}", ((span, "called here"),)
