"""Pointers that change places: ``t = a; a = b; b = t;``.

A buffer is known by the one pointer that holds it.  Where two such pointers change places, ``a`` may stand for either
block, but what the program does through ``a`` is still done to *the block that a holds*: so the pointer names a slot,
and the swap exchanges what two slots hold.  The program graph is analysed with the pointers left where they are and,
in the place of the swap, two copies of bytes (``placed``), which say that the contents of either may become the
other's.  That is the program itself, but for which of the two blocks is which, when

- either pointer is exactly the address of its own block at the swap, and never anything else's (``sound``);
- nothing else holds an address in one of them there, and no address is stored in one, so that nothing can tell them
  apart.

Liveness then takes the swap for what it is (``joined``): what is live in one slot after it is live in the other ahead
of it.  So do the placement (one slot is emptied, the other filled) and the aliases: no other name brings an address
over a swap, and no operation is pending there.  Either both buffers convert or none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.graph.graph import Bind, Graph, Node
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.poly import Poly
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.liveness.buffer_events import BufferEvents
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.addresses import AddressFlow
from opi_xform.ownership.model.buffers import Buffer, Carrier, Exchange, Member, Place, Program, Refusal, Swap, Where
from opi_xform.ownership.model.names import names_of, value_range
from opi_xform.ownership.model.object_index import index_of
from opi_xform.record import dataclass
from opi_xform.values.unset.nullable import may_be_null

_NOBODY = 1 << 30  # the number of a temporary that no function has
Spot = tuple[str, int, int]  # a name (``names.Name``), or ("m", object, offset)


@dataclass(frozen=True, slots=True)
class Found:
    """One swap in one copy of its function.

    first, second: the places of the two pointers: object and offset.  stores: the two nodes that set them.  others:
    nodes that bring the addresses from one to the other, and do nothing else.  params: of the function, those that are
    used for nothing but the swap.
    """

    first: tuple[Where, int]
    second: tuple[Where, int]
    stores: tuple[int, int]
    others: tuple[int, ...]
    frame: int
    params: frozenset[str]


def find(program: Program) -> list[Found]:
    """The swaps of a program, as it is written; none where no message's buffer may be a block that changes places."""
    if not program.complete or program.nest.irreducible:
        return []
    out: list[Found] = []
    for block in program.graph.blocks:
        out.extend(_Finder(program).run(block))
    return out if out and _sent(program, out) else []


def _sent(program: Program, found: Sequence[Found]) -> bool:
    """A message's buffer may be memory to which one of the pointers leads."""
    objects, points_to = program.values.objects, program.points_to
    holding: set[int] = set()
    for kind, of in (place for swap in found for place, _ in (swap.first, swap.second)):
        if kind == "heap":
            holding.add(objects.heap(int(of)))
        else:
            for o in objects.by_name.get(str(of), ()):
                holding.update({o}, points_to.operand(objects.table[o].frame, ins.Var(str(of))))
    led = points_to.reachable(frozenset(holding))
    for use in collect(program):
        node = program.graph.nodes[use.node]
        assert isinstance(node.action, ins.CallInstr)
        buffer = points_to.operand(node.frame, node.action.args[use.argument])
        if UNKNOWN in buffer or not led.isdisjoint(buffer):
            return True
    return False


