"""Allocations whose parts have pointer variables of their own, and which variables these are.

One variable, the base, is set to the memory where it is allocated.  Another is set to a place inside, by adding to the
base or to a variable of that kind: it names the part that begins there.  A third may be a copy of one of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from opi_xform.divide.find import divisible, plain_pointer
from opi_xform.divide.flow import leaves
from opi_xform.divide.mentions import Place, mentions_of
from opi_xform.divide.named.handed import origin
from opi_xform.graph.graph import Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.poly import ZERO, Poly
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Program
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """A node that sets one of the variables, ``target``, by the mention of another.

    at: the node that the mention stands at.  through: those by whose temporaries the value comes, that one included.
    added: what is added to the source, innermost first (nothing: a copy).
    """

    node: int
    at: int
    through: tuple[int, ...]
    target: str
    source: str
    place: Place
    added: tuple[ins.PtrAdd, ...]


@dataclass(frozen=True, slots=True)
class Naming:
    """An allocation with a message inside: its objects (one for each copy of its function), and its variables.

    place: of the allocating call.  made: nodes that set the base to the memory.  owners: variables that name a part
    after the first one.  links: all nodes that set one variable by another.
    """

    base: str
    place: Place
    objects: tuple[int, ...]
    made: tuple[int, ...]
    owners: tuple[str, ...]
    links: Mapping[int, Link]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.base, *(link.target for link in self.links.values()))))


@dataclass(frozen=True, slots=True)
class _Set:
    """A node that sets a pointer, to an address in ``object`` (-1: in none, or not known), or to NULL.

    root: what the value was made from: a mention of a variable, or the temporary of a call.  at, through, added: as of
    a ``Link``.
    """

    node: int
    at: int
    through: tuple[int, ...]
    root: ins.Operand
    added: tuple[ins.PtrAdd, ...]
    object: int
    offset: Poly
    null: bool


def namings(program: Program) -> list[list[Naming]]:
    """By allocation, in the order of their first messages: the ways to choose its variables, the best one first."""
    if not divisible(program):
        return []
    sets = _sets(program)
    out = []
    for place, objects, starts in _allocations(program):
        ways = [found for only in (None, starts) if (found := _naming(program, sets, place, objects, only)) is not None]
        if ways:
            out.append([way for i, way in enumerate(ways) if way not in ways[:i]])
    return out


def _allocations(program: Program) -> list[tuple[Place, tuple[int, ...], set[Poly]]]:
    """Allocations with messages: the call's place, all objects from there, where the messages begin."""
    values = program.values
    by_place: dict[Place, list[int]] = {}
    shared: set[Place] = set()
    for info in values.objects.table:
        for n in info.nodes if info.kind == "heap" else ():
            action = program.graph.nodes[origin(program, info.number).call if len(info.nodes) == 1 else n].action
            if isinstance(action, ins.CallInstr):
                span = action.call.span
                by_place.setdefault((span.file, span.begin), []).append(info.number)
                if len(info.nodes) > 1:
                    shared.add((span.file, span.begin))
    place_of = {o: place for place, found in by_place.items() for o in found}
    starts: dict[Place, set[Poly]] = {}
    for use in collect(program):
        if use.object in place_of and use.lo is not None:
            starts.setdefault(place_of[use.object], set()).add(values.symbols.resolve(use.lo))
    return [
        (place, tuple(by_place[place]), at)
        for place, at in starts.items()
        if place not in shared and not any(o in values.escaped or o in values.lazy for o in by_place[place])
    ]


def _sets(program: Program) -> dict[str, list[_Set]]:
    """The nodes that set each pointer variable, as far as the analysis gets to them."""
    symbols = program.values.symbols
    temps = _temporaries(program)
    out: dict[str, list[_Set]] = {}
    for node in program.graph.nodes:
        action = node.action
        values = program.values.operands.get(node.number)
        if not isinstance(action, ins.Define) or not isinstance(action.target, ins.Var) or values is None:
            continue
        if not program.variables[action.target.key].type.is_pointer:
            continue
        there = symbols.not_null(values[0])
        base = symbols.base(there)
        offset = symbols.resolve(symbols.offset(there))
        made = _made_of(action.value, node.number, node.frame, temps)
        one = _Set(node.number, *made, -1 if base is None else base, offset, values[0] == ZERO)
        out.setdefault(action.target.key, []).append(one)
    return out


Temporaries = Mapping[tuple[int, int], Sequence[tuple[int, ins.Operand | None]]]
"""By frame and number: the nodes that set them, each with the value (None: not one that is written there)."""


def _temporaries(program: Program) -> Temporaries:
    out: dict[tuple[int, int], list[tuple[int, ins.Operand | None]]] = {}
    entered = {frame.call for frame in program.graph.frames}  # what these return comes where their function is left
    for node in program.graph.nodes:
        match node.action:
            case ins.Define(target=ins.Temp() as target, value=value):
                out.setdefault((node.frame, target.number), []).append((node.number, value))
            case ins.Load(target=target) | Unbind(target=ins.Temp() as target):
                out.setdefault((node.frame, target.number), []).append((node.number, None))
            case ins.CallInstr(target=ins.Temp() as target) if node.number not in entered:
                out.setdefault((node.frame, target.number), []).append((node.number, None))
            case _:
                pass
    return out


