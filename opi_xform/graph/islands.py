"""Functions that are analysed by themselves where the whole program is beyond the budget.

Each function with a message, and what it calls as far as that is small, is looked at as if the rest of the program
were not known: anything may happen before it begins, and in each call that is not followed.  Memory that such a
function makes for itself and hands to nobody is as well known as in the whole program.

Where all ways that lead to such functions from main are within the budget, the group begins there: it is the whole
program, but that calls of other functions are not followed (``Island.rooted``).  Then variables that only functions of
the group name are as well known, too (``Names``).  Large programs keep their messages' buffers in such ones: ``static
double *send_buf;``, allocated in one function of a file, packed in others, sent in a third.  Such a group tells why
sites stay, and converts none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from opi_xform import budget
from opi_xform.effects.outside import foreign
from opi_xform.graph.around import Around
from opi_xform.graph.graph import MAIN, miscounted
from opi_xform.graph.whole import entries, initialised
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import parts_of
from opi_xform.ir.walk import children, expressions
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.pointers import PointerCalls
from opi_xform.record import dataclass

SMALL = 600
"""Instructions of a function and all that it calls, copies and all, from which on its calls are not followed."""


ANY = ""
"""What leads to every function: text that is not understood, a call through a pointer that may be any."""


@dataclass(frozen=True, slots=True)
class Island:
    """Functions that are looked at by themselves.

    needed: those with messages, and those that are there for a variable.  rooted: main alone is entered from outside,
    and all ways to these are in the group.  parts: the groups that it would be if they were entered from anywhere.
    These tell what converts.
    """

    functions: frozenset[str]
    needed: frozenset[str]
    rooted: bool = False
    parts: tuple[Island, ...] = ()


class Names:
    """Which functions of a program name which of its variables, and which other functions they may lead to.

    users: by variable, of those that only functions reach which name them: no initialiser has their address.  A program
    without a main has none, since functions outside the files may call in.  Neither have files with text that is not
    understood.  outside: functions that libraries may call.
    """

    def __init__(self, units: Sequence[ast.Unit], around: Around) -> None:
        whole = around.whole
        self.around = around
        self.complete = entries(whole) == (MAIN,)
        self.leading: dict[str, set[str]] = {ANY: set(whole.functions)}
        users: dict[str, set[str]] = {}
        dark: set[str] = set()
        for name, function in whole.functions.items():
            leading = self.leading[name] = {ANY} if function.refused else self._called(name)
            mine: set[str] = set()
            understood = not function.refused
            stack = [*expressions(function.body), *(v.init for v in function.variables.values() if v.init is not None)]
            while stack:
                e = stack.pop()
                if isinstance(e, ast.VarRef):
                    mine.add(e.var)
                elif isinstance(e, ast.FuncRef):
                    leading.add(e.name)
                understood = understood and not isinstance(e, ast.Opaque)
                stack.extend(children(e))
            for key in mine:
                users.setdefault(key, set()).add(name)
            if not understood:
                dark.add(name)
        self.leaders: dict[str, set[str]] = {}
        for name, found in self.leading.items():
            for other in found:
                self.leaders.setdefault(other, set()).add(name)
        self.outside = self._outside()
        out: set[str] = {*initialised(whole), *foreign(whole.variables, True)}
        for unit in units:
            if not dark.isdisjoint(unit.functions):
                out.update(unit.globals)
        self.users = {
            key: frozenset(found)
            for key, found in users.items()
            if self.complete and key in whole.variables and whole.variables[key].is_global and key not in out
        }

    def _calls(self, name: str) -> list[ins.CallInstr]:
        body = self.around.lowerings.get(name)
        found = (i for block in body.blocks for i in block) if body is not None else ()
        return [i for i in found if isinstance(i, ins.CallInstr)]

    def _called(self, name: str) -> set[str]:
        """Functions that calls through pointers in a function may reach."""
        pointed = (self._pointed(c) for c in self._calls(name) if not isinstance(c.callee, ins.AddrFunc))
        return set[str]().union(*pointed)

    def _pointed(self, call: ins.CallInstr) -> tuple[str, ...]:
        """Functions that a call through a pointer may reach, also where the graph does not follow it."""
        pointers = self.around.pointers
        if pointers.never(call):
            return ()
        if not pointers.known:
            return (ANY,)
        return pointers.targets(call) or (ANY,)

    def _outside(self) -> frozenset[str]:
        """What libraries are given to call; where it is not known which pointers they have, all that they may be."""
        taken, pointers, effects = frozenset(self.around.whole.taken), self.around.pointers, self.around.effects
        out: set[str] = set()
        for name in self.leading if pointers.known else ():
            for call in self._calls(name):
                key = call.callee.key if isinstance(call.callee, ins.AddrFunc) else MAIN
                if key in self.leading:
                    continue
                out.update(part.key for a in call.args for part in parts_of(a) if isinstance(part, ins.AddrFunc))
                effect = effects.get(key)
                given = [call.args[c.arg] for c in effect.calls if c.arg < len(call.args)] if effect is not None else []
                if not all(isinstance(operand, (ins.AddrFunc, ins.Const)) for operand in given):
                    return taken
        return frozenset(out) if pointers.known else taken

    def leads(self, key: str) -> bool:
        """A message's buffer may be the variable, or in it."""
        return self.around.whole.variables[key].type.kind in ("pointer", "array", "record")

    def above(self, functions: Iterable[str]) -> set[str]:
        """All functions that lead to these."""
        found: set[str] = set()
        work = list(functions)
        while work:
            new = self.leaders.get(work.pop(), set()) - found
            found |= new
            work += new
        return found - {ANY}

    def _plain(self, name: str) -> bool:
        """A function that is followed wherever its arguments are those that it takes."""
        body = self.around.lowerings.get(name)
        return body is not None and not body.refused and not body.function.type.variadic

    def own(self, group: Collection[str]) -> frozenset[str]:
        """Variables that only functions of a group touch, and only where it is seen: no call that is not followed leads
        to one of them.
        """
        left = self.left(group)
        return frozenset(key for key, found in self.users.items() if found.isdisjoint(left) and found.issubset(group))

    def left(self, group: Collection[str]) -> set[str]:
        """Functions that calls lead to which are not followed, of a group that is entered from main: they may be of the
        group, too.
        """
        work = [*self.outside]
        functions = self.around.whole.functions
        for name in group:
            work += (other for other in self.leading[name] if other not in group)
            for call in self._calls(name):
                if not isinstance(call.callee, ins.AddrFunc):
                    names, followed = self._pointed(call), self.around.pointers.targets(call)
                    again = {name} | self.above([name]) if followed else {name}
                    if not followed or any(n in again or not self._plain(n) for n in names):
                        work += names
                elif call.callee.key in group:
                    function = functions[call.callee.key]
                    if function.type.variadic or miscounted(function, len(call.args)):
                        work.append(function.key)
        found: set[str] = set()
        while work:
            name = work.pop()
            if name in self.leading and name not in found:
                found.add(name)
                work += self.leading[name]
        return found - {ANY}


