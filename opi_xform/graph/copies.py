"""Builds the program graph: the bodies of the functions in the places of their calls.

A call through a pointer is a branch to each function that it may reach.  Recursion, refused functions and copies past
the budget stay ``Lost`` calls: what they can reach is given up, loudly.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from opi_xform import budget
from opi_xform.effects.formats import unread
from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.bodies import Bodies
from opi_xform.graph.graph import (
    MAIN,
    NOT_FOLLOWED,
    POINTER,
    RECURSION,
    SUMMARY,
    Action,
    Bind,
    Frame,
    Graph,
    Lost,
    Node,
    Unbind,
    anything,
    behind,
    given,
    inside,
    miscounted,
    wants,
)
from opi_xform.graph.pruned import pruned
from opi_xform.graph.summaries import Relevance
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import assigned, used_temps
from opi_xform.program.fixed import constant_parameters, successors
from opi_xform.program.handed_out import put_back
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.out_parameters import OutParameter
from opi_xform.program.pointers import PointerCalls
from opi_xform.program.printing import printing, told


class _Builder:
    def __init__(
        self,
        lowerings: Lowerings,
        effects: Mapping[str, FunctionEffect],
        pointers: PointerCalls,
        relevant: Relevance | None,
        initialised: Collection[str],
        succeeding: frozenset[str],
        complete: bool,
        alone: frozenset[str] = frozenset(),
        bodies: Bodies | None = None,
        rooted: bool = False,
    ) -> None:
        self.relevant = relevant
        self.alone = alone  # if only these are followed
        self.rooted = rooted or not alone  # main is where the program begins
        self.others = tuple(sorted(lowerings.functions)) if alone else ()  # what may run before they begin
        self.printing = printing(lowerings, effects, pointers.taken) if complete else frozenset()
        running = relevant.reached if relevant is not None else sorted(lowerings.functions)
        if bodies is None:
            bodies = Bodies(running, lowerings, effects, pointers, initialised, succeeding)
        self.succeeding = bodies.succeeding
        self.zeros: dict[str, dict[str, int]] = {}  # per function: what is 0 since calls come back without an error
        self.setting = bodies.setting
        self.handed_out = bodies.handed_out
        self.outs: dict[int, tuple[OutParameter, ins.Define | ins.Store]] = {}
        self.addressed = bodies.addressed
        self.temps: dict[str, frozenset[int]] = {}
        self.assigned: dict[str, frozenset[str]] = {}
        self.fixed: dict[int, dict[str, int]] = {}  # per frame: its parameters that are numbers
        self.lowerings = lowerings
        self.plain = bodies.plain
        self.effects = effects
        self.followed: set[int] = set()
        self.pointers = pointers
        self.nodes: list[Node] = []
        self.blocks: list[list[int]] = []
        self.succs: list[tuple[int, ...]] = []
        self.frames: list[Frame] = []
        self.used: dict[str, ins.Lowered] = {}
        self.put = 0  # temporaries that no function has
        self.cycles = bodies.cycles
        self.summarised: frozenset[str] = frozenset()
        if relevant is not None:
            self.summarised = relevant.quiet.chosen(self.copied, budget.COPIED, budget.SUMMARISED)

    def copied(self, name: str) -> list[str]:
        """The functions that a copy of a function may bring with it, once for each call."""
        body = self.lowerings.get(name)
        out: list[str] = []
        for instr in (i for block in body.blocks for i in block) if body is not None and not body.refused else ():
            if isinstance(instr, ins.CallInstr):
                direct = isinstance(instr.callee, ins.AddrFunc)
                names = (instr.callee.key,) if isinstance(instr.callee, ins.AddrFunc) else self.pointers.targets(instr)
                out += [
                    n for n in names if n in self.lowerings.functions and (not direct or self.matters(n, instr, name))
                ]
        return out

    def block(self) -> int:
        self.blocks.append([])
        self.succs.append(())
        return len(self.blocks) - 1

    def add(self, frame: int, block: int, action: Action) -> int:
        number = len(self.nodes)
        if number == budget.NODES:
            raise budget.TooLargeError([f.function for f in self.frames])
        self.nodes.append(Node(number, frame, block, action))
        self.blocks[block].append(number)
        return number

    def build(self, entries: Sequence[str]) -> None:
        first = self.block()
        # (frame, callee, block to start in, block to continue in, target of the returned value)
        work: list[tuple[int, str, int, int, ins.Temp | None]] = []
        if list(entries) == [MAIN] and self.rooted:
            self.frames.append(Frame(0, MAIN, -1, -1))
            work.append((0, MAIN, first, self.block(), None))
        else:
            self.any_order(first, entries, work)
        while work:
            frame, function, start, after, target = work.pop()
            self.copy(frame, function, start, after, target, work)

    def any_order(
        self, first: int, entries: Sequence[str], work: list[tuple[int, str, int, int, ins.Temp | None]]
    ) -> None:
        """No main: the entries are called from outside, any number of times, with arguments nothing is known of."""
        self.frames.append(Frame(0, "", -1, -1))
        head, after = self.block(), self.block()
        self.succs[first] = (head,)
        starts = []
        for key in entries:
            if (body := self.lowerings.get(key)) is None or body.refused:
                continue
            start = self.block()
            starts.append(start)
            self.enter(0, start, -1, key, body, tuple(ins.Nondet() for _ in body.function.params), head, None, work)
            if self.alone:
                self.add(len(self.frames) - 1, start, Lost(anything(body.function), NOT_FOLLOWED, self.others))
        self.succs[head] = (*starts, after)

    def copy(
        self,
        frame: int,
        function: str,
        start: int,
        after: int,
        target: ins.Temp | None,
        work: list[tuple[int, str, int, int, ins.Temp | None]],
    ) -> None:
        if function not in self.used:
            body = self.lowerings.get(function)
            assert body is not None
            self.used[function] = self.addressed.body(body)
        lowered = self.used[function]
        if frame in self.outs:
            lowered = self.addressed.body(self.outs[frame][0].body)
        if function not in self.zeros:
            self.zeros[function] = self.succeeding.zeros(self.used[function])
        if frame not in self.outs:
            self.fixed[frame] = {**self.zeros[function], **self.fixed.get(frame, {})}
        parent = self.frames[frame].parent
        places = [self.block() for _ in lowered.blocks]
        self.succs[start] = (places[0],)
        for number, instrs in enumerate(lowered.blocks):
            at = places[number]
            ended = False
            succs = tuple(places[s] for s in lowered.succs[number])
            taken = successors(lowered, instrs[-1] if instrs else None, succs, self.fixed.get(frame, {}))
            for instr in instrs if taken == succs else (*instrs[:-1], self.passed(lowered, instrs[-1])):
                if isinstance(instr, ins.ReturnInstr):
                    if parent >= 0:
                        leave = self.block()
                        self.leave(frame, leave, target, instr.value)
                        self.add(frame, at, instr)
                        self.succs[at] = (leave,)
                        self.succs[leave] = (after,)
                    else:
                        self.add(frame, at, instr)
                        self.succs[at] = (after,)
                    ended = True
                    break
                if isinstance(instr, ins.CallInstr):
                    if isinstance(instr.callee, ins.AddrFunc) and self.noreturn(instr.callee.key):
                        self.add(frame, at, instr)
                        ended = True
                        break
                    if self.ends(instr):
                        self.summary(frame, at, instr)
                        ended = True
                        break
                    if self.pointers.never(instr):
                        self.followed.add(self.add(frame, at, instr))
                        ended = True
                        break
                    at = self.call(frame, at, instr, work)
                else:
                    self.add(frame, at, instr)
            if ended:
                continue
            if taken:
                self.succs[at] = taken
            elif parent >= 0:
                self.leave(frame, at, None, None)
                self.succs[at] = (after,)
            else:
                self.succs[at] = (after,)

    def leave(self, frame: int, at: int, target: ins.Temp | None, value: ins.Operand | None) -> None:
        """The end of a copy; what its out parameter holds goes to the caller's variable."""
        parent = self.frames[frame].parent
        if frame not in self.outs:
            self.add(parent, at, Unbind(frame, target, value))
            return
        found, put = self.outs[frame]
        assert isinstance(put.value, ins.Temp)
        self.add(parent, at, Unbind(frame, put.value, ins.Var(found.key)))
        self.add(parent, at, put)

    def call(
        self, frame: int, at: int, instr: ins.CallInstr, work: list[tuple[int, str, int, int, ins.Temp | None]]
    ) -> int:
        callee = called_key(instr)
        body = self.lowerings.get(callee) if callee else None
        if body is None:
            if callee:
                node = self.add(frame, at, instr)  # a library function: its effects are in the tables
                self.unread(frame, at, instr, callee)
                return self.callbacks(frame, at, node, instr, callee, work)
            return self.through_pointer(frame, at, instr, work)
        reason = self.reason(frame, callee, body, len(instr.args))
        if reason == RECURSION and instr.args and self.plain.computes(callee):
            action = self.passed(self.used[self.frames[frame].function], instr)
            if instr.target is not None:
                value = ins.Op(f"call {callee}", instr.args, instr.call.type, not instr.call.type.signed)
                action = replace(action, target=instr.target, value=value, type=instr.call.type)
            self.add(frame, at, action)
            return at
        if callee in self.summarised and reason in ("", RECURSION) and self.follows(frame, callee, instr):
            self.summary(frame, at, instr)
            return at
        if reason:
            self.add(frame, at, Lost(instr, reason, (callee,)))
            return at
        self.more(frame, at, instr, len(body.function.params), callee)
        out = self.out_parameter(frame, instr) if self.follows(frame, callee, instr) else None
        if out is not None:
            found, put = out
            passed: ins.Operand = put.target if isinstance(put, ins.Define) else ins.Const(0)
            instr = replace(instr, args=tuple(passed if i == found.index else x for i, x in enumerate(instr.args)))
        node = self.add(frame, at, instr)
        if not self.follows(frame, callee, instr):
            self.followed.add(node)
            return at
        after = self.block()
        if out is not None:
            self.outs[len(self.frames)] = out
        self.enter(frame, at, node, callee, body, instr.args, after, instr.target, work)
        if out is not None:
            self.fixed[len(self.frames) - 1].pop(out[0].key, None)  # it is set in the copy
        return after

    def out_parameter(self, frame: int, call: ins.CallInstr) -> tuple[OutParameter, ins.Define | ins.Store] | None:
        """The function that sets the pointer of which a call is given the address, and what puts it back: by a
        temporary of its own.
        """
        lowered = self.used[self.frames[frame].function]
        out = self.setting.set_by(call)
        handed = None
        if out is None and (call.target is None or call.target.number not in self.wanted(lowered)):
            handed = self.handed_out.of(lowered, call)
        if out is None and handed is None:
            return None
        value = self.unused(lowered)
        if handed is not None:
            return handed.function, put_back(handed, call, value)
        assert out is not None
        found, key = out
        variable = lowered.function.variables.get(key) or self.lowerings.globals[key]
        return found, ins.Define(call.span, call.stmt, ins.Var(key), value, variable.type)

    def unused(self, lowered: ins.Lowered) -> ins.Temp:
        self.put += 1
        return ins.Temp(lowered.temps + self.put)

    def passed(self, lowered: ins.Lowered, instr: ins.Instr) -> ins.Define:
        """What a copy has in the place of an instruction that it leaves out."""
        return ins.passing(instr.span, instr.stmt, self.unused(lowered))

    def wanted(self, body: ins.Lowered) -> frozenset[int]:
        """The temporaries of a function that something is computed from."""
        name = body.function.key
        if name not in self.temps:
            self.temps[name] = used_temps(body)
        return self.temps[name]

    def unread(self, frame: int, at: int, instr: ins.CallInstr, callee: str) -> None:
        """What a format may do to its arguments that is not in the tables."""
        mine = self.lowerings.functions[self.frames[frame].function].variables
        escape = unread(instr, self.effects.get(callee), self.lowerings.globals, mine)
        if escape is not None and not told(self.printing, self.frames[frame].function, self.effects.get(callee)):
            self.add(frame, at, escape)

    def follows(self, frame: int, callee: str, instr: ins.CallInstr) -> bool:
        """Whether a decision may depend on what a called function does."""
        return self.matters(callee, instr, self.frames[frame].function)

    def matters(self, callee: str, instr: ins.CallInstr, caller: str) -> bool:
        if self.relevant is None or callee in self.relevant.seen or callee in self.relevant.ending:
            return True
        body = self.used.get(caller) or self.lowerings.get(caller)
        assert body is not None
        return wants(instr, self.wanted(body))

    def through_pointer(
        self, frame: int, at: int, instr: ins.CallInstr, work: list[tuple[int, str, int, int, ins.Temp | None]]
    ) -> int:
        """One of the functions that the pointer may point to."""
        names = self.pointers.targets(instr)
        bodies = [(name, body) for name in names if (body := self.lowerings.get(name)) is not None]
        reasons = {name: self.reason(frame, name, body, len(instr.args)) for name, body in bodies}
        if not bodies or not self.rooted or not {"", NOT_FOLLOWED}.issuperset(reasons.values()):
            self.add(frame, at, Lost(instr, POINTER, tuple(sorted(self.lowerings.functions))))
            return at
        after = self.block()
        starts = []
        for name, body in bodies:
            start = self.block()
            starts.append(start)
            called = replace(instr, callee=ins.AddrFunc(name))
            if reasons[name]:
                self.add(frame, start, Lost(called, reasons[name], (name,)))
                self.succs[start] = (after,)
                continue
            if name in self.summarised:
                self.summary(frame, start, called)
                self.succs[start] = (after,)
                continue
            self.more(frame, start, instr, len(body.function.params), name)
            node = self.add(frame, start, called)
            self.enter(frame, start, node, name, body, instr.args, after, instr.target, work)
        self.succs[at] = tuple(starts)
        return after

    def summary(self, frame: int, at: int, call: ins.CallInstr) -> None:
        """A call of a function that is summarised, by its name."""
        assert isinstance(call.callee, ins.AddrFunc)
        name = call.callee.key
        body = self.lowerings.get(name)
        assert body is not None
        self.more(frame, at, call, len(body.function.params), name)
        self.add(frame, at, Lost(call, SUMMARY, (name,)))

    def ends(self, instr: ins.CallInstr) -> bool:
        """A function is called that is summarised, and never returns: it may use messages' buffers before the end."""
        key = called_key(instr)
        return self.relevant is not None and key in self.summarised and key in self.relevant.ending

    def noreturn(self, name: str) -> bool:
        effect = self.effects.get(name)
        return effect is not None and effect.noreturn and self.lowerings.get(name) is None

    def reason(self, frame: int, callee: str, body: ins.Lowered, args: int) -> str:
        """Why a call is not followed; '' when it is."""
        if body.refused:
            return body.refused
        if self.alone and callee not in self.alone:
            return NOT_FOLLOWED
        if self.recursive(frame, callee):
            return RECURSION
        return miscounted(body.function, args, fewer=callee not in self.summarised)

    def more(self, frame: int, at: int, call: ins.CallInstr, params: int, callee: str) -> None:
        """What stands for the ``...`` of a function: whatever it does with a va_list, these are outside."""
        if (escape := behind(call, params, callee in self.printing)) is not None:
            self.add(frame, at, escape)

    def enter(
        self,
        frame: int,
        at: int,
        node: int,
        callee: str,
        body: ins.Lowered,
        args: tuple[ins.Operand, ...],
        after: int,
        target: ins.Temp | None,
        work: list[tuple[int, str, int, int, ins.Temp | None]],
    ) -> None:
        number = len(self.frames)
        args = given(body.function, args)
        self.frames.append(Frame(number, callee, frame, node))
        self.add(number, at, Bind(frame, body.function.params, args))
        if callee not in self.assigned:
            self.assigned[callee] = assigned(body)
        if callee in self.cycles.cyclic:  # each level is called with others
            self.fixed[number] = {}
        else:
            self.fixed[number] = constant_parameters(body, self.assigned[callee], args, self.fixed.get(frame, {}))
        if node >= 0:
            self.followed.add(node)
        work.append((number, callee, at, after, target))

    def callbacks(
        self,
        frame: int,
        at: int,
        node: int,
        instr: ins.CallInstr,
        name: str,
        work: list[tuple[int, str, int, int, ins.Temp | None]],
    ) -> int:
        """A library function that calls back before it returns: any number of calls, if all can be followed."""
        effect = self.effects.get(name)
        if effect is None or not effect.calls:
            return at
        bodies: list[tuple[str, ins.Lowered, tuple[ins.Operand, ...]]] = []
        for callback in effect.calls:
            pointer = instr.args[callback.arg] if callback.arg < len(instr.args) else ins.Nondet()
            key = pointer.key if isinstance(pointer, ins.AddrFunc) else ""
            body = self.lowerings.get(key) if key else None
            if callback.when != "now" or body is None or self.reason(frame, key, body, len(callback.passes)):
                return at
            if len(body.function.params) != len(callback.passes):
                return at
            args = tuple(inside(instr.args[i]) if i is not None else ins.Nondet() for i in callback.passes)
            bodies.append((key, body, args))
        head, after = self.block(), self.block()
        self.succs[at] = (head,)
        starts = []
        for key, body, args in bodies:
            start = self.block()
            starts.append(start)
            self.enter(frame, start, node, key, body, args, head, None, work)
        self.succs[head] = (*starts, after)
        return after

    def recursive(self, frame: int, callee: str) -> bool:
        while frame >= 0:
            if self.frames[frame].function == callee:
                return True
            frame = self.frames[frame].parent
        return False


