"""What objects hold: which places are known, and in which version the rest is.

A version is a symbol for all that an object holds.  Equal versions mean equal contents.  A store of a floating number
leaves the integers and addresses of an object as they are (``ir/typed.py``): it makes a new version, of which it is
known in which version the integers and addresses are.  Who reads one of these asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opi_xform.calls.modified import Modified
from opi_xform.graph.graph import Node
from opi_xform.ir.typed import is_apart, is_whole
from opi_xform.ir.types import Type
from opi_xform.memory.environment import Cell, Env
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import Poly, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.values import Values

Kind = tuple[str, int | None, bool]  # of a type: kind, bytes, signed

WIDEST = 32  # bytes of the largest scalar


def kind_of(type_: Type) -> Kind:
    """Values of types of one kind that have the same bytes are the same."""
    return "bool" if type_.boolean else type_.kind, type_.size, type_.kind == "int" and type_.signed


class Versions:
    """``env`` and ``scope`` are those of the place that is being looked at."""

    def __init__(self, objects: Objects, values: Values, families: Mapping[int, int]) -> None:
        self.objects = objects
        self.values = values
        self.symbols: Symbols = values.symbols
        self.out = values.out
        self.env: Env = values.out.now
        self.scope: frozenset[int] = frozenset()
        self.tail = False  # at an error exit: values that vary in loops are not renamed before they are asked for
        self.offsets: dict[int, set[int]] = {}
        self.sizes: dict[tuple[int, int], int] = {}  # the most that was read or written there at once
        self.kinds: dict[tuple[int, int], set[Kind]] = {}  # as what a place was stored, and read for the first time
        self.kin: dict[int, set[int]] = {}  # objects that are another name for the same memory
        for family in families.values():
            for o in objects.table[family].members:
                self.kin.setdefault(family, set()).add(o)
                self.kin.setdefault(o, set()).add(family)
        self.whole: dict[int, Poly] = {}  # by version: that of the integers and addresses, where it is another one

    # --- what is there -------------------------------------------------------------------------------------------

    def look(self, cell: Cell) -> Poly | None:
        """What a cell holds here."""
        found = self.env.get(cell)
        return self.outside(found) if self.tail and found is not None else found

    def outside(self, value: Poly) -> Poly:
        """The value as seen where all loops have been left that are not around here."""
        for loop in sorted(self.symbols.scope(value) - self.scope, reverse=True):  # inner loops first
            value = self.symbols.leave(value, loop)
        return value

    def version(self, o: int) -> Poly:
        if o in self.objects.foreign:
            return self.symbols.of("version", ("others", len(self.symbols.table)), self.scope)
        cell: Cell = ("v", o)
        found = self.look(cell)
        if found is None:
            found = self.first_contents()
            self.out.put(cell, found)
        return found

    def first_contents(self) -> Poly:
        """The version of objects that nothing has changed."""
        return self.symbols.of("version", ("initial",), frozenset())

    def state(self, targets: frozenset[int], type_: Type | None = None) -> Poly:
        """What these objects hold here: the same symbol where each of them has the same version.

        ``type_``: nothing else is asked of them than what they hold of this type.
        """
        group = self.values.accesses.group(targets)
        versions = [self.version(o) for o in group.order]
        if type_ is not None and is_whole(type_):
            versions = [self.of_whole(v) for v in versions]
        apart = dict.fromkeys(versions)
        scope: frozenset[int] = frozenset()
        for v in apart:
            scope |= self.symbols.scope(v)
        told = tuple(v.single for v in (versions if len(apart) > 1 else apart))
        return self.symbols.of("version", (group.members, told), scope)

    def of_whole(self, version: Poly) -> Poly:
        """The version of the integers and addresses."""
        left: list[int] = []
        at = version
        while True:
            s = at.single
            assert s is not None
            found, info = self.whole.get(s), self.symbols.table[s]
            if found is not None or info.kind != "exit":
                break
            loop, inside = info.key
            assert isinstance(loop, int)
            assert isinstance(inside, int)
            left.append(loop)
            at = symbol(inside)
        if found is None:
            return version
        for loop in reversed(left):
            found = self.symbols.leave(found, loop)
        return found

    def is_whole(self, o: int, offset: int) -> bool:
        """What is known to be there is an integer or an address."""
        info = self.objects.table[o]
        if info.type is not None and info.type.is_scalar and not is_whole(info.type):
            return False
        found = self.kinds.get((o, offset))
        if not found:
            return offset == 0 and info.type is not None and info.type.is_scalar
        return all(kind in ("int", "pointer") and size != 1 for kind, size, _ in found)

    # --- what changes it -----------------------------------------------------------------------------------------

    def changed_at(self, node: Node) -> Poly:
        """The version of all objects that a node changes: who asks for a version says of which objects."""
        return self.symbols.of("version", (node.number,), self.scope)

    def overwritten(self, o: int, lo: int, size: int, node: Node, type_: Type | None = None) -> None:
        """Some of an object's bytes are no longer known.  ``type_``: of what is stored there."""
        if type_ is not None and self.leaves_whole(type_):
            self.floats_at(o, lo, size, node)
            self.havoc(frozenset(self.kin.get(o, ())), node, type_)
            return
        for offset in self.offsets.get(o, ()):
            if lo - self.sizes.get((o, offset), WIDEST) < offset < lo + size:
                self.out.drop((o, offset))
        if lo < self.sizes.get((o, 0), WIDEST):
            self.out.drop((o, 0))
        self.out.put(("v", o), self.changed_at(node))
        if o in self.kin:
            self.havoc(frozenset(self.kin[o]) - {o}, node)

    def havoc(self, objects: frozenset[int], node: Node, type_: Type | None = None) -> None:
        """The contents of these objects are no longer known.  ``type_``: of what is stored there.

        Those of foreign ones never are: each read finds something new.
        """
        if self.kin:
            objects = objects.union(*(self.kin[o] for o in objects if o in self.kin))
        objects = objects.difference(self.objects.foreign)
        if type_ is not None and self.leaves_whole(type_):
            for o in sorted(objects):
                self.floats_at(o, None, 0, node)
            return
        version = self.changed_at(node)
        for o in objects:
            for offset in self.offsets.get(o, ()):
                self.out.drop((o, offset))
            self.out.drop((o, 0))
            self.out.put(("v", o), version)

    def leaves_whole(self, type_: Type) -> bool:
        """A store of this type leaves all integers and addresses as they are."""
        return self.objects.floats_apart and is_apart(type_)

    def floats_at(self, o: int, lo: int | None, size: int, node: Node) -> None:
        """A floating number is stored somewhere in an object; ``lo``: at least so far from its begin."""
        for offset in {0, *self.offsets.get(o, ())}:
            width = self.sizes.get((o, offset), WIDEST)
            if lo is not None and not lo - width < offset < lo + size:
                continue
            if not self.is_whole(o, offset):
                self.out.drop((o, offset))
        before = self.of_whole(self.version(o))
        scope = self.scope | self.symbols.scope(before)
        after = self.symbols.get("version", (node.number, "floating", before.single), scope)
        self.whole[after] = before
        self.out.put(("v", o), symbol(after))

    # --- where paths meet ----------------------------------------------------------------------------------------

    def merged(self, block: int, incoming: list[Poly], scope: frozenset[int], *before: object) -> Poly:
        """The version where several meet: objects with the same versions before have the same one behind."""
        s = self.symbols.get("phi", (block, ("v", *incoming), *before), scope)
        whole = [self.of_whole(v) for v in incoming] if self.whole else incoming
        if whole is incoming:
            return symbol(s)
        if all(v == whole[0] for v in whole):
            self.whole[s] = whole[0]
        elif whole != incoming:
            self.whole[s] = self.symbols.of("phi", (block, ("v", *whole), *before), scope)
        return symbol(s)

    def with_kin(self, loops: Sequence[Modified]) -> Sequence[Modified]:
        """What loops change of an object they change of the others that are names for its memory."""
        if self.kin:
            for one in (m for loop in loops for m in (loop, loop.whole) if m is not None):
                for o in sorted(self.kin):
                    if ("v", o) in one.cells:
                        for other in sorted(self.kin[o]):
                            one.cells.setdefault(("v", other), False)
                            one.parts.pop(other, None)
        return loops

    def stays(self, cell: Cell, modified: Modified) -> bool:
        """A loop changes an object, and no integer or address at this place."""
        o, offset = cell
        if modified.whole is None or not isinstance(o, int) or not isinstance(offset, int):
            return False
        if not self.is_whole(o, offset):
            return False
        if ("v", o) not in modified.whole.cells:
            return True
        places = modified.whole.parts.get(o)
        return places is not None and not self.meets(o, offset, places)

    def of_turns(self, header: int, cell: Cell, before: Poly, modified: Modified) -> Poly:
        """The version at a loop's header of an object that the loop changes."""
        if modified.whole is None or cell in modified.whole.cells:
            return self.symbols.of("phi", (header, ("v",)), self.scope)
        whole = self.of_whole(before)
        s = self.symbols.get("phi", (header, ("v", "floating", whole.single)), self.scope)
        self.whole[s] = whole
        return symbol(s)

    def meets(self, o: int, offset: int, places: set[tuple[int, int]]) -> bool:
        """What an object holds at an offset lies in one of these places, in part."""
        width = self.sizes.get((o, offset), WIDEST)
        return any(lo - width < offset < lo + size for lo, size in places)
