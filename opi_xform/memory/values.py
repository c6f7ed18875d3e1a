"""What the forward pass finds out: values, accesses, conditions, merged values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from opi_xform.ir import instr as ins
from opi_xform.memory.accesses import Accesses
from opi_xform.memory.environment import Cell, Environment
from opi_xform.memory.objects import Objects
from opi_xform.memory.poly import Poly
from opi_xform.memory.symbols import Symbols
from opi_xform.once import Findings
from opi_xform.record import dataclass

MAY_REACH = "code that is not known may reach it"  # though no call has its address


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left op right`` on integers or addresses; ``unsigned``: C compares modulo 2**width."""

    op: str
    left: Poly
    right: Poly
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class HeaderPhi:
    """A value that a loop changes: on entry, and at the end of each iteration (one value per latch)."""

    loop: int
    symbol: int
    cell: Cell
    init: Poly
    latches: tuple[tuple[int, Poly], ...]


@dataclass(slots=True)
class Values:
    """Everything the pass found out.  ``args[n]``: argument values of the call at node n."""

    symbols: Symbols
    objects: Objects
    out: Environment  # what cells hold where blocks end
    accesses: Accesses = field(default_factory=Accesses)
    conditions: dict[int, Comparison] = field(default_factory=dict)
    switches: dict[int, Poly] = field(default_factory=dict)
    args: dict[int, tuple[Poly, ...]] = field(default_factory=dict)
    operands: dict[int, tuple[Poly, ...]] = field(default_factory=dict)
    phis: dict[int, list[tuple[int, tuple[Poly, ...]]]] = field(default_factory=dict)
    headers: dict[int, list[HeaderPhi]] = field(default_factory=dict)
    joins: dict[int, tuple[Poly, ...]] = field(default_factory=dict)  # phi -> what it joins, of a loop's header as well
    escaped: dict[int, tuple[int, str]] = field(default_factory=dict)  # object -> (node, why)
    given_away: dict[int, tuple[int, str]] = field(default_factory=dict)  # those that are not plain wherever they do
    plain: dict[int, frozenset[int]] = field(default_factory=dict)  # call that enters a function again -> plain objects
    beyond: dict[int, frozenset[int]] = field(default_factory=dict)  # outermost level -> others (``calls/deeper.py``)
    owners: Mapping[int, frozenset[int]] = field(default_factory=dict)  # object of each activation (``calls/own.py``)
    lengths: dict[int, Poly] = field(default_factory=dict)  # by declaration: bytes of an array of variable length
    foreign: Mapping[int, tuple[int, str]] = field(default_factory=dict)  # changes unseen: (node, why)
    results: dict[int, Poly] = field(default_factory=dict)
    unset: set[int] = field(default_factory=set)  # what a pointer holds that nobody set
    partly: dict[int, Poly] = field(default_factory=dict)  # numbers set on some paths only: ``partly_set.py``
    extents: dict[int, Poly] = field(default_factory=dict)  # of datatypes that are made, by symbol (``extent``)
    relative: set[int] = field(default_factory=set)  # calls that make datatypes whose displacements are constants
    whole: bool = True  # the pass came to its end: what it found of ``relative`` early on is no reason to begin anew
    handles: dict[int, int] = field(default_factory=dict)  # of predefined ones that are named, by number
    narrowed: set[int] = field(default_factory=set)  # numbers, perhaps of 64 bits, that become one of 32 bits
    nullable: set[int] = field(default_factory=set)  # offsets, 0 where the pointer is not NULL: ``nullable.py``
    lazy: set[int] = field(default_factory=set)  # objects that are used after a joint at which they may not be there
    followed: dict[int, list[int]] = field(default_factory=dict)  # symbol that may be NULL -> nodes at which it is not
    indexed: dict[int, tuple[int, Poly, ins.Operand]] = field(default_factory=dict)
    # load, store -> the one subscript in its address: bytes of an element, value, operand
    parts: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    # MPI call, object -> array of it that all its arguments with a subscript are in; (0, -1): there is no one such
    elements: dict[tuple[int, Poly], set[tuple[int, int, int]]] = field(default_factory=dict)
    # (object, offset) of pointers made by a subscript -> the arrays, with the size of an element
    arrays: dict[int, tuple[int, int]] = field(default_factory=dict)  # load, store -> array that it stays in: lo, bytes
    cells: dict[int, tuple[Cell, int]] = field(default_factory=dict)  # header phi -> its cell, its object (-1: none)

    findings: Findings = field(default_factory=dict)  # what was found out about the graph they are of (``once.py``)

    def settle(self) -> None:
        """The pass is over: nothing of what was found out changes any more.

        What accesses and conditions are in closed form is found here, so that the symbols for what loops leave behind
        are there before anybody looks at the table.  Who asks for a number that nobody has asked for (how often a loop
        of such a number runs, what a rank is at least) may add a symbol to its end; known ones stay what they are.
        """
        symbols = self.symbols
        symbols.settled = True
        for a in self.accesses.single():
            for p in (a.lo, a.length):
                if p is not None:
                    symbols.resolve(p)
        for c in self.conditions.values():
            symbols.resolve(c.left)
            symbols.resolve(c.right)

    def escape(self, o: int, n: int, reason: str) -> None:
        """What happens to an object from node n on is not known."""
        self.escaped.setdefault(o, (n, reason))
        self.given_away.setdefault(o, (n, reason))
