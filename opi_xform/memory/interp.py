"""One forward pass over the program graph: the value of every operand as a polynomial, and every access to memory.

Blocks are visited once, in reverse postorder.  What a loop changes is a fresh symbol at its header; a variable that turns
out to advance by a fixed step gets its closed form afterwards (``Symbols.defs``), where all readers see it.
"""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.loops import LoopNest
from opi_xform.ir.types import Type
from opi_xform.memory.families import find_families
from opi_xform.memory.objects import Objects
from opi_xform.memory.pointsto import PointsTo
from opi_xform.memory.poly import ONE, ZERO, Poly, number, symbol
from opi_xform.memory.symbols import Symbols
from opi_xform.memory.trips import nominal_trips
from opi_xform.memory.values import Access, Cell, Comparison, Env, HeaderPhi, Values
from opi_xform.memory.extent import extent
from opi_xform.program.effects import ArgRegion, Effects, FunctionEffect
from opi_xform.program.graph import Bind, Graph, Lost, Node, Unbind

def interpret(
    graph: Graph,
    nest: LoopNest,
    variables: Mapping[str, ast.Variable],
    objects: Objects,
    points_to: PointsTo,
    effects: Effects,
    whole_program: bool,
) -> Values:
    """Values and accesses of every reachable node of a reducible graph."""
    return _Interpreter(graph, nest, variables, objects, points_to, effects, whole_program).run()