class _Finder:
    """One use: ``run``.  ``held``: what a place holds, as the place that held it when the stretch began."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.values = program.values
        self.symbols = program.values.symbols
        self.names = names_of(program)
        self.held: dict[Spot, Spot | None] = {}
        self.moves: list[tuple[int, Spot]] = []  # nodes, and what they set

    def run(self, block: Sequence[int]) -> list[Found]:
        out: list[Found] = []
        for n in block:
            move = self.move(self.graph.nodes[n])
            if move is None:
                self.held, self.moves = {}, []
                continue
            target, source = move
            if source is not None:
                source = self.held.get(source, source)
            self.held[target] = source
            self.moves.append((n, target))
            if source is not None and source != target and self.held.get(source) == target:
                found = self.found(source, target)
                if found is not None:
                    out.append(found)
                self.held, self.moves = {}, []
        return out

    def move(self, node: Node) -> tuple[Spot, Spot | None] | None:
        """What a node sets, and from where; None when it does anything but move a pointer."""
        values = self.values.operands.get(node.number, ())
        match node.action:
            case ins.Birth(var=key) if self.program.variables[key].type.is_pointer:
                return ("v", self.names.objects.variable(node.frame, key), 0), None
            case ins.Define(target=target, value=value, type=type_) if _plain(type_):
                to, origin = self.names.name(node.frame, target), self.names.name(node.frame, _bare(value))
                return None if to is None or origin is None else (to, origin)
            case ins.Load(target=target, type=type_) if _plain(type_) and values:
                origin = self.spot(values[0])
                return None if origin is None else (("t", node.frame, target.number), origin)
            case ins.Store(value=value, type=type_) if _plain(type_) and values:
                to, origin = self.spot(values[0]), self.names.name(node.frame, _bare(value))
                return None if to is None or origin is None else (to, origin)
            case _:
                return None

    def spot(self, address: Poly) -> Spot | None:
        """The place at an address, when it is one place."""
        o = self.symbols.base(address)
        at = self.symbols.resolve(self.symbols.offset(address)).constant if o is not None else None
        if o is None or at is None or may_be_null(self.values, self.symbols.offset(address)):
            return None
        type_ = self.values.objects.table[o].type
        return ("v", o, 0) if at == 0 and type_ is not None and type_.is_pointer else ("m", o, at)

    def found(self, one: Spot, other: Spot) -> Found | None:
        first, second = self.place(one), self.place(other)
        if first is None or second is None:
            return None
        mine = {one, other}
        nodes = [n for n, spot in self.moves if spot in mine or self.held.get(spot) in mine]
        stores = [n for n, spot in self.moves if spot in mine]
        if len(stores) != 2:
            return None
        frame = self.graph.nodes[stores[0]].frame
        if any(self.graph.nodes[n].frame != frame for n in nodes):
            return None
        for _, spot in self.moves:
            if spot not in mine and self.held.get(spot) in mine and not self.forgotten(spot, nodes):
                return None
        births = [n for n in nodes if isinstance(self.graph.nodes[n].action, ins.Birth)]
        others = tuple(n for n in nodes if n not in stores and n not in births)
        if any(self.foreign(spot, frame) for spot in mine):
            return None
        return Found(first, second, (stores[0], stores[1]), others, frame, self.parameters(frame, nodes))

    def forgotten(self, spot: Spot, nodes: Sequence[int]) -> bool:
        """What holds an address on the way is not looked at any more after the swap."""
        if spot[0] == "m" or (spot[0] == "v" and spot[1] in self.names.address_taken):
            return False
        if spot[0] == "v":
            info = self.values.objects.table[spot[1]]
            if info.frame < 0 or info.variable is None or self.program.variables[info.variable].type.volatile:
                return False
        given = frozenset(n for n, to in self.moves if to == spot)
        return not value_range(self.names, spot, given).crosses(max(nodes), True)

    def foreign(self, spot: Spot, frame: int) -> bool:
        """A local variable of another function, which the words at the swap do not name."""
        if spot[0] != "v":
            return False
        return self.values.objects.table[spot[1]].frame not in (-1, frame)

    def place(self, spot: Spot) -> tuple[Where, int] | None:
        if spot[0] == "t":
            return None
        info = self.values.objects.table[spot[1]]
        if info.kind == "heap":
            return (("heap", info.node), spot[2]) if len(info.nodes) == 1 else None
        if info.kind != "variable" or info.variable is None:
            return None
        variable = self.program.variables[info.variable]
        if variable.kind == "param" or variable.type.volatile or variable.type.atomic or variable.thread_local:
            return None
        return ("variable", info.variable), spot[2]

    def parameters(self, frame: int, inside: Collection[int]) -> frozenset[str]:
        """Parameters of the copy's function that only the nodes of the swap use."""
        made = self.graph.lowered[self.graph.frames[frame].function].function
        out: set[str] = set()
        for key in made.params:
            o = self.names.objects.variable(frame, key)
            uses = set(self.names.uses.get(("v", o, 0), ()))
            if uses and uses <= set(inside) and o not in self.names.address_taken:
                out.add(key)
        return frozenset(out)


def _plain(type_: object) -> bool:
    return bool(getattr(type_, "is_pointer", False)) and not getattr(type_, "volatile", False)


def _bare(operand: ins.Operand) -> ins.Operand:
    """Without casts between pointers."""
    while isinstance(operand, ins.Op) and operand.op == "cast" and operand.type.is_pointer:
        operand = operand.args[0]
    return operand


# --- the graph in which the pointers stay --------------------------------------------------------------------------


