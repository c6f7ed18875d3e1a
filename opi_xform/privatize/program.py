"""All units as one program: which variables are one, who calls whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from opi_xform.effects.table import load_effects
from opi_xform.ir.statics import Routine, Static, Statics, Use
from opi_xform.privatize.model import DESCRIPTOR, Variable, generated

Owner = tuple[int, str]
"""A unit's number and a variable's key there."""


@dataclass(slots=True)
class Whole:
    """key_of: which variable of the program one of a unit is."""

    units: tuple[Statics, ...]
    variables: dict[str, Variable] = field(default_factory=dict)
    key_of: dict[Owner, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """``main`` is among the files: they are the whole program."""
        return any("main" in unit.routines for unit in self.units)

    def holders(self) -> dict[str, set[str]]:
        """Variables whose initialisers take an address -> the variables whose address it is."""
        found: dict[str, set[str]] = {}
        for number, unit in enumerate(self.units):
            for key, static in unit.variables.items():
                if static.holds and not generated(static):
                    mine = found.setdefault(self.key_of[number, key], set())
                    mine |= {self.key_of[number, held] for held in static.holds}
        return found

    def routine(self, number: int, key: str) -> tuple[int, Routine] | None:
        """The function of that key, seen from a unit."""
        own = self.units[number].routines.get(key)
        if own is not None:
            return number, own
        for other, unit in enumerate(self.units):
            found = unit.routines.get(key)
            if found is not None:
                return other, found
        return None


def merge(units: Sequence[Statics]) -> Whole:
    """Variables of one key are one; so are those that one text declares (a static one in a header)."""
    whole = Whole(tuple(units))
    leader: dict[object, object] = {}

    def find(node: object) -> object:
        while leader.setdefault(node, node) != node:
            leader[node] = leader[leader[node]]
            node = leader[node]
        return node

    for number, unit in enumerate(units):
        for key, static in unit.variables.items():
            mine: object = ("extern", static.name) if static.kind == "extern" else ("own", number, key)
            leader.setdefault(mine, mine)
            for d in static.declared:
                a, b = find(("text", d.name.file, d.name.begin, static.name)), find(mine)
                if a != b:
                    leader[a] = b
    parts: dict[object, list[tuple[int, Static]]] = {}
    for number, unit in enumerate(units):
        for key, static in unit.variables.items():
            mine = ("extern", static.name) if static.kind == "extern" else ("own", number, key)
            parts.setdefault(find(mine), []).append((number, static))
    uses: dict[Owner, list[Use]] = {}
    for number, unit in enumerate(units):
        for use in unit.uses:
            uses.setdefault((number, use.key), []).append(use)
    made = {
        (number, static.function, static.name[len(DESCRIPTOR) :])
        for number, unit in enumerate(units)
        for static in unit.variables.values()
        if static.name.startswith(DESCRIPTOR) and "opi_rank_var" in static.type.spelling
    }
    for some in parts.values():
        number, first = some[0]
        key = first.key if first.kind == "extern" else f"{number}:{first.key}"
        # One per text: a header's declaration is seen by many units.
        mine_uses = tuple(dict.fromkeys(use for n, s in some for use in uses.get((n, s.key), ())))
        done = any(s.thread_local or (n, s.function, s.name) in made for n, s in some)
        whole.variables[key] = Variable(key, first.name, tuple(some), mine_uses, done)
        for n, s in some:
            whole.key_of[n, s.key] = key
    return whole


def reached(whole: Whole, roots: Iterable[tuple[int, str]]) -> set[tuple[int, str]]:
    """Functions that code in ``roots`` may run.  A call through a pointer may reach whatever has its address taken."""
    taken = [
        (number, key)
        for number, unit in enumerate(whole.units)
        for key in (*unit.taken, *(k for routine in unit.routines.values() for k in routine.taken))
    ]
    found: set[tuple[int, str]] = set()
    work = list(roots)
    indirect = False
    described = load_effects() if work else {}
    while work:
        number, key = work.pop()
        place = whole.routine(number, key)
        if place is None:
            if key not in described and not indirect:  # it may call whatever it knows
                indirect = True
                work += taken
            continue
        at, routine = place
        if (at, key) in found:
            continue
        found.add((at, key))
        work += [(at, name) for name in routine.named]
        if routine.indirect and not indirect:
            indirect = True
            work += taken
    return found