class _Interpreter:
    def __init__(
        self,
        graph: Graph,
        nest: LoopNest,
        variables: Mapping[str, ast.Variable],
        objects: Objects,
        points_to: PointsTo,
        effects: Effects,
        whole_program: bool,
    ) -> None:
        self.graph = graph
        self.nest = nest
        self.variables = variables
        self.objects = objects
        self.pts = points_to
        self.effects = effects
        self.whole_program = whole_program
        self.inner = _inner_loops(nest)
        self.symbols = Symbols(self.inner)
        self.values = Values(self.symbols, objects)
        self.out = self.values.out
        self.env: Env = {}
        self.scope: frozenset[int] = frozenset()
        self.modified = self.find_modified()
        self.pending: dict[int, list[tuple[Cell, int, Poly, int]]] = {}
        self.offsets: dict[int, set[int]] = {}
        self.families = find_families(graph, objects, points_to)

    def run(self) -> Values:
        for block in range(len(self.graph.blocks)):
            self.scope = frozenset(self.nest.chain(block))
            self.env = self.enter(block)
            for n in self.graph.blocks[block]:
                self.step(self.graph.nodes[n])
            self.out[block] = self.env
            for loop in self.nest.loops:
                if loop.number in self.pending and loop.latches[-1] == block:
                    self.close(loop.number)
        return self.values

    # --- merging -------------------------------------------------------------------------------------------------

    def edge(self, source: int, target: int) -> Env:
        """The environment on an edge; values that vary in loops left on the way become exit symbols."""
        env = self.out[source]
        left = [loop for loop in self.nest.chain(source) if target not in self.nest.loops[loop].blocks]
        if not left:
            return env
        out: Env = {}
        for cell, value in env.items():
            for loop in left:  # innermost first
                value = self.symbols.leave(value, loop)
            out[cell] = value
        return out

    def enter(self, block: int) -> Env:
        if block == 0:
            return self.initial()
        header = next((lp for lp in self.nest.chain(block) if self.nest.loops[lp].header == block), None)
        preds = [p for p in self.graph.preds[block] if p in self.out and (header is None or p not in self.nest.loops[header].blocks)]
        envs = [self.edge(p, block) for p in preds]
        if not envs:
            return {}
        env = dict(envs[0]) if len(envs) == 1 else self.merge(block, envs)
        if header is not None:
            env = self.open(header, env)
        return env

    def merge(self, block: int, envs: list[Env]) -> Env:
        first = envs[0]
        out: Env = {}
        phis: list[tuple[int, tuple[Poly, ...]]] = []
        for cell, value in first.items():
            incoming = [value]
            for env in envs[1:]:
                other = env.get(cell)
                if other is None:
                    break
                incoming.append(other)
            if len(incoming) < len(envs):
                continue
            if all(v == value for v in incoming):
                out[cell] = value
                continue
            bases = {self.symbols.base(v) for v in incoming}
            scope = self.scope
            if len(bases) == 1 and None not in bases:
                base = next(iter(bases))
                assert base is not None
                offsets = tuple(self.symbols.offset(v) for v in incoming)
                s = self.symbols.get("phi", (block, cell), scope, all(self.symbols.is_nonneg(o) for o in offsets))
                phis.append((s, offsets))
                out[cell] = self.address(base) + symbol(s)
            else:
                s = self.symbols.get("phi", (block, cell), scope, all(self.symbols.is_nonneg(v) for v in incoming))
                phis.append((s, tuple(incoming)))
                out[cell] = symbol(s)
        if phis:
            self.values.phis[block] = phis
        return out

    def open(self, loop: int, env: Env) -> Env:
        """At a loop's header everything that the loop changes becomes a symbol of its own."""
        changed = self.modified[loop]
        header = self.nest.loops[loop].header
        pending: list[tuple[Cell, int, Poly, int]] = []
        out: Env = {}
        for cell, value in env.items():
            if cell[0] == "t":
                if cell not in changed:
                    out[cell] = value
                continue
            if cell not in changed and (cell[0] == "v" or ("v", cell[0]) not in changed):
                out[cell] = value
                continue
            if cell[0] != "v" and cell not in changed:
                continue  # an array's or struct's cell, stored to somewhere in the loop
            s = self.symbols.get("phi", (header, cell), self.scope)
            target = self.single_target(cell)
            base = -1
            if target is not None:
                base = target
                out[cell] = self.address(target) + symbol(s)
            else:
                out[cell] = symbol(s)
            pending.append((cell, s, value, base))
        self.pending[loop] = pending
        return out

    def single_target(self, cell: Cell) -> int | None:
        """The one object that a pointer variable can point to."""
        if not isinstance(cell[0], int):
            return None
        owner = self.objects.table[cell[0]]
        if owner.variable is None or owner.type is None or not owner.type.is_pointer:
            return None
        targets = self.pts.variable(owner.frame, owner.variable)
        if len(targets) == 1:
            target = next(iter(targets))
            if self.objects.table[target].kind != "unknown":
                return target
        return None

    def close(self, loop: int) -> None:
        """All latches of a loop are done: recognise induction variables."""
        info = self.nest.loops[loop]
        headers: list[HeaderPhi] = []
        for cell, s, init, base in self.pending.pop(loop):
            latches: list[tuple[int, Poly]] = []
            for latch in info.latches:
                value = self.edge(latch, info.header).get(cell)
                if value is None:
                    break
                latches.append((latch, value))
            if len(latches) < len(info.latches):
                continue
            if base >= 0:
                if self.symbols.base(init) != base or any(self.symbols.base(v) != base for _, v in latches):
                    continue
                init = self.symbols.offset(init)
                latches = [(latch, self.symbols.offset(v)) for latch, v in latches]
            phi = HeaderPhi(loop, s, cell, init, tuple(latches))
            headers.append(phi)
            self.values.cells[s] = (cell, base)
            steps = {self.symbols.resolve(v) - symbol(s) for _, v in latches}
            if len(steps) == 1 and cell[0] != "v":
                step = next(iter(steps))
                varies = self.symbols.scope(step) & (self.inner[loop])
                if not varies and s not in set(step.symbols()):
                    self.symbols.defs[s] = init + step * symbol(self.symbols.count(loop))
        self.values.headers[loop] = headers
        if len(info.exits) == 1:
            trips = nominal_trips(self.graph, self.values, info, info.exits[0])
            if trips is not None and self.symbols.is_nonneg(trips):
                left = self.symbols.leave(symbol(self.symbols.count(loop)), loop).single
                assert left is not None
                self.symbols.defs[left] = trips

    # --- what loops change ---------------------------------------------------------------------------------------

    def find_modified(self) -> list[set[Cell]]:
        per_block: list[set[Cell]] = []
        for block in self.graph.blocks:
            cells: set[Cell] = set()
            for n in block:
                self.modifies(self.graph.nodes[n], cells)
            per_block.append(cells)
        return [set().union(*(per_block[b] for b in loop.blocks)) for loop in self.nest.loops]

    def modifies(self, node: Node, cells: set[Cell]) -> None:
        frame = node.frame
        match node.action:
            case ins.Define(target=target):
                if isinstance(target, ins.Temp):
                    cells.add(("t", frame, target.number))
                else:
                    cells.add((self.objects.variable(frame, target.key), 0))
                    cells.add(("v", self.objects.variable(frame, target.key)))
            case ins.Load(target=target):
                cells.add(("t", frame, target.number))
            case ins.Store(address=address):
                self.modify_all(self.pts.operand(frame, address), cells)
            case ins.CopyBytes(target=destination):
                self.modify_all(self.pts.operand(frame, destination), cells)
            case ins.Birth(var=key):
                self.modify_all(frozenset({self.objects.variable(frame, key)}), cells)
            case Bind(params=params):
                for key in params:
                    self.modify_all(frozenset({self.objects.variable(frame, key)}), cells)
            case Unbind(target=result):
                if result is not None:
                    cells.add(("t", frame, result.number))
            case ins.Escape(values=values):
                for operand in values:
                    self.modify_all(self.pts.reachable(self.pts.operand(frame, operand)), cells)
            case Lost(call=call):
                self.modify_all(self.lost(node), cells)
                if call.target is not None:
                    cells.add(("t", frame, call.target.number))
            case ins.CallInstr() as call:
                if call.target is not None:
                    cells.add(("t", frame, call.target.number))
                if self.is_followed(node, call):
                    return
                effect = self.effect(call)
                if effect is None:
                    self.modify_all(self.lost(node), cells)
                    return
                for region in effect.all_writes:
                    for i in self.region_args(region.arg, region.rest, call):
                        targets = self.pts.operand(frame, call.args[i])
                        self.modify_all(self.pts.reachable(targets) if region.indirect else targets, cells)
                if effect.frees is not None and effect.frees.arg < len(call.args):
                    self.modify_all(self.pts.operand(frame, call.args[effect.frees.arg]), cells)
                spec = effect.allocates
                if spec is not None and spec.into is not None and spec.into < len(call.args):
                    self.modify_all(self.pts.operand(frame, call.args[spec.into]), cells)
                for flow in effect.flows:
                    if flow.target < len(call.args):
                        self.modify_all(self.pts.operand(frame, call.args[flow.target]), cells)
                if effect.calls and node.number not in self.graph.followed:
                    self.modify_all(self.lost(node), cells)
            case _:
                pass

    def modify_all(self, objects: frozenset[int], cells: set[Cell]) -> None:
        for o in objects:
            cells.add(("v", o))
            info = self.objects.table[o]
            if info.type is not None and info.type.is_scalar:
                cells.add((o, 0))

    def lost(self, node: Node) -> frozenset[int]:
        """Everything that a call which is not followed can reach: its arguments, all globals, all that escaped."""
        call = node.action.call if isinstance(node.action, Lost) else node.action
        assert isinstance(call, ins.CallInstr)
        out: set[int] = set(self.objects.exposed)
        for operand in call.args:
            out |= self.pts.operand(node.frame, operand)
        if isinstance(node.action, Lost) or self.effect(call) is not None:
            out |= self.objects.globals
        return self.pts.reachable(frozenset(out))

    def effect(self, call: ins.CallInstr) -> FunctionEffect | None:
        if isinstance(call.callee, ins.AddrFunc):
            return self.effects.get(call.callee.key)
        return None

    def is_followed(self, node: Node, call: ins.CallInstr) -> bool:
        """The body of the called function itself comes next."""
        return node.number in self.graph.followed and self.effect(call) is None

    @staticmethod
    def region_args(arg: int, rest: bool, call: ins.CallInstr) -> range:
        return range(arg, len(call.args)) if rest else range(arg, min(arg + 1, len(call.args)))

    # --- values --------------------------------------------------------------------------------------------------

    def initial(self) -> Env:
        env: Env = {}
        if not self.whole_program:
            return env
        for o in sorted(self.objects.globals):
            info = self.objects.table[o]
            if info.variable is None or info.type is None or info.type.kind not in ("int", "pointer"):
                continue
            var = self.variables[info.variable]
            if var.init is None and (var.kind != "extern" or any(d.definition or d.tentative for d in var.declarators)):
                env[(o, 0)] = ZERO
            elif isinstance(var.init, ast.IntLit):
                env[(o, 0)] = number(var.init.value)
        return env

    def address(self, o: int) -> Poly:
        return self.symbols.of("object", (o,), frozenset())

    def opaque(self, node: Node, what: object, nonneg: bool = False) -> Poly:
        return self.symbols.of("opaque", (node.number, what), self.scope, nonneg)

    def version(self, o: int) -> Poly:
        cell: Cell = ("v", o)
        found = self.env.get(cell)
        if found is None:
            found = self.symbols.of("version", (o, "initial"), frozenset())
            self.env[cell] = found
        return found

    def value(self, node: Node, frame: int, operand: ins.Operand) -> Poly:
        """The value of an operand, evaluated in ``frame``; iterative over the operand's tree."""
        done: list[Poly] = []
        work: list[tuple[ins.Operand, bool]] = [(operand, False)]
        while work:
            item, ready = work.pop()
            match item:
                case ins.Op(args=args) if not ready:
                    work.append((item, True))
                    work.extend((a, False) for a in reversed(args))
                case ins.PtrAdd() if not ready:
                    work.append((item, True))
                    work.append((item.index, False))
                    work.append((item.base, False))
                case ins.Op(args=args):
                    values = done[len(done) - len(args) :]
                    del done[len(done) - len(args) :]
                    done.append(self.operation(node, item, values))
                case ins.PtrAdd():
                    index, base = done.pop(), done.pop()
                    if item.scale == 0 and index != ZERO:
                        done.append(self.symbols.of("op", ("ptradd?", base, index), self.symbols.scope(base) | self.scope))
                    elif self.is_row(base, item):
                        done.append(base + self.row(base, index, item.scale))
                    else:
                        done.append(base + index.scaled(item.scale))
                case _:
                    done.append(self.leaf(node, frame, item))
        return done[0]

    def is_row(self, base: Poly, item: ins.PtrAdd) -> bool:
        """A subscript that picks one row of an array of arrays."""
        s = base.single
        if not item.row or s is None or self.symbols.table[s].kind != "object":
            return False
        number_ = self.symbols.base(base)
        assert number_ is not None
        type_ = self.objects.table[number_].type
        return type_ is not None and type_.is_array and type_.elem is not None and type_.elem.is_array and type_.elem.size == item.scale

    def row(self, base: Poly, index: Poly, size: int) -> Poly:
        """The place of a row, kept as a symbol so that it stays known which row an address was made from."""
        s = self.symbols.get("row", (self.symbols.base(base), index), self.symbols.scope(index))
        self.symbols.defs[s] = index.scaled(size)
        return symbol(s)

    def leaf(self, node: Node, frame: int, operand: ins.Operand) -> Poly:
        match operand:
            case ins.Const(value=value):
                return number(value)
            case ins.Var(key=key):
                return self.read_cell(node, self.objects.variable(frame, key), 0, self.variables[key].type)
            case ins.Temp(number=n):
                cell: Cell = ("t", frame, n)
                found = self.env.get(cell)
                return found if found is not None else self.opaque(node, ("temp", frame, n))
            case ins.AddrVar(key=key):
                return self.address(self.objects.variable(frame, key))
            case ins.AddrFunc(key=key):
                return self.symbols.of("opaque", ("function", key), frozenset())
            case ins.AddrString():
                return self.symbols.of("opaque", ("string", node.number), frozenset())
            case _:
                return self.opaque(node, ("nondet", id(operand)))

    def read_cell(self, node: Node, o: int, offset: int, type_: Type) -> Poly:
        cell: Cell = (o, offset)
        found = self.env.get(cell)
        if found is not None:
            return found
        value = self.load_symbol(self.address(o) + number(offset), frozenset({o}), type_)
        self.env[cell] = value
        self.offsets.setdefault(o, set()).add(offset)
        return value

    def load_symbol(self, address: Poly, targets: frozenset[int], type_: Type) -> Poly:
        versions = tuple(self.version(o) for o in sorted(targets))
        scope = self.symbols.scope(address)
        for v in versions:
            scope |= self.symbols.scope(v)
        nonneg = type_.kind == "int" and not type_.signed
        return self.symbols.of("load", (address, versions, type_.kind, type_.size), scope, nonneg)

    def member(self, base: int | None, address: Poly) -> Poly | None:
        """The buffer that a cell of an array of pointers owns."""
        if base is None or base not in self.families:
            return None
        offset = self.symbols.resolve(self.symbols.offset(address))
        if any(c % 8 for _, c in offset.terms):
            return None
        index = Poly(tuple((m, c // 8) for m, c in offset.terms))
        family = self.families[base]
        return self.address(family) + self.symbols.of("row", (family, index), self.symbols.scope(index))

    def operation(self, node: Node, op: ins.Op, values: list[Poly]) -> Poly:
        name = op.op
        if op.type.kind == "float":
            return self.opaque(node, ("float", id(op)))
        if name == "+":
            return values[0] + values[1]
        if name in ("-", "ptrdiff"):
            return values[0] - values[1]
        if name == "*":
            return values[0] * values[1]
        if name == "neg":
            return -values[0]
        if name == "cast":
            return self.cast(node, op, values[0])
        constants = [v.constant for v in values]
        if all(c is not None for c in constants):
            folded = _fold(name, [c for c in constants if c is not None])
            if folded is not None:
                return number(folded)
        if name == "<<" and constants[1] is not None and 0 <= constants[1] < 62:
            return values[0].scaled(1 << constants[1])
        if name in ("/", ">>") and constants[1] is not None and constants[1] > 0:
            divisor = constants[1] if name == "/" else 1 << min(constants[1], 62)
            if all(c % divisor == 0 for _, c in values[0].terms):
                return Poly(tuple((m, c // divisor) for m, c in values[0].terms))
        scope: frozenset[int] = frozenset()
        for v in values:
            scope |= self.symbols.scope(v)
            base = self.symbols.base(v)
            if base is not None and name not in _NEGATED:
                self.values.escaped.setdefault(base, (node.number, "its address is used as a number"))
        nonneg = op.unsigned or name in ("<", ">", "<=", ">=", "==", "!=", "not")
        if name in ("/", "%", ">>") and all(self.symbols.is_nonneg(v) for v in values):
            nonneg = True
        if name == "&" and any(c is not None and c >= 0 for c in constants):
            nonneg = True
        return self.symbols.of("op", (name, op.unsigned, tuple(values)), scope, nonneg)

    def cast(self, node: Node, op: ins.Op, value: Poly) -> Poly:
        """Conversions between integers of 32 and 64 bits keep the value (see docs/soundness.md); others are opaque."""
        to = op.type
        base = self.symbols.base(value)
        if base is not None and to.kind != "pointer":
            self.values.escaped.setdefault(base, (node.number, "its address is used as a number"))
        constant = value.constant
        if to.kind == "pointer":
            return value
        if to.kind == "int" and (to.size or 0) >= 4 and (op.args[0] is not None):
            return value
        if constant is not None and to.kind == "int" and to.size in (1, 2):
            bits = 8 * to.size
            if (0 <= constant < 1 << (bits - 1)) or (not to.signed and 0 <= constant < 1 << bits):
                return value
        return self.symbols.of("op", ("cast", to.kind, to.size, to.signed, value), self.symbols.scope(value), not to.signed)

    # --- steps ---------------------------------------------------------------------------------------------------

    def set_cell(self, o: int, offset: int, value: Poly, node: Node) -> None:
        self.env[(o, offset)] = value
        self.offsets.setdefault(o, set()).add(offset)
        self.env[("v", o)] = self.symbols.of("version", (o, node.number), self.scope)

    def havoc(self, objects: frozenset[int], node: Node) -> None:
        """The contents of these objects are no longer known."""
        for o in objects:
            for offset in self.offsets.get(o, ()):
                self.env.pop((o, offset), None)
            self.env.pop((o, 0), None)
            self.env[("v", o)] = self.symbols.of("version", (o, node.number), self.scope)

    def access(self, node: Node, o: int, kind: str, lo: Poly | None, length: Poly | None, must: bool, why: str = "") -> None:
        within = 0
        if isinstance(node.action, (ins.Load, ins.Store)) and isinstance(node.action.address, ins.PtrAdd):
            within = node.action.address.row
        self.values.accesses.setdefault(node.number, []).append(
            Access(node.number, o, kind, lo, length, must, why, within)
        )

    def touch(
        self, node: Node, address: Poly, operand: ins.Operand, frame: int, kind: str, length: Poly | None, must: bool, why: str = ""
    ) -> frozenset[int]:
        """Records an access through ``address``; returns the objects that it may concern."""
        base = self.symbols.base(address)
        if base is not None:
            self.access(node, base, kind, self.symbols.offset(address) if length is not None else None, length, must, why)
            return frozenset({base})
        targets = self.pts.operand(frame, operand)
        for o in sorted(targets):
            self.access(node, o, kind, None, None, False, why)
        return targets

    def step(self, node: Node) -> None:
        frame = node.frame
        match node.action:
            case ins.Define(target=target, value=operand):
                value = self.value(node, frame, operand)
                self.values.operands[node.number] = (value,)
                if isinstance(target, ins.Temp):
                    self.env[("t", frame, target.number)] = value
                else:
                    self.set_cell(self.objects.variable(frame, target.key), 0, value, node)
            case ins.Load(target=target, address=operand, type=type_):
                address = self.value(node, frame, operand)
                self.values.operands[node.number] = (address,)
                size = number(type_.size) if type_.size else None
                targets = self.touch(node, address, operand, frame, "R", size, False)
                base, offset = self.symbols.base(address), self.symbols.offset(address).constant
                cell: Cell = ("t", frame, target.number)
                member = self.member(base, address) if type_.is_pointer else None
                if member is not None:
                    self.env[cell] = member
                    return
                if type_.volatile or type_.atomic:
                    self.env[cell] = self.opaque(node, "volatile")
                elif base is not None and offset is not None:
                    self.env[cell] = self.read_cell(node, base, offset, type_)
                else:
                    self.env[cell] = self.load_symbol(address, targets, type_)
            case ins.Store(address=operand, value=source, type=type_):
                address = self.value(node, frame, operand)
                value = self.value(node, frame, source)
                self.values.operands[node.number] = (address, value)
                size = number(type_.size) if type_.size else None
                targets = self.touch(node, address, operand, frame, "W", size, size is not None)
                self.havoc(targets, node)
                base, offset = self.symbols.base(address), self.symbols.offset(address).constant
                if base is not None and offset is not None and not type_.volatile:
                    self.set_cell(base, offset, value, node)
            case ins.CopyBytes(target=destination, source=source, size=length):
                to, origin = self.value(node, frame, destination), self.value(node, frame, source)
                self.values.operands[node.number] = (to, origin)
                size = number(length) if length else None
                self.touch(node, origin, source, frame, "R", size, False)
                self.havoc(self.touch(node, to, destination, frame, "W", size, size is not None), node)
            case ins.Birth(var=key):
                o = self.objects.variable(frame, key)
                self.havoc(frozenset({o}), node)
                if self.variables[key].type.is_scalar:
                    self.env[(o, 0)] = self.opaque(node, "indeterminate")
            case ins.Branch(cond=cond):
                comparison = self.comparison(node, frame, cond)
                if comparison is not None:
                    self.values.conditions[node.number] = comparison
            case ins.SwitchOn(value=operand):
                self.values.switches[node.number] = self.value(node, frame, operand)
            case ins.ReturnInstr():
                pass
            case ins.Escape(values=operands, reason=reason):
                polys = tuple(self.value(node, frame, v) for v in operands)
                self.values.operands[node.number] = polys
                for value, operand in zip(polys, operands, strict=True):
                    base = self.symbols.base(value)
                    direct = frozenset({base}) if base is not None else self.pts.operand(frame, operand)
                    self.escape(self.pts.reachable(direct), node, reason)
            case Bind(caller=caller, params=params, args=args):
                values = [self.value(node, caller, a) for a in args]
                self.values.operands[node.number] = tuple(values)
                for key, value in zip(params, values, strict=True):
                    o = self.objects.variable(frame, key)
                    self.havoc(frozenset({o}), node)
                    if self.variables[key].type.is_scalar:
                        self.set_cell(o, 0, value, node)
            case Unbind(callee=callee, target=target, value=returned):
                if target is not None:
                    value = self.value(node, callee, returned) if returned is not None else self.opaque(node, "returned")
                    self.env[("t", frame, target.number)] = value
                self.forget(callee)
            case Lost(call=call, reason=reason):
                self.lose(node, call, reason)
            case ins.CallInstr() as call:
                self.call(node, call)
            case _:
                raise AssertionError(node.action)

    def forget(self, frame: int) -> None:
        """A copy was left: its temporaries and locals are gone."""
        mine = self.objects.locals_of(frame)
        gone = [c for c in self.env if (c[0] == "t" and c[1] == frame) or (c[0] == "v" and c[1] in mine) or c[0] in mine]
        for cell in gone:
            del self.env[cell]

    def comparison(self, node: Node, frame: int, cond: ins.Operand) -> Comparison | None:
        negated = False
        while isinstance(cond, ins.Op) and cond.op == "not":
            cond = cond.args[0]
            negated = not negated
        if isinstance(cond, ins.Op) and cond.op in _NEGATED:
            left, right = (self.value(node, frame, a) for a in cond.args)
            if any(isinstance(a, ins.Op) and a.type.kind == "float" or isinstance(a, ins.Nondet) for a in cond.args):
                return None
            self.values.operands[node.number] = (left, right)
            return Comparison(_NEGATED[cond.op] if negated else cond.op, left, right, cond.unsigned)
        value = self.value(node, frame, cond)
        self.values.operands[node.number] = (value,)
        if isinstance(cond, ins.Nondet):
            return None
        return Comparison("==" if negated else "!=", value, ZERO)

    def escape(self, objects: frozenset[int], node: Node, reason: str) -> None:
        for o in sorted(objects):
            self.values.escaped.setdefault(o, (node.number, reason))
            self.access(node, o, "R", None, None, False, reason)
            self.access(node, o, "W", None, None, False, reason)
        self.havoc(objects, node)

    def lose(self, node: Node, call: ins.CallInstr, reason: str) -> None:
        values = tuple(self.value(node, node.frame, a) for a in call.args)
        self.values.args[node.number] = values
        direct: set[int] = set()
        for v in values:
            base = self.symbols.base(v)
            if base is not None:
                direct.add(base)
        self.escape(self.lost(node) | self.pts.reachable(frozenset(direct)), node, reason)
        if call.target is not None:
            self.env[("t", node.frame, call.target.number)] = self.opaque(node, "result")

    def call(self, node: Node, call: ins.CallInstr) -> None:
        values = tuple(self.value(node, node.frame, a) for a in call.args)
        self.values.args[node.number] = values
        if self.is_followed(node, call):
            return
        effect = self.effect(call)
        result = self.opaque(node, "result", call.call.type.kind == "int" and not call.call.type.signed)
        if effect is None:
            name = call.callee.key if isinstance(call.callee, ins.AddrFunc) else "a function pointer"
            self.lose(node, call, f"unknown function {name}")
            return
        if effect.calls and node.number not in self.graph.followed:
            self.escape(self.lost(node), node, "callback")
        self.library(node, call, effect, values)
        if effect.allocates is not None and effect.allocates.into is None:
            heap = self.objects.heap(node.number)
            self.havoc(frozenset({heap}), node)
            result = self.address(heap)
        elif effect.returns_arg is not None and effect.returns_arg < len(values) and not effect.returns_inside:
            result = values[effect.returns_arg]
        elif effect.pure and not any(self.symbols.base(v) is not None for v in values) and call.call.type.kind == "int":
            scope: frozenset[int] = frozenset()
            for v in values:
                scope |= self.symbols.scope(v)
            result = self.symbols.of("op", ("call", effect.name, values), scope)
        self.values.results[node.number] = result
        if call.target is not None:
            self.env[("t", node.frame, call.target.number)] = result

    def library(self, node: Node, call: ins.CallInstr, effect: FunctionEffect, values: tuple[Poly, ...]) -> None:
        frame = node.frame
        for kind, regions, must in (("R", effect.reads, False), ("W", effect.overwrites, True), ("W", effect.writes, False)):
            for region in regions:
                for i in self.region_args(region.arg, region.rest, call):
                    if not call.call.args[i].type.is_pointer and not call.call.args[i].type.is_array:
                        continue
                    length = self.length(region, i, values, call)
                    targets = self.touch(node, values[i], call.args[i], frame, kind, length, must, effect.name)
                    if region.indirect:
                        targets = self.pts.reachable(targets)
                        for o in sorted(targets):
                            self.access(node, o, kind, None, None, False, effect.name)
                    if kind == "W":
                        self.havoc(targets, node)
                        self.output(node, values[i], call.call.args[i].type, effect.name, i)
        for i in effect.retains:
            if i < len(call.args) and effect.mpi is None:
                self.escape(self.pts.operand(frame, call.args[i]), node, f"address kept by {effect.name}")
        for flow in effect.flows:
            if flow.target < len(call.args):
                self.havoc(self.pts.operand(frame, call.args[flow.target]), node)
        spec = effect.allocates
        if spec is not None and spec.into is not None and spec.into < len(call.args):
            base, offset = self.symbols.base(values[spec.into]), self.symbols.offset(values[spec.into]).constant
            self.havoc(self.pts.operand(frame, call.args[spec.into]), node)
            if base is not None and offset is not None:
                self.set_cell(base, offset, self.address(self.objects.heap(node.number)), node)

    def output(self, node: Node, address: Poly, type_: Type, name: str, index: int) -> None:
        """A scalar that a library call writes: a fresh value, shared by later readers."""
        base, offset = self.symbols.base(address), self.symbols.offset(address).constant
        if base is None or offset is None or type_.elem is None or type_.elem.kind not in ("int", "pointer"):
            return
        unsigned = type_.elem.kind == "int" and not type_.elem.signed
        nonneg = unsigned or name in ("MPI_Comm_rank", "MPI_Comm_size", "MPI_Get_count")
        self.set_cell(base, offset, self.opaque(node, ("output", index), nonneg), node)

    def length(self, region: ArgRegion, arg: int, values: tuple[Poly, ...], call: ins.CallInstr) -> Poly | None:
        """The product of a region's factors in bytes; None when one is not known."""
        if region.length is None:
            return None
        out = ONE
        for f in region.length:
            size: int | None = None
            if f.kind == "const":
                size = f.value
            elif f.kind == "arg" and f.value < len(values):
                out = out * values[f.value]
                continue
            elif f.kind == "extent" and f.value < len(values):
                size = extent(call.args[f.value])
            elif f.kind == "elem":
                type_ = call.call.args[arg].type
                size = type_.elem.size if type_.elem is not None else None
            if size is None:
                return None
            out = out.scaled(size)
        return out


_NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def _fold(name: str, c: list[int]) -> int | None:
    match name:
        case "/" if c[1] != 0:
            quotient = abs(c[0]) // abs(c[1])
            return quotient if (c[0] < 0) == (c[1] < 0) else -quotient
        case "%" if c[1] != 0:
            return c[0] - c[1] * (_fold("/", c) or 0)
        case "<<" if 0 <= c[1] < 63 and c[0] >= 0:
            return c[0] << c[1]
        case ">>" if 0 <= c[1] < 64 and c[0] >= 0:
            return c[0] >> c[1]
        case "&" if c[0] >= 0 and c[1] >= 0:
            return c[0] & c[1]
        case "|" if c[0] >= 0 and c[1] >= 0:
            return c[0] | c[1]
        case "^" if c[0] >= 0 and c[1] >= 0:
            return c[0] ^ c[1]
        case "<":
            return int(c[0] < c[1])
        case ">":
            return int(c[0] > c[1])
        case "<=":
            return int(c[0] <= c[1])
        case ">=":
            return int(c[0] >= c[1])
        case "==":
            return int(c[0] == c[1])
        case "!=":
            return int(c[0] != c[1])
        case "not":
            return int(not c[0])
        case _:
            return None


def _inner_loops(nest: LoopNest) -> list[frozenset[int]]:
    """Each loop with all loops inside it."""
    out: list[set[int]] = [{loop.number} for loop in nest.loops]
    for loop in reversed(nest.loops):
        if loop.parent >= 0:
            out[loop.parent] |= out[loop.number]
    return [frozenset(s) for s in out]
