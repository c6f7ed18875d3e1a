"""Inclusion constraints over sets of objects, and their least solution; what they mean is told in ``constraints``."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform import budget
from opi_xform.memory.objects import UNKNOWN, Objects

# ("c", object): its content; ("w", object): its integers; ("d", object): its pointers in no struct; ("t", frame, temp)
Name = tuple[object, ...]
OUTSIDE: Name = ("c", UNKNOWN)
BYTES: Name = ("b", UNKNOWN)
SENT: Name = ("b", -2)  # what unknown code may have taken apart: all that is outside, where there is such code
WEAK: Name = ("b", -1)  # what may be taken apart so, unless it is outside: from there it comes back as such
NO_OBJECT = -1  # a number, a literal, a function
NOTHING: frozenset[int] = frozenset()


def twin(o: int) -> int:
    """An object as it is seen through an address that was cast to one of bytes or numbers; and back."""
    return NO_OBJECT - 1 - o


class Exhausted(Exception):
    """The constraints are beyond the budget."""


class Inclusions:
    """The constraints of a program: ``add`` to ``view`` state them, ``solve`` hands on what follows.

    flat: all memory that one wrapper of malloc hands out is one object: its characters are not its pointers.
    """

    def __init__(self, objects: Objects, apart: Mapping[Name, frozenset[int]], flat: bool) -> None:
        self.objects = objects
        self.apart = apart
        self.flat = flat
        self.growing: dict[Name, set[int]] = {}  # while it is solved: what a name holds; a wide one, what more it holds
        self.wide: set[Name] = set()  # hold all that is outside, whatever else will be found there
        self.outside: set[int] = self.growing.setdefault(OUTSIDE, set())
        self.copies: dict[Name, set[Name]] = {}
        self.loads: dict[Name, set[Name]] = {}
        self.stores: dict[Name, set[Name]] = {}
        self.views: dict[Name, set[tuple[str, Name]]] = {}  # how bytes are read and written there: see ``view``
        self.work: list[tuple[Name, frozenset[int]]] = []  # news, to be handed on; none: it became wide
        self.names = 0
        self.handed = 0  # objects handed on from one name to another
        self.add(OUTSIDE, frozenset({UNKNOWN}))
        self.copy(WEAK, BYTES)

    def fresh(self, kind: str = "v") -> Name:
        """A name of its own; of kind ``p``: of a pointer that is followed."""
        self.names += 1
        return (kind, self.names)

    def solution(self) -> tuple[dict[Name, frozenset[int]], set[Name]]:
        """What each name holds, equal large sets being one; and the names that hold something that is no object."""
        while True:
            self.solve()
            if not self.follow_unknown():
                break
        outside = frozenset(self.outside)
        numbers: set[Name] = set()
        known: dict[frozenset[int], frozenset[int]] = {}
        out: dict[Name, frozenset[int]] = {}
        for name in (*self.growing, *(name for name in self.wide if name not in self.growing)):
            more = frozenset(self.growing.get(name, ()))
            if NO_OBJECT in more:
                numbers.add(name)
            if more and min(more) < 0:
                more = frozenset(o for o in more if o >= 0)
            if name in self.wide:
                more -= outside
                if more not in known:
                    known[more] = outside | more if more else outside
                out[name] = known[more]
            else:
                out[name] = more
        for o in outside:
            if ("c", o) not in self.apart:
                out["c", o] = outside
        return out, numbers

    def view(self, kind: str, pointer: Name, target: Name) -> None:
        """Bytes behind a pointer.

        mark: the target is the pointer, seen as one to bytes; plain: no longer.  all, chars, numbers, words: what is
        found there goes to the target, all of it, or what a read of this type finds.  put: bytes are written there;
        fill: they are addresses; word: the target is stored there as an integer that is as wide as an address;
        cell: as a pointer that is no member of a struct.  twins, patch: members of a struct are read and written, which
        are bytes where the struct is seen as such: in a union with an address.
        """
        pointer = self.place(pointer)
        self.views.setdefault(pointer, set()).add((kind, target))
        self.viewed(frozenset(self.growing.get(pointer, ())), pointer in self.wide or pointer == OUTSIDE, kind, target)

    def viewed(self, objects: frozenset[int], wide: bool, kind: str, target: Name) -> None:
        outside = wide or not objects.isdisjoint(self.outside)
        match kind:
            case "mark":
                if wide:
                    self.widen(target)
                self.add(target, frozenset(twin(o) if o > UNKNOWN else o for o in objects) | objects)
            case "plain":
                if wide:
                    self.widen(target)
                self.add(target, frozenset(o for o in objects if o >= NO_OBJECT))
            case "put" | "fill":
                if outside:
                    self.copy(BYTES, OUTSIDE)
                for o in objects - {NO_OBJECT}:
                    place = twin(o) if o < 0 else o
                    for name in (("c", place), ("w", place)):
                        self.copy(BYTES, name)
                        if kind == "fill":
                            self.widen(name)
                        elif o < 0:
                            self.copy(SENT, name)
            case "word":
                for o in sorted(objects):
                    if o >= 0:
                        self.copy(target, ("w", o))
                    elif o != NO_OBJECT:
                        self.copy(BYTES, ("c", twin(o)))
            case "patch":
                for o in objects:
                    if o < NO_OBJECT:
                        for name in (("c", twin(o)), ("w", twin(o))):
                            self.copy(BYTES, name)
                            self.copy(SENT, name)
            case "twins":
                for o in objects:
                    if o < NO_OBJECT:
                        self.copy(("c", twin(o)), target)
            case "cell":
                for o in objects:
                    if o > UNKNOWN and self.objects.table[o].kind == "heap" and not self.flat:
                        self.copy(target, ("d", o))
            case _:
                program = wide or not (objects - {UNKNOWN}).isdisjoint(self.outside)  # not only the library's own
                if (program and kind == "all") or (outside and kind == "words" and target != BYTES):
                    self.widen(target)
                for o in sorted(objects):
                    self.find(o, kind, target)

    def find(self, o: int, kind: str, target: Name) -> None:
        """What a read of an object as bytes finds of addresses."""
        if o in (NO_OBJECT, UNKNOWN):
            return
        info = self.objects.table[twin(o) if o < 0 else o]
        declared = info.type
        while declared is not None and declared.is_array:
            declared = declared.elem
        scalar = declared is not None and declared.kind in ("int", "float", "pointer")
        if o < 0 or kind == "all" or (scalar and kind == "words"):
            self.copy(("c", info.number), target)
        elif scalar or (kind == "chars" and info.kind == "heap" and not self.flat):
            self.copy(("c", info.number), WEAK if target == BYTES else target)
        elif kind in ("numbers", "words") and info.kind == "heap":
            self.copy(("d", o), WEAK if target == BYTES else target)  # all that is stored as elements of an array
        if kind == "words" and o >= 0:
            self.copy(("w", o), WEAK if target == BYTES else target)

    def follow_unknown(self) -> bool:
        """Pointers that are followed and of which nothing is known lead anywhere.  Whether there are more of them."""
        found = [
            name
            for name in {*self.loads, *self.stores, *self.views}
            if name[0] == "p" and name not in self.wide and not self.growing.get(name)
        ]
        found = [name for name in found if self.is_followed(name)]
        everything = frozenset(o for one in self.growing.values() for o in one if o > UNKNOWN) if found else NOTHING
        for name in sorted(found):
            self.widen(name)
            self.add(name, everything)
        return bool(found)

    def is_followed(self, name: Name) -> bool:
        """Something is read or written through it."""
        kinds = {kind for kind, _ in self.views.get(name, ())}
        return name in self.loads or name in self.stores or bool(kinds - {"mark", "plain", "twins", "patch", "cell"})

    def add(self, name: Name, objects: frozenset[int]) -> None:
        name = self.place(name)
        if name in (OUTSIDE, BYTES, WEAK):
            objects = frozenset(o for o in objects if o > UNKNOWN or (o == UNKNOWN and name == OUTSIDE))
        mine = self.growing.setdefault(name, set())
        new = objects - mine
        if name in self.wide:
            new -= self.outside
        elif self.apart and name in self.apart:
            new -= self.apart[name]
        if new:
            mine |= new
            self.work.append((name, new))

    def widen(self, name: Name) -> None:
        """The name holds what is outside."""
        name = self.place(name)
        if name == WEAK:
            return
        if name in self.apart:
            self.copies.setdefault(OUTSIDE, set()).add(name)
            self.add(name, frozenset(self.outside))
        elif name != OUTSIDE and name not in self.wide:
            self.wide.add(name)
            self.work.append((name, NOTHING))

    def place(self, name: Name) -> Name:
        """Where what a name holds is kept: what is outside holds what the outside holds."""
        return OUTSIDE if name[0] == "c" and name[1] in self.outside and name not in self.apart else name

    def copy(self, source: Name, target: Name) -> None:
        source, target = self.place(source), self.place(target)
        if source == target:
            return
        if source == OUTSIDE:
            self.widen(target)
        elif target not in self.copies.setdefault(source, set()):
            self.copies[source].add(target)
            if source in self.growing:
                self.add(target, frozenset(self.growing[source]))
            if source in self.wide:
                self.widen(target)

    def load(self, pointer: Name, target: Name) -> None:
        pointer = self.place(pointer)
        self.loads.setdefault(pointer, set()).add(target)
        self.loaded(frozenset(self.growing.get(pointer, ())), pointer in self.wide, target)

    def loaded(self, objects: frozenset[int], wide: bool, target: Name) -> None:
        if wide or not objects.isdisjoint(self.outside):
            self.widen(target)
        for o in sorted(objects if self.apart else objects - self.outside):
            if o >= 0:
                self.copy(("c", o), target)

    def store(self, pointer: Name, source: Name) -> None:
        pointer = self.place(pointer)
        self.stores.setdefault(pointer, set()).add(source)
        self.stored(frozenset(self.growing.get(pointer, ())), pointer in self.wide, source)

    def stored(self, objects: frozenset[int], wide: bool, source: Name) -> None:
        if wide or not objects.isdisjoint(self.outside):
            self.copy(source, OUTSIDE)
        for o in sorted(objects if self.apart else objects - self.outside):
            if o >= 0:
                self.copy(source, ("c", o))

    def solve(self) -> None:
        while self.work:
            name, new = self.work.pop()
            self.handed += len(new) * len(self.copies.get(name, ()))
            if self.handed > budget.INCLUSIONS:
                raise Exhausted
            if name == OUTSIDE:
                for o in sorted(new - {UNKNOWN}):
                    self.join(("c", o))
            wide = not new
            for target in sorted(self.loads.get(name, ()), key=repr):
                self.loaded(new, wide, target)
            for source in sorted(self.stores.get(name, ()), key=repr):
                self.stored(new, wide, source)
            for kind, target in sorted(self.views.get(name, ()), key=repr):
                self.viewed(new, wide, kind, target)
            for target in list(self.copies.get(name, ())):
                if wide:
                    self.widen(target)
                else:
                    self.add(target, new)

    def join(self, name: Name) -> None:
        """An object came to be outside: what it holds is there, and what is there it may hold."""
        if name in self.apart:
            self.copy(name, OUTSIDE)
            self.widen(name)
            return
        self.wide.discard(name)
        self.add(OUTSIDE, frozenset(self.growing.pop(name, ())))
        for target in sorted(self.copies.pop(name, ()), key=repr):
            self.copy(OUTSIDE, target)
        for target in sorted(self.loads.pop(name, ()), key=repr):
            self.load(OUTSIDE, target)
        for source in sorted(self.stores.pop(name, ()), key=repr):
            self.store(OUTSIDE, source)
        for kind, target in sorted(self.views.pop(name, ()), key=repr):
            self.view(kind, OUTSIDE, target)
        self.copy(OUTSIDE, ("w", name[1]))  # its integers are there as well