def placed(
    graph: Graph, found: Sequence[Found], members: Mapping[str, Member], variables: Mapping[str, ast.Variable]
) -> tuple[Graph, tuple[Exchange, ...]]:
    """The graph without the swaps; where both pointers count as variables, with copies of what they point to."""
    by_place = {(m.object, m.offset): key for key, m in members.items() if not m.rows}
    scalars = {key for key, v in variables.items() if v.type.is_pointer and key not in members}
    nodes = list(graph.nodes)
    out: list[Exchange] = []
    for swap in found:
        for n in swap.others:
            nodes[n] = replace(nodes[n], action=_idle(graph.nodes[n].action))
        a, b = (_key(place, by_place, scalars) for place in (swap.first, swap.second))
        for n, to, origin in zip(swap.stores, (a, b), (b, a), strict=True):
            action = graph.nodes[n].action
            assert isinstance(action, ins.Instr)
            if to is None or origin is None:
                nodes[n] = replace(nodes[n], action=_idle(action))
            else:
                copied = ins.CopyBytes(action.span, action.stmt, ins.Var(to), ins.Var(origin), None)
                nodes[n] = replace(nodes[n], action=copied)
        if a is not None and b is not None:
            out.append(Exchange(min(*swap.stores, *swap.others), swap.stores, a, b))
        for node in _calls(graph, swap):
            nodes[node.number] = node
    return replace(graph, nodes=tuple(nodes)), tuple(out)


def _idle(action: object) -> ins.Instr:
    """What a node of a swap still does: nothing."""
    if isinstance(action, ins.CopyBytes):
        return action  # of an earlier round
    assert isinstance(action, (ins.Define, ins.Load, ins.Store))
    target = action.target if isinstance(action, (ins.Define, ins.Load)) else ins.Temp(_NOBODY)
    return ins.Define(action.span, action.stmt, target, ins.Const(0), action.type)


def _key(place: tuple[Where, int], by_place: Mapping[tuple[Where, int], str], variables: Collection[str]) -> str | None:
    """The variable that a pointer is, or counts as."""
    (kind, of), offset = place
    if kind == "variable" and isinstance(of, str) and offset == 0 and of in variables:
        return of
    return by_place.get(place)


def _calls(graph: Graph, swap: Found) -> Iterator[Node]:
    """The call of a function that swaps, without the addresses of the pointers that it is given."""
    if not swap.params:
        return
    frame = graph.frames[swap.frame]
    keys = graph.lowered[frame.function].function.params
    gone = {i for i, key in enumerate(keys) if key in swap.params}

    def without(args: tuple[ins.Operand, ...]) -> tuple[ins.Operand, ...]:
        return tuple(ins.Const(0) if i in gone else arg for i, arg in enumerate(args))

    for node in graph.nodes:
        action = node.action
        binds = isinstance(action, Bind) and node.frame == swap.frame
        if isinstance(action, (Bind, ins.CallInstr)) and (binds or node.number == frame.call):
            yield replace(node, action=replace(action, args=without(action.args)))


def sound(program: Program, found: Sequence[Found]) -> list[Found]:
    """Of the swaps that were left out of a program's graph, those of which that was right."""
    known = {exchange.nodes: exchange for exchange in program.exchanges}
    bad = {key for e in program.exchanges if not _right(program, e) for key in (e.first, e.second)}
    while True:  # whoever swaps with one that stays as it is, stays
        more = {k for e in program.exchanges if bad & {e.first, e.second} for k in (e.first, e.second)} - bad
        if not more:
            break
        bad |= more
    out = []
    for swap in found:
        exchange = known.get(swap.stores)
        if exchange is not None and exchange.first not in bad:
            out.append(swap)
    return out


def _right(program: Program, exchange: Exchange) -> bool:
    """Each pointer is exactly the address of its own block, which holds no address and is not read as anything else."""
    values, table = program.values, program.values.objects.table
    operands = values.operands.get(exchange.nodes[0])
    if operands is None or len(operands) != 2 or values.operands.get(exchange.nodes[1]) != operands[::-1]:
        return False
    if program.variables[exchange.first].type.elem is None or program.variables[exchange.second].type.elem is None:
        return False
    blocks = [values.symbols.base(v) for v in operands]
    frame = program.graph.nodes[exchange.nodes[0]].frame
    for key, value, block in zip((exchange.first, exchange.second), operands, blocks, strict=True):
        if block is None or len(table[block].nodes) != 1 or block in values.escaped or block in values.lazy:
            return False
        if values.symbols.offset(value).terms or blocks[0] == blocks[1]:
            return False
        if program.points_to.operand(frame, ins.Var(key)) != frozenset({block}):
            return False
        if program.points_to.reachable(frozenset({block})) != frozenset({block}):
            return False
        if key in program.members and any(_exact(program, n) for n in index_of(program).accesses.nodes(block)):
            return False
        if not _alone(program, key, block):
            return False
    return True