def build(
    lowerings: Lowerings,
    entries: Sequence[str],
    effects: Mapping[str, FunctionEffect],
    pointers: PointerCalls,
    relevant: Relevance | None = None,
    initialised: Collection[str] = (),
    succeeding: frozenset[str] = frozenset(),
    alone: frozenset[str] = frozenset(),
    bodies: Bodies | None = None,
    rooted: bool = False,
) -> Graph:
    """The graph of everything reached from the entries (``main`` alone, or functions that others call) and relevant.

    initialised: variables that initialisers of static storage name.  succeeding: library functions that return 0.
    alone: only these functions are followed (``islands.py``).  bodies: if that is known already.  rooted: from main.
    """
    complete = list(entries) == [MAIN] and not alone
    builder = _Builder(lowerings, effects, pointers, relevant, initialised, succeeding, complete, alone, bodies, rooted)
    builder.build(entries)
    for name in relevant.reached if relevant is not None else ():
        body = lowerings.get(name)
        if body is not None:
            builder.used.setdefault(name, body)
    b, outs = builder, {frame: found.key for frame, (found, _) in builder.outs.items()}
    graph = pruned(b.nodes, b.blocks, b.succs, b.frames, b.used, b.followed, outs)
    graph = replace(graph, addressed=b.addressed.variables, levels=b.cycles.below, cyclic=b.cycles.cyclic)
    if relevant is None:
        return graph
    passed = frozenset(relevant.reached) - relevant.seen
    graph = replace(graph, passed=passed, partial=bool(passed))
    if not builder.summarised:
        return graph
    background = relevant.quiet.background(builder.summarised, len(graph.frames), len(graph.nodes))
    partial = bool(passed or builder.summarised - background.handling)
    return replace(graph, passed=passed.union(background.functions), background=background, partial=partial)
