"""Allocations whose memory is there one at a time: ``b = malloc(room);`` here, ``free(b); b = malloc(n);`` elsewhere.

Wherever one of them allocates, what the others gave was freed before, or no name leads there any more
(``last_names.py``).  So at any moment there is one object at most, whichever allocation made it, and they count as one
(``Objects.successive``): a pointer that may hold what either gave holds the address of that one.  What still points to
memory that was freed may not be followed any more; to compare it tells nothing (``Evaluator.comparison``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from opi_xform.dataflow.solver import solve
from opi_xform.dataflow.view import ListGraph, forward
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.graph import Bind, Graph, Lost, Node, Unbind, evaluated
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import null_test, parts_of
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.memory.poly import Poly
from opi_xform.memory.values import Values
from opi_xform.pointsto.constraints import GraphPointsTo
from opi_xform.pointsto.last_names import leave_nothing_behind
from opi_xform.record import dataclass

Name = tuple[object, ...]
Holders = frozenset[Name] | None
"""The names that surely hold the memory that is there; None: there is none."""


def successive(
    graph: Graph,
    objects: Objects,
    points_to: GraphPointsTo,
    values: Values,
    effects: Mapping[str, FunctionEffect],
    exchanged: bool = False,
) -> dict[int, int]:
    """Allocation -> the first of those that it counts as one with.

    Only for messages whose buffer may come from several allocations, and is not known to come from one, or may be freed
    where another may be.  exchanged: pointers change places in the program, which the graph does not show.
    """
    found: list[frozenset[int]] = []
    outside = points_to.reachable(frozenset({UNKNOWN}))
    for node, operand in (*_undecided(graph, values, effects), *_freed(graph, points_to, values, effects)):
        targets = points_to.operand(node.frame, operand)
        if len(targets) < 2 or targets & outside or any(objects.table[o].kind != "heap" for o in targets):
            continue
        nodes = frozenset(objects.table[o].node for o in targets)
        for other in [other for other in found if other & nodes]:
            found.remove(other)
            nodes |= other
        found.append(nodes)
    out: dict[int, int] = {}
    if found:
        names = _Names(graph, objects, points_to, effects)
        program = _Program(graph, names, frozenset().union(*found))
        plain = [nodes for nodes in found if names.effects_are_plain(nodes)]
        groups = () if exchanged else plain
        nothing_left = leave_nothing_behind(graph, objects, points_to, groups, names.is_plain, names.known)
        for nodes in plain:
            if nodes in nothing_left or _OneAtATime(program, nodes).holds():
                out.update(dict.fromkeys(nodes, min(nodes)))
    return out


def _undecided(
    graph: Graph, values: Values, effects: Mapping[str, FunctionEffect]
) -> Iterator[tuple[Node, ins.Operand]]:
    """Buffers and requests of messages that are not known to be in one object."""
    for n, action, effect, given in _calls(graph, values, effects):
        if effect.mpi is None:
            continue
        mpi = effect.mpi
        wanted = {b.buf for b in (mpi.send, mpi.recv) if b is not None and not b.indirect}
        wanted.update((mpi.request,) if mpi.request is not None else ())
        wanted.update((mpi.completes.requests,) if mpi.completes is not None else ())
        for i in sorted(i for i in wanted if i < len(given)):
            if values.symbols.base(values.symbols.not_null(given[i])) is None:
                yield graph.nodes[n], action.args[i]


def _freed(
    graph: Graph, points_to: GraphPointsTo, values: Values, effects: Mapping[str, FunctionEffect]
) -> Iterator[tuple[Node, ins.Operand]]:
    """What calls free that is not known to be one object, where it may be a message's buffer.

    ``if (root) b = malloc(n); else { b = malloc(m); MPI_Recv(b, …); } … free(b);``
    """
    symbols = values.symbols
    sent: set[int | None] = set()
    freeing: list[tuple[Node, ins.Operand]] = []
    for n, action, effect, given in _calls(graph, values, effects):
        if effect.mpi is not None:
            buffers = (b.buf for b in (effect.mpi.send, effect.mpi.recv) if b is not None and not b.indirect)
            sent.update(symbols.base(symbols.not_null(given[i])) for i in buffers if i < len(given))
        elif effect.frees is not None and not effect.frees.indirect and effect.allocates is None:
            i = effect.frees.arg
            if i < len(given) and symbols.base(symbols.not_null(given[i])) is None:
                freeing.append((graph.nodes[n], action.args[i]))
    for node, operand in freeing:
        if not points_to.operand(node.frame, operand).isdisjoint(sent):
            yield node, operand


def _calls(
    graph: Graph, values: Values, effects: Mapping[str, FunctionEffect]
) -> Iterator[tuple[int, ins.CallInstr, FunctionEffect, Sequence[Poly]]]:
    """The calls of functions of libraries whose effect is known, with what they are given, in order."""
    for n, given in sorted(values.args.items()):
        action = graph.nodes[n].action
        if isinstance(action, ins.CallInstr) and isinstance(action.callee, ins.AddrFunc):
            effect = effects.get(action.callee.key)
            if effect is not None:
                yield n, action, effect, given


class _Names:
    """The names of a program that hold what was put there last: variables that nothing else can change, and temps."""

    def __init__(
        self, graph: Graph, objects: Objects, points_to: GraphPointsTo, effects: Mapping[str, FunctionEffect]
    ) -> None:
        self.graph = graph
        self.objects = objects
        self.points_to = points_to
        self.effects = effects
        self.plain: dict[tuple[int, str], bool] = {}
        others = objects.exposed | objects.foreign | objects.called_back
        self.addressed = {objects.table[o].variable for o in others}
        self.addressed.update(graph.background.named)
        for node in graph.nodes:
            for operand in evaluated(node.action):
                self.addressed.update(part.key for part in parts_of(operand) if isinstance(part, ins.AddrVar))

    def of(self, frame: int, operand: ins.Operand) -> Name | None:
        """The name that an operand reads, or that is set."""
        while isinstance(operand, ins.Op) and operand.op == "cast" and operand.type.is_pointer:
            operand = operand.args[0]
        match operand:
            case ins.Temp(number=number):
                return ("t", frame, number)
            case ins.Var(key=key):
                return self.variable(frame, key)
        return None

    def variable(self, frame: int, key: str) -> Name | None:
        frame = -1 if self.objects.variables[key].is_global else frame
        if (frame, key) not in self.plain:
            self.plain[frame, key] = self.is_plain(frame, key)
        return ("v", frame, key) if self.plain[frame, key] else None

    def is_plain(self, frame: int, key: str) -> bool:
        """Only what names the variable sets it."""
        var = self.objects.variables[key]
        if key in self.addressed or var.type.volatile or var.type.atomic or var.thread_local:
            return False
        return not self.points_to.kept(frozenset({self.objects.variable(frame, key)}))

    def effect(self, action: ins.CallInstr) -> FunctionEffect | None:
        return self.effects.get(called_key(action))

    def known(self, call: ins.CallInstr) -> bool:
        return self.effect(call) is not None

    def freed(self, frame: int, call: ins.CallInstr, effect: FunctionEffect | None) -> Name | None:
        """The name of which a call frees the memory, and does nothing else."""
        spec = effect.frees if effect is not None and effect.allocates is None else None
        if spec is None or spec.indirect or spec.arg >= len(call.args):
            return None
        return self.of(frame, call.args[spec.arg])

    def effects_are_plain(self, nodes: Collection[int]) -> bool:
        """Each returns fresh memory and does nothing else: no realloc, nothing stored through a parameter."""
        for n in nodes:
            action = self.graph.nodes[n].action
            effect = self.effect(action) if isinstance(action, ins.CallInstr) else None
            made = effect.allocates if effect is not None else None
            if effect is None or made is None or made.into is not None or made.shared or effect.frees is not None:
                return False
        return True


Pairs = tuple[tuple[Name | None, Name | None], ...]
"""Names that are set at once, each with the name whose value it gets (None: something else)."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What a node does to names.  made: it allocates.  freed: the name whose memory it frees.  sets: names that get
    another value.  unknown: code runs that nobody knows.
    """

    node: int
    sets: Pairs = ()
    freed: Name | None = None
    unknown: bool = False


class _Program:
    """The graph as steps on names: found once for all groups of allocations."""

    def __init__(self, graph: Graph, names: _Names, allocations: Collection[int]) -> None:
        self.graph = graph
        self.names = names
        self.view = forward(ListGraph.of(graph.succs))
        self.steps = [
            [step for n in block if (step := self.step(graph.nodes[n], allocations)) is not None]
            for block in graph.blocks
        ]
        self.given: dict[Name, list[Name]] = {}  # name -> those that may get what it holds
        for step in (step for block in self.steps for step in block):
            for target, source in step.sets:
                if target is not None and source is not None:
                    self.given.setdefault(source, []).append(target)
        self.null: dict[tuple[int, int], Name] = {}  # edge -> the name that is NULL on it
        for block, succs in enumerate(graph.succs):
            self.test(block, succs)

    def test(self, block: int, succs: tuple[int, ...]) -> None:
        if len(succs) != 2 or succs[0] == succs[1] or not self.graph.blocks[block]:
            return
        last = self.graph.nodes[self.graph.blocks[block][-1]]
        if isinstance(last.action, ins.Branch):
            tested, null = null_test(last.action.cond)
            name = self.names.of(last.frame, tested)
            if name is not None:
                self.null[block, succs[0 if null else 1]] = name

    def step(self, node: Node, allocations: Collection[int]) -> _Step | None:
        names, frame, n = self.names, node.frame, node.number
        pairs: list[tuple[Name | None, Name | None]] = []
        match node.action:
            case ins.Define(target=target, value=value):
                pairs = [(names.of(frame, target), names.of(frame, value))]
            case Bind(caller=caller, params=params, args=args):
                given = zip(params, args, strict=True)
                pairs = [(names.variable(frame, key), names.of(caller, arg)) for key, arg in given]
            case Unbind(callee=callee, target=target, value=value) if target is not None:
                pairs = [(names.of(frame, target), None if value is None else names.of(callee, value))]
            case ins.Load(target=target):
                pairs = [(names.of(frame, target), None)]
            case ins.Birth(var=key):
                pairs = [(names.variable(frame, key), None)]
            case ins.CallInstr() as call:
                effect = names.effect(call)
                if call.target is not None:
                    pairs = [(names.of(frame, call.target), None)]
                unknown = n not in self.graph.followed and effect is None
                freed = names.freed(frame, call, effect)
                if not (pairs or unknown or freed or n in allocations):
                    return None
                return _Step(n, tuple(pairs), freed, unknown)
            case Lost(call=call):
                pairs = [(names.of(frame, call.target), None)] if call.target is not None else []
                return _Step(n, tuple(pairs), None, True)
        return _Step(n, tuple(pairs)) if any(target is not None for target, _ in pairs) else None


class _OneAtATime:
    """The names that hold the memory of some allocations, from the entry on (an analysis for ``dataflow.solver``)."""

    top: Holders = None
    bottom: Holders = frozenset()

    def __init__(self, program: _Program, nodes: Collection[int]) -> None:
        self.program = program
        self.nodes = nodes
        holders = self.holders()
        self.steps = [[step for step in block if self.matters(step, holders)] for block in program.steps]

    @property
    def lattice(self) -> _OneAtATime:
        return self

    def holders(self) -> set[Name]:
        """Names that may ever hold it."""
        graph, names = self.program.graph, self.program.names
        found: set[Name] = set()
        work: list[Name] = []
        for n in self.nodes:
            action = graph.nodes[n].action
            made = None
            if isinstance(action, ins.CallInstr) and action.target is not None:
                made = names.of(graph.nodes[n].frame, action.target)
            if made is not None:
                work.append(made)
        while work:
            name = work.pop()
            if name not in found:
                found.add(name)
                work += self.program.given.get(name, ())
        return found

    def matters(self, step: _Step, holders: Collection[Name]) -> bool:
        if step.node in self.nodes or step.unknown or step.freed in holders:
            return True
        return any(target in holders for target, _ in step.sets)

    def holds(self) -> bool:
        """Nothing is there wherever one of them allocates."""
        solution = solve(self.program.view, self)
        for block, steps in enumerate(self.steps):
            state = solution.before[block]
            for step in steps:
                if step.node in self.nodes and state is not None:
                    return False
                state = self.step(step, state)
        return True

    # --- the lattice: fewer names go down -------------------------------------------------------------------------

    def meet(self, a: Holders, b: Holders) -> Holders:
        if a is None or b is None:
            return b if a is None else a
        return a & b

    def leq(self, a: Holders, b: Holders) -> bool:
        return self.meet(a, b) == a

    def explain(self, a: Holders, b: Holders) -> str:
        if self.leq(a, b):
            return ""
        assert b is not None
        return "nothing is there" if a is None else f"{sorted(map(str, a - b))} hold it here only"

    # --- the analysis -----------------------------------------------------------------------------------------------

    def boundary(self, node: int) -> Holders:
        return None

    def transfer(self, node: int, state: Holders) -> Holders:
        for step in self.steps[node]:
            state = self.step(step, state)
        return state

    def transfer_edge(self, source: int, target: int, state: Holders) -> Holders:
        """Where a name that holds it is NULL, nothing is there."""
        return None if state and self.program.null.get((source, target)) in state else state

    def step(self, step: _Step, state: Holders) -> Holders:
        if step.node in self.nodes:
            made = next((target for target, _ in step.sets), None)
            return frozenset({made} if made is not None and state is None else ())
        if state is None or step.freed in state:
            return None
        if step.sets:
            gone = {target for target, _ in step.sets}
            more = {target for target, source in step.sets if target is not None and source in state}
            state = (state - gone) | more
        # code that is not known sets globals
        return frozenset(name for name in state if name[:2] != ("v", -1)) if step.unknown else state
