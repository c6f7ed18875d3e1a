"""Functions of the program that give addresses to keep: to threads, handlers, windows, persistent requests.

Where the program graph does not follow a call (recursion, the budget, code that is not understood), nobody sees what it
registers.  What such a function can reach may change at any time from then on (``calls/foreign.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.effects.model import Effects, FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir.walk import children, expressions


def hidden(functions: Mapping[str, ast.Function], effects: Effects) -> frozenset[str]:
    """Functions of the program that may give addresses away, themselves or by what they mention."""
    mentions: dict[str, set[str]] = {}
    out: set[str] = set()
    for name, function in functions.items():
        found = mentions[name] = set()
        if function.refused:
            out.add(name)
        stack = [*expressions(function.body), *(v.init for v in function.variables.values() if v.init is not None)]
        while stack:
            e = stack.pop()
            if isinstance(e, ast.FuncRef):
                found.add(e.name)
                if e.name not in functions and _keeps(effects.get(e.name)):
                    out.add(name)
            stack.extend(children(e))
    users: dict[str, list[str]] = {}
    for name, found in mentions.items():
        for used in found:
            users.setdefault(used, []).append(name)
    work = sorted(out)
    while work:
        for user in users.get(work.pop(), ()):
            if user not in out:
                out.add(user)
                work.append(user)
    return frozenset(out)


def _keeps(effect: FunctionEffect | None) -> bool:
    """A library function that may hold on to what it is given."""
    return (
        effect is None
        or (bool(effect.retains) and (effect.mpi is None or effect.mpi.request is None or effect.mpi.persistent))
        or bool(effect.retains_stored)
        or any(callback.when != "exit" for callback in effect.calls)
        or (effect.allocates is not None and effect.allocates.shared)
    )
