"""Functions that allocate and do something besides: ``void *counted(size_t n) { calls++; return malloc(n); }``.

They print, count, check, or look at the environment, and that must go on.  So the call stays as it is.  Its memory is
freed there and then, and OPI_Alloc gives other: ``p = counted(n); free(p); OPI_Alloc(&p, n);``.  What such a function
returned, NULL or not, is still there to be tested right after the call.

A function that sets its caller's pointer is such a call as well: ``counted(&p, n); free(p); OPI_Alloc(&p, n);``.

Nobody else may hold the memory, and nobody in the function may read or write it: then other memory does as well.  First
contents may be written (``filled.py``), which nobody reads.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from opi_xform.graph.graph import Action, Bind, Lost, Node, Unbind, evaluated
from opi_xform.graph.statements import Flow
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import parts_of
from opi_xform.ownership.allocation.filled import filling
from opi_xform.ownership.model.buffers import Buffer, Program

ALLOCATORS = frozenset({"malloc", "calloc", "aligned_alloc", "memalign", "posix_memalign", "valloc"})
"""Those whose memory ``free`` frees."""
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
Name = tuple[int, str | int]  # frame, variable or temporary


def frames_inside(flow: Flow, outer: int) -> list[int]:
    """A frame, and all that are entered from it."""
    out, work = [], [outer]
    while work:
        frame = work.pop()
        out.append(frame)
        work.extend(flow.inner[frame])
    return sorted(out)


def still_called(program: Program, flow: Flow, buffer: Buffer, outer: int, allocation: int) -> tuple[int, ...]:
    """The frames of a call whose memory may be freed right after it, () where it may not.

    Whenever the call returns it has allocated once, and returns that memory if there is any; the memory has no other
    name, and nothing in the call touches it, or the carrier.
    """
    call = program.graph.nodes[allocation].action
    assert isinstance(call, ins.CallInstr)
    if not isinstance(call.callee, ins.AddrFunc) or call.callee.key not in ALLOCATORS:
        return ()
    frames = tuple(frames_inside(flow, outer))
    out = program.graph.out_parameters.get(outer)
    busy = Busy(program, flow, frames, allocation, None if out is None else (outer, out))
    if busy.understood() and not busy.touches(buffer) and busy.alone() and busy.returned(outer):
        return frames
    return ()


class Busy:
    """One call: its frames, and the names that its memory has there."""

    def __init__(
        self, program: Program, flow: Flow, frames: tuple[int, ...], allocation: int, out: Name | None = None
    ) -> None:
        """out: the parameter that stands for the pointer which the call sets (``program/out_parameters.py``)."""
        self.program = program
        self.flow = flow
        self.nodes = [program.graph.nodes[n] for frame in frames for n in flow.by_frame[frame]]
        self.frames = frozenset(frames)
        self.entering = frozenset(program.graph.frames[f].call for f in frames)
        self.allocation = allocation
        call = program.graph.nodes[allocation].action
        assert isinstance(call, ins.CallInstr)
        self.call = call
        effect = program.effects[call.callee.key] if isinstance(call.callee, ins.AddrFunc) else None
        spec = effect.allocates if effect is not None else None
        self.into = spec.into if spec is not None else None
        o = program.values.objects.by_node.get(allocation)
        self.filled = frozenset[int]() if o is None else filling(program, o)
        self.out = out
        self.names: set[Name] = set()
        """What may hold the memory's address."""

    def understood(self) -> bool:
        """Every call in it is followed, or of a known library function."""
        for node in self.nodes:
            action = node.action
            if isinstance(action, (Lost, ins.Escape)):
                return False
            if isinstance(action, ins.CallInstr) and node.number not in self.program.graph.followed:
                callee = called_key(action)
                if callee not in self.program.effects and node.number not in self.entering:
                    return False
        return True

    def touches(self, buffer: Buffer) -> bool:
        """Something in it reads, writes or names what is the buffer's."""
        values, key = self.program.values, buffer.carrier.variable
        carriers = {o.number for o in values.objects.table if o.variable == key and o.kind == "variable"}
        member = self.program.members.get(key)
        mine = carriers.union(buffer.objects)
        for node in self.nodes:
            if node.number == self.allocation or node.number in self.filled:
                continue
            if values.accesses.touches(node.number, mine):
                return True
            if member is not None and node.number in member.nodes:
                return True
            if isinstance(node.action, ins.Define) and node.action.target == ins.Var(key):
                return True
            if any(getattr(part, "key", "") == key for _, part in read_in(self.without_out(node), node.frame)):
                return True
        return False

    def without_out(self, node: Node) -> Action:
        """An action without what the call's pointer was before: the function sets it before it reads it."""
        action = node.action
        if not isinstance(action, Bind) or self.out is None or node.frame != self.out[0]:
            return action
        kept = [i for i, key in enumerate(action.params) if key != self.out[1]]
        return replace(action, params=tuple(action.params[i] for i in kept), args=tuple(action.args[i] for i in kept))

    # --- who holds it ------------------------------------------------------------------------------------------------

    def first(self) -> Name | None:
        """What the allocation gives the memory to: a temporary, or (posix_memalign) a variable of the function's."""
        frame = self.program.graph.nodes[self.allocation].frame
        if self.into is None:
            return None if self.call.target is None else (frame, self.call.target.number)
        where = _stripped(self.call.args[self.into])
        return (frame, where.key) if isinstance(where, ins.AddrVar) and self.own(frame, where.key) else None

    def own(self, frame: int, key: str) -> bool:
        """A variable that goes with its function, or the one that the call sets."""
        if (frame, key) == self.out:
            return True
        variable = self.program.variables[key]
        return variable.kind == "local" and not (variable.type.volatile or variable.type.atomic)

    def plain(self, key: str) -> bool:
        """A parameter that is a pointer like any other."""
        variable = self.program.variables[key]
        return variable.kind == "param" and not (variable.type.volatile or variable.type.atomic)

    def alone(self) -> bool:
        """Only variables of the functions themselves hold the address, and nothing is made of it."""
        first = self.first()
        if first is None:
            return False
        self.names = {first}
        known = 0
        while known != len(self.names):
            known = len(self.names)
            if not all(self.harmless(node.number, node.frame, node.action) for node in self.nodes):
                return False
        return True

    def harmless(self, n: int, frame: int, action: Action) -> bool:
        """A node passes the address to a variable, compares or returns it, or has nothing to do with it."""
        if n in self.filled and isinstance(action, ins.CallInstr) and action.target is not None:
            self.names.add((frame, action.target.number))  # memset returns what it is given
        if n == self.allocation or n in self.filled:
            return True
        match action:
            case ins.Define(target=target, value=value):
                if not self.mentions(frame, value):
                    return True
                if self.inside(frame, value):
                    self.names.add((frame, target.number if isinstance(target, ins.Temp) else target.key))
                    return isinstance(target, ins.Temp) or self.own(frame, target.key)
                return self.compares(frame, value)
            case ins.Load(target=target, address=ins.AddrVar(key=key)):
                if (frame, key) in self.names:
                    self.names.add((frame, target.number))
                return True
            case ins.Store(address=ins.AddrVar(key=key), value=value):
                if self.holds(frame, value):
                    self.names.add((frame, key))
                    return self.own(frame, key)
                return not self.mentions(frame, value)
            case ins.Branch(cond=cond):
                return not self.mentions(frame, cond) or self.holds(frame, cond) or self.compares(frame, cond)
            case ins.ReturnInstr():
                return True
            case ins.CallInstr(callee=callee) if n in self.entering:  # its arguments come in where it is entered
                return not any(self.mentioned(frame, part) for part in parts_of(callee))
            case Bind(caller=caller, params=params, args=args):
                for key, operand in zip(params, args, strict=True):
                    if self.inside(caller, operand) and self.plain(key):
                        self.names.add((frame, key))
                    elif self.mentions(caller, operand):
                        return False
                return True
            case Unbind(callee=callee, target=target, value=value):
                if value is not None and target is not None and self.holds(callee, value):
                    self.names.add((frame, target.number))
                    return True
                return value is None or not self.mentions(callee, value)
            case _:
                return not any(self.mentioned(at, part) for at, part in read_in(action, frame))

    def mentioned(self, frame: int, part: ins.Operand) -> bool:
        match part:
            case ins.Temp(number=number):
                return (frame, number) in self.names
            case ins.Var(key=key) | ins.AddrVar(key=key):
                return (frame, key) in self.names
            case _:
                return False

    def mentions(self, frame: int, operand: ins.Operand) -> bool:
        return any(self.mentioned(frame, part) for part in parts_of(operand))

    def holds(self, frame: int, operand: ins.Operand) -> bool:
        bare = _stripped(operand)
        return isinstance(bare, (ins.Temp, ins.Var)) and self.mentioned(frame, bare)

    def inside(self, frame: int, operand: ins.Operand) -> bool:
        """An operand is such an address, or what is added to one: the call that stays does with it what it did."""
        while True:
            if isinstance(operand, ins.PtrAdd) and not self.mentions(frame, operand.index):
                operand = operand.base
            elif isinstance(operand, ins.Op) and operand.op == "cast" and operand.type.is_pointer:
                operand = operand.args[0]
            else:
                return self.holds(frame, operand)

    def compares(self, frame: int, operand: ins.Operand) -> bool:
        """A comparison with NULL or with another such address, or what is made of one."""
        while isinstance(operand, ins.Op) and operand.op == "not":
            operand = operand.args[0]
        if not isinstance(operand, ins.Op) or operand.op not in _COMPARISONS:
            return isinstance(_stripped(operand), (ins.Temp, ins.Var))
        sides = [_stripped(a) for a in operand.args]
        zero = operand.op in ("==", "!=") and any(isinstance(a, ins.Const) and a.value == 0 for a in sides)
        return zero or all(self.inside(frame, a) for a in operand.args)

    # --- what is returned --------------------------------------------------------------------------------------------

    def returned(self, outer: int) -> bool:
        """Every way through the call allocates once; and where there is memory, it is what the call returns."""
        graph = self.program.graph
        entering = [node for node in self.nodes if node.frame == outer and isinstance(node.action, Bind)]
        if len(entering) != 1:
            return False
        start = entering[0]
        work: list[tuple[int, int, bool, frozenset[Name]]] = [
            (start.block, graph.blocks[start.block].index(start.number), False, frozenset())
        ]
        known: dict[int, tuple[bool, frozenset[Name]]] = {}
        left = False
        while work:
            block, at, made, held = work.pop()
            arms = graph.succs[block]
            ended = False
            for n in graph.blocks[block][at:]:
                node = graph.nodes[n]
                if isinstance(node.action, Unbind) and node.action.callee == outer:
                    value = node.action.value
                    if not made or value is None or not self.held(held, outer, value):
                        return False
                    ended = left = True
                    break
                if self.out is not None and self.out not in held and self.reads(node, self.out):
                    return False
                if n == self.allocation:
                    if made:
                        return False
                    first = self.first()
                    assert first is not None
                    made, held = True, held | {first}
                    continue
                held = self.after(held, node.frame, node.action)
                if isinstance(node.action, ins.Branch) and made and len(arms) == 2:
                    arms = self.with_memory(n, node.frame, node.action, held, arms)
            for arm in () if ended else arms:
                state = (made, held)
                if arm in known:
                    before = known[arm]
                    if before[0] != made:
                        return False
                    state = (made, before[1] & held)
                    if state == before:
                        continue
                known[arm] = state
                work.append((arm, 0, *state))
        return left

    def reads(self, node: Node, name: Name) -> bool:
        return any((at, getattr(part, "key", None)) == name for at, part in read_in(node.action, node.frame))

    def held(self, held: Collection[Name], frame: int, operand: ins.Operand) -> bool:
        match _stripped(operand):
            case ins.Temp(number=number):
                return (frame, number) in held
            case ins.Var(key=key):
                return (frame, key) in held
            case _:
                return False

    def after(self, held: frozenset[Name], frame: int, action: object) -> frozenset[Name]:
        """What surely holds the memory behind an action."""
        changed: Name
        match action:
            case ins.Define(target=target, value=value):
                changed = (frame, target.number if isinstance(target, ins.Temp) else target.key)
                same = self.held(held, frame, value)
            case ins.Load(target=target, address=address):
                changed = (frame, target.number)
                same = isinstance(address, ins.AddrVar) and (frame, address.key) in held
            case ins.Store(address=ins.AddrVar(key=key), value=value):
                changed = (frame, key)
                same = self.held(held, frame, value)
            case ins.Birth(var=key):
                changed, same = (frame, key), False
            case Unbind(callee=callee, target=ins.Temp(number=number), value=value):
                changed = (frame, number)
                same = value is not None and self.held(held, callee, value)
            case ins.CallInstr(target=ins.Temp(number=number)):
                changed, same = (frame, number), False
            case _:
                return held
        return held | {changed} if same else held - {changed}

    def with_memory(
        self, n: int, frame: int, branch: ins.Branch, held: Collection[Name], arms: tuple[int, ...]
    ) -> tuple[int, ...]:
        """The ways on from a branch where there is memory: of a test of the address, or the error code, it is one."""
        found = self.program.values.conditions.get(n)
        if found is None or found.right.constant != 0 or found.op not in ("==", "!="):
            return arms
        if self.into is not None and found.left == self.program.values.results.get(self.allocation):
            return arms[:1] if found.op == "==" else arms[1:]
        named = [part for part in parts_of(branch.cond) if isinstance(part, (ins.Temp, ins.Var, ins.AddrVar))]
        if len(named) == 1 and self.held(held, frame, named[0]):
            return arms[:1] if found.op == "!=" else arms[1:]
        return arms


# --- operands ---------------------------------------------------------------------------------------------------------


def read_in(action: Action, frame: int) -> Iterator[tuple[int, ins.Operand]]:
    """What an action evaluates, each with the frame whose names it is written in."""
    match action:
        case Bind(caller=caller, args=args):
            found = [(caller, operand) for operand in args]
        case Unbind(callee=callee, value=value):
            found = [(callee, value)] if value is not None else []
        case _:
            found = [(frame, operand) for operand in evaluated(action)]
    for at, operand in found:
        for part in parts_of(operand):
            yield at, part


def _stripped(operand: ins.Operand) -> ins.Operand:
    """Without casts between pointers, and without 0 that is added."""
    while True:
        if isinstance(operand, ins.Op) and operand.op == "cast" and operand.type.is_pointer:
            operand = operand.args[0]
        elif isinstance(operand, ins.PtrAdd) and isinstance(operand.index, ins.Const) and operand.index.value == 0:
            operand = operand.base
        else:
            return operand