def islands(names: Names, sending: Iterable[str]) -> list[Island]:
    """Groups of functions, each with what is followed of the calls in it.  sending: those with messages.

    Every function with messages is in one group, with the others that are followed from it; it is in none where it is
    beyond the budget.
    """
    lowerings = names.around.lowerings
    first = frozenset(name for name in sending if _body(lowerings, name) is not None)
    sizes = _Sizes(lowerings, names.around.pointers)
    groups: list[frozenset[str]] = []
    for name in sorted(first):
        found = sizes.followed([name])
        for other in [g for g in groups if not g.isdisjoint(found & first)]:
            groups.remove(other)
            found |= other
        groups.append(found)
    out = [Island(group, group & first) for group in groups if sizes.copied(group) <= budget.GROUP]
    return _from_main(out, first, names, sizes) if names.complete else out


def _from_main(out: list[Island], first: frozenset[str], names: Names, sizes: _Sizes) -> list[Island]:
    """The groups, with all ways that lead to them, and with the functions that name the same variables: the smallest
    first.
    """
    wanted = [(sum(map(sizes.own, g.functions)), "", g.functions & first) for g in out]
    for key, users in names.users.items():
        if names.leads(key) and not users.isdisjoint(first):
            wanted.append((sum(map(sizes.own, users)), key, users))
    for _, key, users in sorted(wanted, key=lambda w: (w[0], w[1], sorted(w[2]))):
        if any(g.rooted and users <= g.functions and (not key or key in names.own(g.functions)) for g in out):
            continue
        found = next(
            (
                Island(found, needed, True)
                for needed, found in (_rooted(users, out, first, names, sizes, wide) for wide in (True, False))
                if sizes.from_main(found) <= budget.ROOTED
                and all(map(sizes.known_body, found))
                and names.left(found).isdisjoint(needed)
            ),
            None,
        )
        if found is not None:
            joined = [g for g in out if g.needed <= found.needed]
            parts = tuple(part for g in joined for part in (g.parts or (g,)))
            out = [*(g for g in out if g not in joined), replace(found, parts=parts)]
    return out


