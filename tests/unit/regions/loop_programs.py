"""Loop programs as data: printed as C for the analysis, and run as they are for the truth about which bytes are live.

A statement is a tuple: ``("w", e)`` writes ``b[e]``, ``("r", e)`` reads it, ``("ask",)`` is where the live region is
asked for.  ``("for", var, lo, op, hi, step, body)`` and ``("do", ...)`` are loops.  ``("if", left, op, right,
then, other)`` and ``("maybe", then, other)`` are branches, the second on a
condition nobody knows.  ``("append",)`` is ``b[c++] = 1``,
``("reset",)`` is ``c = 0``, and there is ``("break",)``.  An expression maps variables to coefficients, and "" to the
constant.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

SIZE = 20
Expr = dict[str, int]
Stmt = tuple[Any, ...]
OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
LONGEST = 2000


def text(e: Expr) -> str:
    parts = [f"{c} * {v}" if v else str(c) for v, c in sorted(e.items()) if c or not v]
    return " + ".join(parts) if parts else "0"


def as_c(body: list[Stmt], depth: int = 1) -> str:
    out = []
    pad = "    " * depth
    for s in body:
        match s:
            case ("w", e):
                out.append(f"{pad}b[{text(e)}] = 1;")
            case ("r", e):
                out.append(f"{pad}v += b[{text(e)}];")
            case ("ask",):
                out.append(f"{pad}MPI_Send(b, 0, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);")
            case ("for", var, lo, op, hi, step, inner):
                head = f"for (int {var} = {text(lo)}; {var} {op} {text(hi)}; {var} += {step})"
                out.append(f"{pad}{head} {{\n{as_c(inner, depth + 1)}\n{pad}}}")
            case ("do", var, lo, op, hi, step, inner):
                out.append(f"{pad}{{ int {var} = {text(lo)};\n{pad}do {{\n{as_c(inner, depth + 1)}")
                out.append(f"{pad}{var} += {step}; }} while ({var} {op} {text(hi)}); }}")
            case ("if", left, op, right, then, other):
                out.append(f"{pad}if ({text(left)} {op} {text(right)}) {{\n{as_c(then, depth + 1)}\n{pad}}}")
                if other:
                    out.append(f"{pad}else {{\n{as_c(other, depth + 1)}\n{pad}}}")
            case ("maybe", then, other):
                out.append(f"{pad}if (rand()) {{\n{as_c(then, depth + 1)}\n{pad}}}")
                if other:
                    out.append(f"{pad}else {{\n{as_c(other, depth + 1)}\n{pad}}}")
            case ("append",):
                out.append(f"{pad}b[c++] = 1;")
            case ("reset",):
                out.append(f"{pad}c = 0;")
            case ("break",):
                out.append(f"{pad}break;")
    return "\n".join(out)


def program_text(body: list[Stmt]) -> str:
    return (
        f"int rand(void);\nstatic double b[{SIZE}], v;\nstatic int mark;\nint main(int argc, char **argv)\n{{\n"
        f"    int n = argc, c = 0;\n    mark = n;\n{as_c(body)}\n    return 0;\n}}\n"
    )


class Undefined(Exception):
    """The program leaves the array, or runs for too long: it is no correct program for this parameter."""


class _Break(Exception):
    pass


@dataclass(slots=True)
class Run:
    """What one execution did.  ``trace``: ("w" | "r", element), or ("ask", iteration numbers, outermost first)."""

    chance: Random
    trace: list[tuple[str, Any]] = field(default_factory=list)
    steps: int = 0


def run(body: list[Stmt], n: int, seed: int = 0) -> Run:
    out = Run(Random(seed))
    _execute(body, {"n": n, "c": 0}, [], out)
    return out


def value(e: Expr, env: dict[str, int]) -> int:
    return sum(c * (env[v] if v else 1) for v, c in e.items())


def _execute(body: list[Stmt], env: dict[str, int], counts: list[int], out: Run) -> None:
    for s in body:
        out.steps += 1
        if out.steps > LONGEST:
            raise Undefined
        match s:
            case ("w" | "r", e):
                at = value(e, env)
                if not 0 <= at < SIZE:
                    raise Undefined
                out.trace.append((s[0], at))
            case ("ask",):
                out.trace.append(("ask", tuple(counts)))
            case ("for" | "do", var, lo, op, hi, step, inner):
                env[var] = value(lo, env)
                counts.append(0)
                try:
                    while s[0] == "do" or OPS[op](env[var], value(hi, env)):
                        out.steps += 1
                        if out.steps > LONGEST:
                            raise Undefined
                        _execute(inner, env, counts, out)
                        env[var] += step
                        counts[-1] += 1
                        if s[0] == "do" and not OPS[op](env[var], value(hi, env)):
                            break
                except _Break:
                    pass
                counts.pop()
            case ("if", left, op, right, then, other):
                _execute(then if OPS[op](value(left, env), value(right, env)) else other, env, counts, out)
            case ("maybe", then, other):
                _execute(then if out.chance.random() < 0.5 else other, env, counts, out)
            case ("append",):
                if env["c"] >= SIZE:
                    raise Undefined
                out.trace.append(("w", env["c"]))
                env["c"] += 1
            case ("reset",):
                env["c"] = 0
            case ("break",):
                raise _Break


def live_after(trace: list[tuple[str, Any]]) -> Iterator[tuple[tuple[int, ...], frozenset[int]]]:
    """For each time the question is reached: the iteration numbers around it, and the elements that are live there.

    The last pair is the live region at the start of the program, under the key (-1,).
    """
    live: set[int] = set()
    found = []
    for kind, what in reversed(trace):
        if kind == "w":
            live.discard(what)
        elif kind == "r":
            live.add(what)
        else:
            found.append((what, frozenset(live)))
    yield from reversed(found)
    yield (-1,), frozenset(live)