def _made_of(
    at: ins.Operand, node: int, frame: int, temps: Temporaries
) -> tuple[int, tuple[int, ...], ins.Operand, tuple[ins.PtrAdd, ...]]:
    """Where a value begins: node, the nodes on the way, the mention or temporary, what is added to it."""
    through: list[int] = []
    added: list[ins.PtrAdd] = []
    while True:
        if isinstance(at, ins.PtrAdd):
            added.insert(0, at)
            at = at.base
        elif isinstance(at, ins.Op) and at.op == "cast":
            at = at.args[0]
        elif isinstance(at, ins.Temp):
            setting = temps.get((frame, at.number), ())
            if len(setting) != 1 or setting[0][0] in through:
                return node, (), at, ()
            n, value = setting[0]
            if value is None:
                return n, tuple(through), at, tuple(added)
            node, at = n, value
            through.append(n)
        else:
            return node, tuple(through), at, tuple(added)


def _naming(
    program: Program,
    sets: Mapping[str, Sequence[_Set]],
    place: Place,
    objects: tuple[int, ...],
    only: Collection[Poly] | None,
) -> Naming | None:
    """The variables of an allocation; ``only``: where parts may begin (None: at any of the variables)."""
    bases = [
        (key, one)
        for key, found in sets.items()
        for one in found
        if one.object in objects and one.at == origin(program, one.object).left
    ]
    if len({key for key, _ in bases}) != 1:
        return None
    base = bases[0][0]
    made = tuple(one.node for _, one in bases)
    if not usable(program, base):
        return None
    links = {one.node: link for one in sets[base] if (link := _link(one, base, {base})) is not None}
    if links:
        return None
    freed = _freed(program)
    names, owners = {base}, dict[str, Poly]()
    changed = True
    while changed:
        changed = False
        for key, found in sets.items():
            mine = [one for one in found if not one.null]
            if key in names or not mine or not usable(program, key):
                continue
            known = [_link(one, key, names) for one in mine]
            if any(one.object not in objects for one in mine) or not all(known):
                continue
            places = {bool(link.added) for link in known if link is not None}
            begins = {one.offset for one in mine if one.object == mine[0].object}
            if len(places) != 1 or len(begins) != 1:
                continue
            begin = mine[0].offset
            if True in places:
                if begin == ZERO or begin in owners.values() or (only is not None and begin not in only):
                    continue
                owners[key] = begin
            elif not program.variables[key].is_global and key not in freed:
                continue  # a copy like any other pointer into the part
            names.add(key)
            links.update({link.node: link for link in known if link is not None})
            changed = True
    return Naming(base, place, objects, made, tuple(owners), links) if owners else None


def _link(one: _Set, target: str, names: Collection[str]) -> Link | None:
    root = one.root
    if not isinstance(root, ins.Var) or root.key not in names or not root.span.file:
        return None
    return Link(one.node, one.at, one.through, target, root.key, (root.span.file, root.span.begin), one.added)


def _freed(program: Program) -> set[str]:
    """Variables that are given to a call by name: one may free them."""
    out: set[str] = set()
    freeing = mentions_of(program).freeing
    for node in program.graph.nodes:
        if isinstance(node.action, ins.CallInstr) and isinstance(node.action.callee, ins.AddrFunc):
            if node.action.callee.key in freeing:
                out |= {leaf.key for a in node.action.args for leaf in leaves(a) if isinstance(leaf, ins.Var)}
            effect = program.effects.get(node.action.callee.key)
            if effect is not None and effect.frees is not None and effect.frees.arg < len(node.action.args):
                argument = node.action.args[effect.frees.arg]
                out |= {leaf.key for leaf in leaves(argument) if isinstance(leaf, ins.Var)}
    return out


def usable(program: Program, key: str) -> bool:
    """A plain pointer variable, which the program graph shows as set wherever it is set."""
    var = program.variables[key]
    if var.kind not in ("extern", "static", "local", "local-static") or var.thread_local or not plain_pointer(var):
        return False
    elem = var.type.elem
    if elem is None or elem.const or elem.volatile or elem.atomic:
        return False
    if any(key in (e.first, e.second) for e in program.exchanges):
        return False
    if key in program.members or key in program.graph.addressed:
        return False
    return not var.is_global or var.init is None or null(var.init)


def null(e: ast.Expr) -> bool:
    while isinstance(e, (ast.Cast, ast.MacroConst)) and e.operand is not None:
        e = e.operand
    return isinstance(e, ast.IntLit) and e.value == 0


def levels(program: Program, functions: Iterable[str]) -> bool:
    """One of the functions may run at more levels than the graph has."""
    return any(name in program.graph.levels for name in functions)