def _rooted(
    users: frozenset[str], out: Sequence[Island], first: frozenset[str], names: Names, sizes: _Sizes, wide: bool
) -> tuple[frozenset[str], frozenset[str]]:
    """Functions all ways to which have to be seen, and a group that has these ways.

    wide: what is small is followed on all of these ways.  Otherwise it is where the functions themselves call it.
    """
    needed, found = users, frozenset[str]()
    while needed != found & (first | needed):
        needed |= found & first
        needed = needed.union(*(g.needed for g in out if not g.needed.isdisjoint(needed)))
        above = names.above(needed)
        found = sizes.followed(needed | above) if wide else sizes.followed(needed) | above
    return needed, found


def _body(lowerings: Lowerings, name: str) -> ins.Lowered | None:
    body = lowerings.get(name)
    return None if body is None or body.refused else body


class _Sizes:
    """How many instructions functions bring with them."""

    def __init__(self, lowerings: Lowerings, pointers: PointerCalls) -> None:
        self.lowerings = lowerings
        self.pointers = pointers
        self.through: dict[str, list[str]] = {}
        self.calls: dict[str, list[str]] = {}
        self.known: dict[str, int] = {}

    def known_body(self, name: str) -> bool:
        return _body(self.lowerings, name) is not None

    def called(self, name: str) -> list[str]:
        """Of each call by a name, the function, where its body is known."""
        if name not in self.calls:
            body = _body(self.lowerings, name)
            found = [i for block in body.blocks for i in block if isinstance(i, ins.CallInstr)] if body else []
            direct = [i.callee.key for i in found if isinstance(i.callee, ins.AddrFunc)]
            self.calls[name] = [key for key in direct if self.known_body(key)]
            pointed = (i for i in found if not isinstance(i.callee, ins.AddrFunc))
            self.through[name] = [n for i in pointed for n in self.pointers.targets(i)]
        return self.calls[name]

    def all_called(self, name: str) -> list[str]:
        """And of each call through a pointer, all functions."""
        return [*self.called(name), *self.through[name]]

    def followed(self, names: Iterable[str]) -> frozenset[str]:
        """Functions, and what they call as far as that is small."""
        found = set(names)
        work = sorted(found)
        while work:
            new = {c for c in self.called(work.pop()) if c not in found and self.of(c) <= SMALL}
            found |= new
            work += sorted(new)
        return frozenset(found)

    def own(self, name: str) -> int:
        body = _body(self.lowerings, name)
        return 0 if body is None else sum(map(len, body.blocks)) + 2

    def of(self, name: str) -> int:
        """With all that it calls; more than ``SMALL`` where it leads back to itself."""
        much = SMALL + 1
        self._fill(name, self.known, much, self.called, much)
        return self.known[name]

    def copied(self, group: Collection[str]) -> int:
        """Of a group that is looked at by itself: each function with the copies of what it calls of the group."""
        known: dict[str, int] = {}
        for name in sorted(group):
            self._fill(name, known, 0, lambda n: [c for c in self.called(n) if c in group])
        return sum(known[name] for name in group)

    def from_main(self, group: Collection[str]) -> int:
        """Of a group that is entered from main."""
        known: dict[str, int] = {}
        self._fill(MAIN, known, 0, lambda n: [c for c in self.all_called(n) if c in group])
        return known[MAIN]

    def _fill(
        self, name: str, known: dict[str, int], again: int, calls: Callable[[str], list[str]], most: int = 1 << 60
    ) -> None:
        """again: what a call counts that leads back.  most: as how much all counts that is more."""
        active: set[str] = set()
        stack = [name]
        while stack:
            at = stack[-1]
            if at in known:
                stack.pop()
            elif at in active:
                stack.pop()
                active.discard(at)
                known[at] = min(most, self.own(at) + sum(known.get(c, again) for c in calls(at)))
            else:
                active.add(at)
                stack += [c for c in calls(at) if c not in known and c not in active]
