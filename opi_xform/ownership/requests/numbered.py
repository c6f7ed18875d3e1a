"""Requests that a counter numbers: ``for (…) if (near[d]) MPI_Irecv(in[d], …, &rq[n++]); MPI_Waitall(n, rq, …);``.

Which number a request gets has no closed form.  Yet it is below the counter from there on, as long as that only grows:
so a wait for as many requests as it says completes this one, and what is posted after it has another number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from opi_xform.ir import instr as ins
from opi_xform.memory.poly import Poly, number
from opi_xform.ownership.model.names import Name, Names
from opi_xform.ownership.requests.slots import Slots, slots_of
from opi_xform.record import dataclass

MOST_AHEAD = 64  # beyond, it does not matter how far the counter is before the request's number
_BEHIND = -1  # the counter may be anywhere
_SAME, _OTHER, _LEFT = 0, 1, 2  # in the post's turn of a loop, in a later one, when the loop has been left
_TOLD = {">": (True, 1), ">=": (True, 0), "!=": (True, 1), "==": (False, 1), "<=": (False, 1), "<": (False, 0)}
# What a comparison with a number is where the counter is greater by so much, or by more.
_INT = 4  # bytes: neither less, where it could come round, nor more, where the call would cut it off


@dataclass(frozen=True, slots=True)
class _Wait:
    """Calls that complete requests of an object, from one place on, as many as a variable says."""

    nodes: tuple[int, ...]
    counter: Name
    first: Poly


class Numbered:
    """The request that a call posts in one slot, followed on all ways from there."""

    def __init__(self, names: Names, post: int, slot: Slots, lost: Mapping[int, Slots | None]) -> None:
        self.names = names
        self.graph = names.graph
        self.values = names.program.values
        self.post = post
        self.slot = slot
        self.lost = lost

    def complete(self, ahead: Collection[int], behind: Collection[int], turns: int | None) -> bool:
        """No way leads to one of the nodes, or to a call that overwrites the request, before it is complete.

        ahead: nodes that are meant as they begin; behind: as they end.  turns: a loop around the post of which another
        turn in the same run is about another buffer, so that what is reached there does not count.
        """
        return any(self.completed(wait, ahead, behind, turns) for wait in self.waits)

    @cached_property
    def waits(self) -> list[_Wait]:
        """One for each counter and place from which calls complete requests."""
        out: dict[tuple[Name, Poly], list[int]] = {}
        if self.graph.cyclic or not self.once():
            return []
        for n, op in self.names.operations.items():
            done = op.completes
            if done is None or not done.definite or done.which != "all" or done.count is None:
                continue
            slots = slots_of(self.names, n, done.requests)
            call = self.graph.nodes[n].action
            assert isinstance(call, ins.CallInstr)
            if slots is None or slots.object != self.slot.object or slots.length != self.slot.length:
                continue
            counter = self.variable(n, call.args[done.count])
            if counter is None or slots.lo.constant is None:
                continue
            # a number below zero would be in front of the object
            if not slots.lo.constant or self.values.symbols.is_nonneg(self.slot.lo - slots.lo):
                out.setdefault((counter, slots.lo), []).append(n)
        return [_Wait(tuple(nodes), counter, first) for (counter, first), nodes in out.items()]

    def once(self) -> bool:
        """The object that holds the requests is one piece of memory at a time, from the post on."""
        info = self.values.objects.table[self.slot.object]
        if info.kind == "heap":
            return len(info.nodes) == 1 and self.names.program.nest.of[self.graph.nodes[info.node].block] < 0
        return info.kind == "variable"

    # --- the counter -------------------------------------------------------------------------------------------------

    def variable(self, n: int, operand: ins.Operand) -> Name | None:
        """The local variable whose value an operand of a node is."""
        name = self.source(n, operand)
        if name is None or name[0] != "v" or name[1] in self.names.address_taken or name[1] in self.values.escaped:
            return None
        info = self.values.objects.table[name[1]]
        variable = None if info.variable is None else self.names.program.variables.get(info.variable)
        if variable is None or variable.is_global or variable.type.kind != "int" or not variable.type.signed:
            return None
        plain = variable.type.size == _INT and not variable.type.volatile and not variable.type.atomic
        return name if plain and not self.names.writes(name[1]) else None

    def source(self, n: int, operand: ins.Operand) -> Name | None:
        """The variable whose value at a node an operand is."""
        m, operand = self.made(n, operand)
        name = self.names.name(self.graph.nodes[n].frame, operand)
        if name is None or name[0] != "v":
            return None
        between = (x for x in self.before(n) if x >= m)
        return None if any(name in self.names.defined(self.graph.nodes[x]) for x in between) else name

    def made(self, n: int, operand: ins.Operand) -> tuple[int, ins.Operand]:
        """What an operand was set to in the same block, and the node that did: a temporary is set once."""
        for m in reversed(self.before(n)):
            node = self.graph.nodes[m]
            match node.action:
                case ins.Define(target=ins.Temp() as target, value=value) if target == operand:
                    if node.frame == self.graph.nodes[n].frame:
                        n, operand = m, value
        return n, operand

    def before(self, n: int) -> list[int]:
        """The nodes of a block in front of one of them."""
        block = self.graph.blocks[self.graph.nodes[n].block]
        return [m for m in block if m < n]

    def grows(self, n: int, counter: Name) -> int | None:
        """How much a node adds to the counter that it sets; None where that is no constant, or makes it less."""
        action = self.graph.nodes[n].action
        if not isinstance(action, ins.Define):
            return None
        m, value = self.made(n, action.value)
        if not isinstance(value, ins.Op) or value.op != "+" or value.unsigned:
            return None  # modulo 2**32, `-1u` is added, too
        for old, more in (value.args, value.args[::-1]):
            if isinstance(more, ins.Const) and 0 <= more.value <= MOST_AHEAD and self.source(m, old) == counter:
                unchanged = all(
                    counter not in self.names.defined(self.graph.nodes[x]) for x in self.before(n) if x >= m
                )
                return more.value if unchanged else None
        return None

    def ahead(self, n: int, lo: Poly, wait: _Wait) -> int | None:
        """How far the counter is before the number of the request at ``lo`` where a node is executed."""
        size = self.slot.length.constant
        value = self.value(n, wait.counter)
        if value is None or not size:
            return None
        resolve = self.values.symbols.resolve
        more = resolve(resolve(value).scaled(size) - (lo - wait.first)).constant
        return None if more is None or more % size else more // size

    def value(self, n: int, counter: Name) -> Poly | None:
        """What the counter is where a node is executed."""
        defs = set(self.names.defs.get(counter, ()))
        block = self.graph.nodes[n].block
        setting = [m for m in self.graph.blocks[block] if m in defs]
        past = [m for m in setting if m < n]
        if past:
            return self.values.operands[past[-1]][-1] if past[-1] in self.values.operands else None
        if not setting:
            return self.values.out.at_end(block, ("v", counter[1])) if block in self.values.out else None
        more = self.grows(setting[0], counter)
        known = self.values.operands.get(setting[0])
        if more is None or known is None:
            return None
        return self.values.symbols.resolve(known[-1]) - number(more)

    # --- the ways ----------------------------------------------------------------------------------------------------

    def completed(self, wait: _Wait, ahead: Collection[int], behind: Collection[int], turns: int | None) -> bool:
        """See ``complete``; by waits for as many requests as one counter says."""
        begun = self.ahead(self.post, self.slot.lo, wait)
        if begun is None or begun < 0:
            return False
        loop = None if turns is None else self.names.program.nest.loops[turns]
        waits = set(wait.nodes)
        setting = set(self.names.defs.get(wait.counter, ()))
        work = [(self.graph.nodes[self.post].block, self.post + 1, _SAME, begun)]
        seen: dict[tuple[int, int], int] = {}  # by block and turn: how far ahead the counter is at least
        while work:
            block, first, turn, far = work.pop()
            for n in self.graph.blocks[block]:
                if n < first:
                    continue
                if n in ahead and turn != _OTHER:
                    return False
                if n in waits and far > 0:
                    break
                if n in behind and turn != _OTHER:
                    return False
                if n in self.lost and not self.spared(n, far, wait):
                    return False
                if n in setting:
                    more = self.grows(n, wait.counter)
                    far = _BEHIND if more is None or far == _BEHIND else min(far + more, MOST_AHEAD)
            else:
                for s in self.onward(block, wait.counter, far):
                    next_turn = turn
                    if loop is not None and turn != _LEFT:
                        next_turn = _LEFT if s not in loop.blocks else _OTHER if s == loop.header else turn
                    if far < seen.get((s, next_turn), MOST_AHEAD + 1):
                        seen[s, next_turn] = far
                        work.append((s, 0, next_turn, far))
        return True

    def onward(self, block: int, counter: Name, far: int) -> tuple[int, ...]:
        """Where control goes from a block when the counter is at least ``far``: ``if (n > 0) MPI_Waitall(n, …)``."""
        succs = self.graph.succs[block]
        nodes = self.graph.blocks[block]
        last = self.graph.nodes[nodes[-1]].action if nodes else None
        if far <= 0 or len(succs) != 2 or not isinstance(last, ins.Branch):
            return tuple(succs)
        _, cond = self.made(nodes[-1], last.cond)
        op, than = "!=", 0
        if isinstance(cond, ins.Op) and cond.op in _TOLD and isinstance(cond.args[1], ins.Const):
            op, than, cond = cond.op, cond.args[1].value, cond.args[0]
        if self.source(nodes[-1], cond) != counter or than > far - _TOLD[op][1]:
            return tuple(succs)
        return succs[:1] if _TOLD[op][0] else succs[1:]

    def spared(self, n: int, far: int, wait: _Wait) -> bool:
        """A call posts another request: one with a greater number."""
        op = self.names.operations.get(n)
        other = self.lost[n]
        if op is None or other is None or slots_of(self.names, n, op.request) != other or far == _BEHIND:
            return False
        back = self.ahead(n, other.lo, wait)
        return back is not None and other.length == self.slot.length and far - back > 0