def _alone(program: Program, key: str, block: int) -> bool:
    """Nothing but the pointer holds an address of its block at a swap, and nobody asks which address it is."""
    carrier = Carrier("pointer", key, allocations=(program.values.objects.table[block].node,))
    flow = AddressFlow(names_of(program), Buffer(program.variables[key].name, carrier, (block,), (), ()))
    swaps = [e.nodes[1] for e in program.exchanges if key in (e.first, e.second)]
    return not flow.problems and not any(found.crosses(n, True) for found in flow.ranges.values() for n in swaps)


def _exact(program: Program, n: int) -> bool:
    """A number or an address is read, other than a floating one, of which nothing is known anyway."""
    action = program.graph.nodes[n].action
    return isinstance(action, ins.Load) and action.type.kind != "float"


# --- the buffers of pointers that change places ---------------------------------------------------------------------


def joined(program: Program, groups: Sequence[Buffer], strict: bool) -> tuple[list[Buffer], dict[Place, Refusal]]:
    """The buffers with their swaps, and what is live after each; and sites that stay because of a swap.

    The least solution: what is live in one slot after a swap is live in the other before it.
    """
    if not program.exchanges:
        return list(groups), {}
    of_key: dict[str, list[Buffer]] = {}
    for buffer in groups:
        of_key.setdefault(buffer.carrier.variable, []).append(buffer)
    refused: dict[str, Refusal] = {}
    for exchange in program.exchanges:
        here = ((node_span(program, exchange.nodes[1]), "here"),)
        names = [program.variables[key].name for key in (exchange.first, exchange.second)]
        reason = _unlike(program, exchange, of_key, strict)
        if reason:
            text = f"`{names[0]}` and `{names[1]}` change places, {reason}"
            refused.update(
                dict.fromkeys((exchange.first, exchange.second), Refusal(Reason.SEVERAL_BUFFERS, text, here))
            )
    for _ in program.exchanges:
        for e in program.exchanges:
            both = [refused[key] for key in (e.first, e.second) if key in refused]
            if len(both) == 1:
                refused.update(dict.fromkeys((e.first, e.second), both[0]))
    live: set[tuple[int, str]] = set()  # (the swap's last node, pointer): its slot is live after it
    while True:
        chosen = [_with_swaps(program, buffer, live, refused) for buffer in groups]
        more = {x for buffer in chosen if buffer.swaps for x in _behind(program, buffer, strict)} - live
        if not more:
            break
        live |= more
    out: dict[Place, Refusal] = {}
    for buffer in groups:
        refusal = refused.get(buffer.carrier.variable)
        if refusal is not None:
            out.update(dict.fromkeys((u.place for u in buffer.uses), refusal))
    return chosen, out


def _unlike(program: Program, exchange: Exchange, of_key: Mapping[str, Sequence[Buffer]], strict: bool) -> str:
    """Why two pointers cannot be buffers that change places; '' when they can."""
    sizes = []
    for key in (exchange.first, exchange.second):
        mine = of_key.get(key, ())
        if not mine:
            return f"and `{program.variables[key].name}` is no message's buffer"
        buffer = mine[0]
        if len(mine) > 1 or len(buffer.objects) != 1 or buffer.carrier.kind != "pointer" or buffer.carrier.rows:
            return "and they are not two pointers to memory of their own"
        size = BufferEvents(program, buffer, buffer.objects[0], strict).size()
        if size is None:
            return f"and the size of `{buffer.name}` is not known"
        sizes.append(program.values.symbols.resolve(size))
    if sizes[0] != sizes[1] or program.values.symbols.scope(sizes[0]):
        return "and they are not known to be of one size, always the same"
    return ""


def _with_swaps(
    program: Program, buffer: Buffer, live: Collection[tuple[int, str]], refused: Collection[str]
) -> Buffer:
    key = buffer.carrier.variable
    if key in refused:
        return buffer
    swaps = []
    for e in program.exchanges:
        if key in (e.first, e.second):
            other = e.second if key == e.first else e.first
            swaps.append(Swap(e.start, e.nodes, other, (e.nodes[1], key) in live, (e.nodes[1], other) in live))
    return replace(buffer, swaps=tuple(swaps)) if swaps else buffer


def _behind(program: Program, buffer: Buffer, strict: bool) -> set[tuple[int, str]]:
    """The swaps after which the buffer's slot is live."""
    judge = Judge(program, buffer, buffer.objects[0], strict)
    return {(s.nodes[1], buffer.carrier.variable) for s in buffer.swaps if judge.behind.get(s.nodes[1], True)}
