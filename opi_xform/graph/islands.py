"""Functions that are analysed by themselves where the whole program is beyond the budget.

Each function with a message, and what it calls as far as that is small, is looked at as if the rest of the program
were not known: anything may happen before it begins, and in each call that is not followed.  Memory that such a
function makes for itself and hands to nobody is as well known as in the whole program.
"""

from __future__ import annotations

from collections.abc import Iterable

from opi_xform import budget
from opi_xform.ir import instr as ins
from opi_xform.program.lowerings import Lowerings

SMALL = 600
"""Instructions of a function and all that it calls, copies and all, from which on its calls are not followed."""


def islands(lowerings: Lowerings, sending: Iterable[str]) -> list[frozenset[str]]:
    """Groups of functions, each with what is followed of the calls in it.  sending: those with messages.

    Every function with messages is in one group, with the others that are followed from it; it is in none where it is
    beyond the budget.
    """
    first = sorted(name for name in sending if _body(lowerings, name) is not None)
    sizes = _Sizes(lowerings)
    groups: list[set[str]] = []
    for name in first:
        found = {name}
        work = [name]
        while work:
            new = {c for c in sizes.called(work.pop()) if c not in found and sizes.of(c) <= SMALL}
            found |= new
            work += sorted(new)
        for other in [g for g in groups if not g.isdisjoint(found & set(first))]:
            groups.remove(other)
            found |= other
        groups.append(found)
    return [frozenset(g) for g in groups if sum(map(sizes.copied, g)) <= budget.GROUP]


def _body(lowerings: Lowerings, name: str) -> ins.Lowered | None:
    body = lowerings.get(name)
    return None if body is None or body.refused else body


class _Sizes:
    """How many instructions functions bring with them."""

    def __init__(self, lowerings: Lowerings) -> None:
        self.lowerings = lowerings
        self.calls: dict[str, list[str]] = {}
        self.known: dict[str, int] = {}

    def called(self, name: str) -> list[str]:
        """Of each call by a name, the function, where its body is known."""
        if name not in self.calls:
            body = _body(self.lowerings, name)
            self.calls[name] = [
                i.callee.key
                for block in (body.blocks if body is not None else ())
                for i in block
                if isinstance(i, ins.CallInstr)
                and isinstance(i.callee, ins.AddrFunc)
                and _body(self.lowerings, i.callee.key) is not None
            ]
        return self.calls[name]

    def own(self, name: str) -> int:
        body = _body(self.lowerings, name)
        return 0 if body is None else sum(map(len, body.blocks)) + 2

    def of(self, name: str) -> int:
        """With all that it calls; more than ``SMALL`` where it leads back to itself."""
        much = SMALL + 1
        active: set[str] = set()
        stack = [name]
        while stack:
            at = stack[-1]
            if at in self.known:
                stack.pop()
            elif at in active:
                stack.pop()
                active.discard(at)
                self.known[at] = min(much, self.own(at) + sum(self.known.get(c, much) for c in self.called(at)))
            else:
                active.add(at)
                stack += [c for c in self.called(at) if c not in self.known and c not in active]
        return self.known[name]

    def copied(self, name: str) -> int:
        """With the copies of what it calls that are followed."""
        return self.own(name) + sum(s for s in map(self.of, self.called(name)) if s <= SMALL)
