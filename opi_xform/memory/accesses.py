"""What each node touches of memory: one record for each access, however many objects it may be to.

A pointer into a list may point to hundreds of objects, and each of hundreds of instructions may touch them all.  Such
an access is one ``Spread`` with a set of objects that it shares with others.  Who asks for an object, or for a node,
gets an ``Access`` for each object, made then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """Bytes of one object touched by a node, in program order within it.

    kind: ``R`` or ``W``.  lo, length: bytes from the object's start; ``lo`` None: anywhere in it.  must: a write that
    happens on every execution and covers exactly these bytes.  why: the called function whose access it is.
    within: bytes of the array that the subscript must stay inside (0: no such array is known).  padding: bytes of a
    struct after what is written, which belong to no member.
    """

    node: int
    object: int
    kind: str
    lo: Poly | None
    length: Poly | None
    must: bool
    why: str = ""
    within: int = 0
    padding: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """A set of objects, which many accesses share; ``order``: the same, sorted."""

    members: frozenset[int]
    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """An access to some object of a group, anywhere in it, which happens or not."""

    node: int
    group: Group
    kind: str
    why: str = ""
    within: int = 0
    padding: int = 0

    def to(self, o: int) -> Access:
        return Access(self.node, o, self.kind, None, None, False, self.why, self.within, self.padding)


Record = Access | Spread


class Accesses:
    """All of a program, by node and by object."""

    def __init__(self) -> None:
        self.records: dict[int, list[Record]] = {}
        self.groups: dict[frozenset[int], Group] = {}
        self.known = 0  # records that ``places`` knows
        self.count = 0
        self.places: dict[int, list[int]] = {}  # object -> nodes with an access to it alone
        self.spread: dict[frozenset[int], list[int]] = {}  # group -> nodes
        self.of_object: dict[int, list[Group]] = {}
        self.position: dict[int, int] = {}  # of nodes, in the order in which they were looked at

    # --- putting -------------------------------------------------------------------------------------------------

    def add(self, access: Record) -> None:
        self.records.setdefault(access.node, []).append(access)
        self.count += 1

    def group(self, objects: frozenset[int]) -> Group:
        """The group of these objects: always the same one."""
        found = self.groups.get(objects)
        if found is None:
            found = self.groups[objects] = Group(objects, tuple(sorted(objects)))
        return found

    # --- by node -------------------------------------------------------------------------------------------------

    def at(self, n: int) -> Iterator[Access]:
        """What a node touches, one for each object."""
        for record in self.records.get(n, ()):
            if isinstance(record, Access):
                yield record
            else:
                yield from (record.to(o) for o in record.group.order)

    def at_object(self, n: int, o: int) -> list[Access]:
        """What a node touches of an object."""
        out: list[Access] = []
        for record in self.records.get(n, ()):
            if isinstance(record, Access):
                if record.object == o:
                    out.append(record)
            elif o in record.group.members:
                out.append(record.to(o))
        return out

    def touches(self, n: int, objects: Iterable[int], kind: str = "") -> bool:
        """Whether a node may touch one of these objects (in one of two ways)."""
        for record in self.records.get(n, ()):
            if kind and record.kind != kind:
                continue
            if isinstance(record, Access):
                if record.object in objects:
                    return True
            elif not record.group.members.isdisjoint(objects):
                return True
        return False

    def objects(self, n: int, kind: str = "") -> Iterator[int]:
        """The objects that a node may touch (in one of two ways); those of several accesses several times."""
        for record in self.records.get(n, ()):
            if kind and record.kind != kind:
                continue
            if isinstance(record, Access):
                yield record.object
            else:
                yield from record.group.order

    def touches_other(self, n: int, o: int) -> bool:
        """Whether a node may touch an object that is not this one."""
        return any(
            record.object != o if isinstance(record, Access) else record.group.members != {o}
            for record in self.records.get(n, ())
        )

    def placed(self, n: int) -> list[Access]:
        """What a node touches of one object each."""
        return [r for r in self.records.get(n, ()) if isinstance(r, Access)]

    def single(self) -> Iterator[Access]:
        """All accesses to one object each."""
        for records in self.records.values():
            yield from (r for r in records if isinstance(r, Access))

    # --- by object -----------------------------------------------------------------------------------------------

    def index(self) -> None:
        """Brings ``places`` and ``spread`` up to date."""
        if self.known == self.count:
            return
        self.known = self.count
        self.places, self.spread, self.of_object, self.position = {}, {}, {}, {}
        for n, records in self.records.items():
            self.position[n] = len(self.position)
            for record in records:
                if isinstance(record, Access):
                    nodes = self.places.setdefault(record.object, [])
                else:
                    nodes = self.spread.setdefault(record.group.members, [])
                if not nodes or nodes[-1] != n:
                    nodes.append(n)
        for members in self.spread:
            group = self.groups[members]
            for o in group.order:
                self.of_object.setdefault(o, []).append(group)

    def nodes(self, o: int) -> list[int]:
        """The nodes that may touch an object, in the order in which they were looked at."""
        self.index()
        out = set(self.places.get(o, ()))
        for group in self.of_object.get(o, ()):
            out.update(self.spread[group.members])
        return sorted(out, key=self.position.__getitem__)

    def touching(self, objects: Iterable[int]) -> set[int]:
        """The nodes that may touch one of these objects; a group that they share is looked at once."""
        self.index()
        out: set[int] = set()
        groups: dict[frozenset[int], None] = {}
        for o in objects:
            out.update(self.places.get(o, ()))
            groups.update((group.members, None) for group in self.of_object.get(o, ()))
        for members in groups:
            out.update(self.spread[members])
        return out

    def of(self, o: int) -> dict[int, list[Access]]:
        """What touches an object, by node."""
        return {n: self.at_object(n, o) for n in self.nodes(o)}

    def written(self, o: int) -> list[Access]:
        """What may write to an object, by the number of the node."""
        return [a for n in sorted(self.nodes(o)) for a in self.at_object(n, o) if a.kind == "W"]

    def any(self, o: int) -> bool:
        """Whether anything touches an object."""
        self.index()
        return o in self.places or o in self.of_object

    def alike(self, o: int) -> list[Access]:
        """What touches an object, by the number of the node; of all that may touch it anywhere, beside others, one."""
        self.index()
        out = [
            r
            for n in sorted(self.places.get(o, ()))
            for r in self.records[n]
            if isinstance(r, Access) and r.object == o
        ]
        for group in self.of_object.get(o, ())[:1]:
            n = self.spread[group.members][0]
            out.append(next(a for a in self.at_object(n, o) if a.lo is None))
        return out


def row_and_padding(action: object) -> tuple[int, int]:
    """``within`` and ``padding`` of what an instruction touches."""
    within = 0
    if isinstance(action, (ins.Load, ins.Store)) and isinstance(action.address, ins.PtrAdd):
        within = action.address.row
    return within, action.padding if isinstance(action, ins.Store) else 0
