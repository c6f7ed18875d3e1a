"""The program with each function once: what points-to without contexts works on.

Calls are bound to the one frame of the function called, from everywhere; there is no control flow.
"""

from __future__ import annotations

from dataclasses import replace

from opi_xform.effects.formats import unread
from opi_xform.effects.model import Effects
from opi_xform.graph.graph import (
    COUNT_DIFFERS,
    MAIN,
    POINTER,
    Action,
    Bind,
    Frame,
    Graph,
    Lost,
    Node,
    Unbind,
    behind,
    given,
    inside,
    miscounted,
)
from opi_xform.ir import instr as ins
from opi_xform.program.fresh import fresh
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.pointers import PointerCalls
from opi_xform.program.printing import printing, told


class Flat:
    """The program with one frame for each function, its calls bound to it from everywhere.  No control flow."""

    def __init__(self, lowerings: Lowerings, effects: Effects, pointers: PointerCalls) -> None:
        self.lowerings = lowerings
        self.effects = effects
        self.pointers = pointers
        self.names: list[str] = []
        self.number: dict[str, int] = {}
        self.bodies: list[ins.Lowered] = []
        self.nodes: list[Node] = []
        self.own: list[list[Action]] = []
        self.followed: set[int] = set()
        self.fresh: dict[str, ins.CallInstr | None] = {}  # functions that only allocate: the call that does
        self.printing = printing(lowerings, effects, pointers.taken)
        for name in (MAIN, *sorted(n for n in pointers.taken if n in lowerings.functions)):
            self.enter(name)
        at = 0
        while at < len(self.names):  # not ``scc.reached``: what a body calls is known when it is bound
            self.read(at)
            at += 1
        self.ending = self.never_return()

    def enter(self, name: str) -> int:
        number = self.number.get(name)
        if number is None:
            body = self.lowerings.get(name)
            assert body is not None
            number = self.number[name] = len(self.names)
            self.names.append(name)
            self.bodies.append(body)
        return number

    def add(self, frame: int, action: Action) -> None:
        self.nodes.append(Node(len(self.nodes), frame, 0, action))

    def read(self, frame: int) -> None:
        actions: list[Action] = []
        self.own.append(actions)
        for block in self.bodies[frame].blocks:
            for instr in block:
                if isinstance(instr, ins.CallInstr):
                    if not self.pointers.never(instr):
                        actions.append(self.call(frame, instr))
                else:
                    actions.append(instr)
                    self.add(frame, instr)

    def targets(self, call: ins.CallInstr) -> tuple[str, ...]:
        """The program's own functions that a call goes to; () for a library's, and where that is not known."""
        if isinstance(call.callee, ins.AddrFunc):
            return (call.callee.key,) if call.callee.key in self.lowerings.functions else ()
        return self.pointers.targets(call)

    def call(self, frame: int, call: ins.CallInstr) -> Action:
        names = self.targets(call)
        direct = isinstance(call.callee, ins.AddrFunc)
        if not names:
            action: Action = call if direct else Lost(call, POINTER, ())
            if direct and self.calls_back(frame, call):
                self.followed.add(len(self.nodes))
            self.add(frame, action)
            if isinstance(call.callee, ins.AddrFunc):
                effect = self.effects.get(call.callee.key)
                mine = self.bodies[frame].function
                escape = unread(call, effect, self.lowerings.globals, mine.variables)
                if escape is not None and not told(self.printing, mine.key, effect):
                    self.own[frame].append(escape)
                    self.add(frame, escape)
            return action
        bodies = [self.bodies[self.enter(name)] for name in names]
        if any(miscounted(body.function, len(call.args), fewer=True) for body in bodies):
            lost = Lost(call, COUNT_DIFFERS, names)
            self.add(frame, lost)
            return lost
        named = min(len(body.function.params) for body in bodies)
        escape = behind(call, named, self.printing.issuperset(names))
        if escape is not None:
            self.own[frame].append(escape)
            self.add(frame, escape)
        self.followed.add(len(self.nodes))
        self.add(frame, call)
        for name, body in zip(names, bodies, strict=True):
            callee = self.number[name]
            params = body.function.params
            self.add(callee, Bind(frame, params, given(body.function, call.args)))
            if name not in self.fresh:
                self.fresh[name] = fresh(body, self.effects)
            if (made := self.fresh[name]) is not None:
                if call.target is not None:
                    self.add(frame, replace(made, target=call.target, args=tuple(ins.Const(0) for _ in made.args)))
                continue
            for block in body.blocks:
                if block and isinstance(block[-1], ins.ReturnInstr):
                    self.add(frame, Unbind(callee, call.target, block[-1].value))
        return call

    def calls_back(self, frame: int, call: ins.CallInstr) -> bool:
        """A library function calls functions of the program before it returns: they are bound to what it passes."""
        assert isinstance(call.callee, ins.AddrFunc)
        effect = self.effects.get(call.callee.key)
        found: list[tuple[str, tuple[ins.Operand, ...]]] = []
        for callback in effect.calls if effect is not None else ():
            pointer = call.args[callback.arg] if callback.arg < len(call.args) else ins.Nondet()
            key = pointer.key if isinstance(pointer, ins.AddrFunc) else ""
            if callback.when != "now" or key not in self.lowerings.functions:
                return False
            found.append((key, tuple(inside(call.args[i]) if i is not None else ins.Nondet() for i in callback.passes)))
        for key, args in found:
            params = self.bodies[self.enter(key)].function.params
            if len(params) != len(args):
                return False
        for key, args in found:
            callee = self.number[key]
            self.add(callee, Bind(frame, self.bodies[callee].function.params, args))
        return bool(found)

    def never_return(self) -> frozenset[str]:
        """Functions that always end the program: what follows their calls is not reached."""
        found: set[str] = set()
        work = list(self.names)  # not ``scc.reached``: a caller of one that ends may still return
        callers: dict[str, list[str]] = {}
        while work:
            name = work.pop()
            if name in found or self.returns(self.bodies[self.number[name]], found, callers):
                continue
            found.add(name)
            work += callers.get(name, ())
        return frozenset(found)

    def returns(self, body: ins.Lowered, ending: set[str], callers: dict[str, list[str]]) -> bool:
        seen, stack = {0}, [0]
        out = False
        while stack:
            block = stack.pop()
            if self.ends(body, block, ending, callers):
                continue
            if not body.succs[block]:
                out = True
            for s in body.succs[block]:
                if s not in seen:
                    seen.add(s)
                    stack.append(s)
        return out

    def ends(self, body: ins.Lowered, block: int, ending: set[str], callers: dict[str, list[str]]) -> bool:
        """The program ends in a block, by a call."""
        for instr in body.blocks[block]:
            if isinstance(instr, ins.CallInstr) and isinstance(instr.callee, ins.AddrFunc):
                name = instr.callee.key
                if name in self.number:
                    callers.setdefault(name, []).append(body.function.key)
                    if name in ending:
                        return True
                else:
                    effect = self.effects.get(name)
                    if effect is not None and effect.noreturn:
                        return True
        return False

    def graph(self) -> Graph:
        frames = tuple(Frame(i, name, -1, -1) for i, name in enumerate(self.names))
        lowered = dict(zip(self.names, self.bodies, strict=True))
        return Graph(tuple(self.nodes), (), (), (), frames, lowered, frozenset(self.followed))
