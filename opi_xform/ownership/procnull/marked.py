"""What memory and temporaries may hold of MPI_PROC_NULL, as far as it is known, and who has to look at it again.

What is known only grows.  A node whose step has read something is looked at again when that changes, in the order of
the program: no other node could find anything new.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.accesses import Group
from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.stretches import stretches_of
from opi_xform.ownership.model.unshared import unshared
from opi_xform.ownership.procnull.kinds import (
    ALL,
    EITHER,
    NO_MARKS,
    VALUE,
    WHOLE,
    Kind,
    Marks,
    Stretch,
    is_floating,
    kinds_of,
    meet,
    passes_over,
    puns,
)

FLOATING = "floating"  # what nodes look at that ask whether floating numbers may be, or their bytes


class Marked:
    """temps: by (frame, number).  places: by object: stretches of it (None: all of it), by kind.

    floating: floating numbers may be.  lost: one was stored nobody knows where.  passes: there are calls that are not
    followed, which write floating numbers: then all of these may be, once some are.  packed: some are in their bytes,
    in a program that has such bytes (packs).
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.objects = program.values.objects
        self.temps: dict[tuple[int, int], Marks] = {}
        self.places: dict[int, set[tuple[Kind, Stretch | None]]] = {UNKNOWN: {(kind, None) for kind in EITHER}}
        self.put_there: set[tuple[frozenset[int], tuple[Kind, ...]]] = set()  # ``put_to_all``
        self.lost = self.packed = self.floating = False
        self.passes = passes_over(program)
        self.own = unshared(program) if self.passes else frozenset()
        self.packs = self.passes and puns(program)
        self.stretches = stretches_of(program)
        self.at = -1  # the node that is being looked at
        self.readers: dict[object, set[int]] = {}  # by what they have read: an object, a group, a temporary, messages
        self.groups: dict[int, list[frozenset[int]]] = {}  # by object: those of which some node has read
        self.again = bytearray(b"\1") * len(program.graph.nodes)  # nodes that are to be looked at

    # --- who looks at what ---------------------------------------------------------------------------------------

    def looked_at(self, key: object) -> None:
        """The node that is being looked at depends on this."""
        if self.at >= 0:
            self.readers.setdefault(key, set()).add(self.at)

    def group_looked_at(self, group: Group) -> None:
        """It depends on each of these objects."""
        if self.at >= 0 and group.members not in self.readers:
            for o in group.order:
                self.groups.setdefault(o, []).append(group.members)
        self.looked_at(group.members)

    def changed(self, *keys: object) -> None:
        """These are not what they were."""
        for key in keys:
            for n in self.readers.get(key, ()):
                self.again[n] = 1

    # --- what is known -------------------------------------------------------------------------------------------

    def held(self, o: int, stretch: Stretch | None, type_: Type) -> Marks:
        """What some of these bytes of an object are, read as a type."""
        self.looked_at(o)
        places = [(kind, None) for kind in EITHER] if self.lost else self.places.get(o, ())
        return self.as_read({kind for kind, s in places if meet(s, stretch)}, type_, o in self.own)

    def held_by_some(self, group: Group, type_: Type) -> Marks:
        """What one of these objects is, anywhere in it."""
        self.group_looked_at(group)
        kinds: set[Kind] = set(EITHER) if self.lost else set()
        for o in group.order:
            if len(kinds) == len(EITHER):
                break
            if o in self.places:
                stretch = self.stretches.whole(o)
                kinds.update(kind for kind, s in self.places[o] if meet(s, stretch))
        return self.as_read(kinds, type_)

    def as_read(self, kinds: set[Kind], type_: Type, own: bool = False) -> Marks:
        """What numbers that were stored as these kinds are, read as a type.  own: no other function writes there."""
        mine = kinds_of(type_)
        found = frozenset(VALUE if kind in mine else kind for kind in kinds)
        if type_.kind == "float":
            if WHOLE in found:
                self.pack()
            if not own:
                found |= self.passed()
        return found

    def passed(self) -> Marks:
        """What a floating number may be that a call may have written or returned which is not followed."""
        if not self.passes:
            return NO_MARKS
        self.looked_at(FLOATING)
        return frozenset(mark for mark, there in ((VALUE, self.floating), (WHOLE, self.packed)) if there)

    def pack(self) -> None:
        """Some bytes of a whole number are in a floating one: calls that are not followed may copy it anywhere."""
        if self.packed or not self.packs:
            return
        self.packed = True
        self.changed(FLOATING)
        for o, info in enumerate(self.objects.table):
            if is_floating(info.type) and o not in self.own:
                self.put(o, None, (WHOLE,))

    def holds(self, o: int, stretch: Stretch | None, kinds: Sequence[Kind] = EITHER) -> bool:
        """Whether some of these bytes of an object may."""
        self.looked_at(o)
        found = self.places.get(o)
        if self.lost or found is None:
            return self.lost
        return any(kind in kinds and meet(s, stretch) for kind, s in found)

    def put(self, o: int, stretch: Stretch | None, kinds: Sequence[Kind] = EITHER) -> None:
        found = self.places.setdefault(o, set())
        for kind in kinds:
            if (kind, None) not in found and (kind, stretch) not in found:
                found.add((kind, stretch))
                self.changed(o, *self.groups.get(o, ()))
                if kind == WHOLE and not self.packed and is_floating(self.objects.table[o].type):
                    self.pack()

    def put_to_all(self, group: Group, kinds: Sequence[Kind]) -> None:
        """Somewhere in one of these objects; what was put stays."""
        if (group.members, tuple(kinds)) not in self.put_there:
            self.put_there.add((group.members, tuple(kinds)))
            for o in group.order:
                self.put(o, self.stretches.whole(o), kinds)

    def set_temp(self, frame: int, target: ins.Temp | None, marks: Marks = ALL) -> None:
        known = NO_MARKS if target is None else self.temps.get((frame, target.number), NO_MARKS)
        if target is not None and not marks <= known:
            self.temps[frame, target.number] = known | marks
            self.changed((frame, target.number))

    def loses(self) -> None:
        """One is stored, and nobody knows where."""
        if not self.lost:
            self.lost = True
            self.again = bytearray(b"\1") * len(self.again)

    def floats(self) -> None:
        """Floating numbers may be."""
        if not self.floating:
            self.floating = True
            self.changed(FLOATING)

    def some_float(self) -> bool:
        """Whether floating numbers may be."""
        self.looked_at(FLOATING)
        return self.floating
