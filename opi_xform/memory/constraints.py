"""Points-to of the program graph: one inclusion constraint per flow of a value (Andersen), solved by points_to.

Copies of functions are apart, so is every allocation call of every copy; an object has one content.  Object 0 is
everything outside the program: what is passed to it is reachable from it, and it may be stored anywhere that is.  So
what the objects in it hold and what it holds itself is one set.  A large program whose calls through pointers cannot be
resolved has thousands of them, and pointers to all: they are not added one by one, see `wide`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.memory.calls import calls_back
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.program.effects import Effects, FunctionEffect
from opi_xform.program.graph import Bind, Graph, Lost, Node, Unbind

Name = tuple[object, ...]  # ("c", object): its content; ("t", frame, temp)
OUTSIDE: Name = ("c", UNKNOWN)
NOTHING: frozenset[int] = frozenset()


class GraphPointsTo:
    """The solution, asked by operand."""

    def __init__(
        self,
        graph: Graph,
        variables: Mapping[str, ast.Variable],
        objects: Objects,
        effects: Effects,
        apart: Mapping[int, frozenset[int]] | None = None,
    ) -> None:
        """apart: by pointer variable: objects that it never points to, whatever the program seems to do."""
        self.apart = {("c", o): gone for o, gone in (apart or {}).items()}
        self.graph = graph
        self.variables = variables
        self.objects = objects
        self.effects = effects
        self.sets: Mapping[Name, frozenset[int]] = {}
        self.growing: dict[Name, set[int]] = {}  # while it is solved: what a name holds; a wide one, what more it holds
        self.reached: dict[frozenset[int], frozenset[int]] = {}  # what ``reachable`` has answered
        self.wide: set[Name] = set()  # hold all that is outside, whatever else will be found there
        self.outside: set[int] = self.growing.setdefault(OUTSIDE, set())
        self.copies: dict[Name, set[Name]] = {}
        self.loads: dict[Name, set[Name]] = {}
        self.stores: dict[Name, set[Name]] = {}
        self.work: list[tuple[Name, frozenset[int]]] = []  # news, to be handed on; none: it became wide
        self.fresh = 0
        self.generate()
        self.solve()
        self.finish()

    # --- queries -------------------------------------------------------------------------------------------------

    def operand(self, frame: int, operand: ins.Operand) -> frozenset[int]:
        parts: list[frozenset[int]] = []
        for kind, name in self.sources(frame, operand):
            if kind == "addr":
                assert isinstance(name, int)
                parts.append(frozenset({name}))
            else:
                assert isinstance(name, tuple)
                parts.append(self.sets.get(name, NOTHING))
        return parts[0] if len(parts) == 1 else NOTHING.union(*parts)

    def variable(self, frame: int, key: str) -> frozenset[int]:
        return self.sets.get(("c", self.objects.variable(frame, key)), NOTHING)

    def contents(self, objects: Iterable[int]) -> frozenset[int]:
        """What these objects hold, together."""
        held = {id(one): one for o in objects if (one := self.sets.get(("c", o))) is not None}
        return next(iter(held.values())) if len(held) == 1 else NOTHING.union(*held.values())

    def reachable(self, objects: frozenset[int]) -> frozenset[int]:
        found = self.reached.get(objects)
        if found is None:
            out = set(objects)
            stack = list(objects)
            seen: set[int] = set()
            while stack:
                held = self.sets.get(("c", stack.pop()))
                if held is not None and id(held) not in seen:
                    seen.add(id(held))
                    new = held - out
                    out |= new
                    stack += new
            found = self.reached[objects] = frozenset(out)
        return found

    def kept(self, objects: frozenset[int]) -> frozenset[int]:
        out: set[int] = set()
        for name, held in self.sets.items():
            if name[0] == "c" and not held.isdisjoint(objects):
                o = name[1]
                assert isinstance(o, int)
                info = self.objects.table[o]
                if info.kind != "variable" or info.frame < 0 or info.type is None or not info.type.is_pointer:
                    out.add(o)
        return frozenset(out)

    # --- constraints ---------------------------------------------------------------------------------------------

    def sources(self, frame: int, operand: ins.Operand) -> Iterator[tuple[str, int | Name]]:
        stack = [operand]
        while stack:
            item = stack.pop()
            match item:
                case ins.AddrVar(key=key):
                    yield "addr", self.objects.variable(frame, key)
                case ins.Var(key=key):
                    yield "copy", ("c", self.objects.variable(frame, key))
                case ins.Temp(number=n):
                    yield "copy", ("t", frame, n)
                case ins.PtrAdd(base=base):
                    stack.append(base)
                case ins.Op(args=args, op=op):
                    if op not in ("<", ">", "<=", ">=", "==", "!=", "not"):
                        stack.extend(args)
                case ins.Nondet(reason=reason) if reason != "floating constant":
                    yield "addr", UNKNOWN
                    yield "copy", OUTSIDE
                case _:
                    pass

    def flow(self, frame: int, operand: ins.Operand, target: Name) -> None:
        for kind, name in self.sources(frame, operand):
            if kind == "addr":
                assert isinstance(name, int)
                self.add(target, frozenset({name}))
            else:
                assert isinstance(name, tuple)
                self.copy(name, target)

    def pointer(self, frame: int, operand: ins.Operand) -> Name:
        """A name that holds the operand's value."""
        self.fresh += 1
        name: Name = ("p", self.fresh)
        self.flow(frame, operand, name)
        return name

    def add(self, name: Name, objects: frozenset[int]) -> None:
        name = self.place(name)
        mine = self.growing.setdefault(name, set())
        new = objects - mine
        if name in self.wide:
            new -= self.outside
        elif self.apart and name in self.apart:
            new -= self.apart[name]
        if new:
            mine |= new
            self.work.append((name, new))

    def widen(self, name: Name) -> None:
        """The name holds what is outside."""
        name = self.place(name)
        if name in self.apart:
            self.copies.setdefault(OUTSIDE, set()).add(name)
            self.add(name, frozenset(self.outside))
        elif name != OUTSIDE and name not in self.wide:
            self.wide.add(name)
            self.work.append((name, NOTHING))

    def place(self, name: Name) -> Name:
        """Where what a name holds is kept: what is outside holds what the outside holds."""
        return OUTSIDE if name[0] == "c" and name[1] in self.outside and name not in self.apart else name

    def copy(self, source: Name, target: Name) -> None:
        source, target = self.place(source), self.place(target)
        if source == target:
            return
        if source == OUTSIDE:
            self.widen(target)
        elif target not in self.copies.setdefault(source, set()):
            self.copies[source].add(target)
            if source in self.growing:
                self.add(target, frozenset(self.growing[source]))
            if source in self.wide:
                self.widen(target)

    def load(self, pointer: Name, target: Name) -> None:
        pointer = self.place(pointer)
        self.loads.setdefault(pointer, set()).add(target)
        self.loaded(frozenset(self.growing.get(pointer, ())), pointer in self.wide, target)

    def loaded(self, objects: frozenset[int], wide: bool, target: Name) -> None:
        if wide or not objects.isdisjoint(self.outside):
            self.widen(target)
        for o in sorted(objects if self.apart else objects - self.outside):
            self.copy(("c", o), target)

    def store(self, pointer: Name, source: Name) -> None:
        pointer = self.place(pointer)
        self.stores.setdefault(pointer, set()).add(source)
        self.stored(frozenset(self.growing.get(pointer, ())), pointer in self.wide, source)

    def stored(self, objects: frozenset[int], wide: bool, source: Name) -> None:
        if wide or not objects.isdisjoint(self.outside):
            self.copy(source, OUTSIDE)
        for o in sorted(objects if self.apart else objects - self.outside):
            self.copy(source, ("c", o))

    def generate(self) -> None:
        self.add(OUTSIDE, frozenset({UNKNOWN}))
        for node in self.graph.nodes:
            self.constrain(node)
        for key, var in sorted(self.variables.items()):
            if var.is_global and var.init is not None:
                self.initialiser(self.objects.variable(-1, key), var.init)
        self.add(OUTSIDE, frozenset(self.objects.exposed))

    def initialiser(self, o: int, init: ast.Expr) -> None:
        stack: list[ast.Expr] = [init]
        while stack:
            e = stack.pop()
            match e:
                case ast.VarRef(var=key) if key in self.variables and self.variables[key].is_global:
                    self.add(("c", o), frozenset({self.objects.variable(-1, key)}))
                case ast.InitList(items=items):
                    stack.extend(items)
                case ast.Member(base=inner) | ast.CompoundLit(init=inner):
                    stack.append(inner)
                case ast.Index(base=base, index=index):
                    stack.extend((base, index))
                case ast.AddrOf(operand=inner) | ast.Cast(operand=inner) | ast.Deref(operand=inner):
                    stack.append(inner)
                case ast.Binary(left=left, right=right):
                    stack.extend((left, right))
                case ast.Conditional(cond=cond, then=then, other=other):
                    stack.extend((cond, then, other))
                case _:
                    pass

    def constrain(self, node: Node) -> None:
        frame = node.frame
        match node.action:
            case ins.Define(target=target, value=value, type=type_) if type_.holds_address:
                self.flow(frame, value, self.name(frame, target))
            case ins.Load(target=target, address=address, type=type_) if type_.holds_address:
                self.load(self.pointer(frame, address), self.name(frame, target))
            case ins.Store(address=address, value=value, type=type_) if type_.holds_address:
                self.store(self.pointer(frame, address), self.pointer(frame, value))
            case ins.CopyBytes(target=to, source=origin):
                self.move(self.pointer(frame, to), self.pointer(frame, origin))
            case ins.Escape(values=values):
                for operand in values:
                    self.flow(frame, operand, OUTSIDE)
            case Bind(caller=caller, params=params, args=args):
                for key, operand in zip(params, args, strict=True):
                    var = self.variables[key]
                    place: Name = ("c", self.objects.variable(frame, key))
                    if not var.type.holds_address:
                        continue
                    if var.type.kind == "record":
                        self.load(self.pointer(caller, operand), place)
                    else:
                        self.flow(caller, operand, place)
            case Unbind(callee=callee, target=result, value=returned):
                made = self.graph.lowered[self.graph.frames[callee].function].function.type.elem
                if result is not None and returned is not None and (made is None or made.holds_address):
                    self.flow(callee, returned, ("t", frame, result.number))
            case Lost(call=call):
                for operand in call.args:
                    self.flow(frame, operand, OUTSIDE)
                for o in sorted(self.objects.globals):
                    self.add(OUTSIDE, frozenset({o}))
                if call.target is not None:
                    self.copy(OUTSIDE, ("t", frame, call.target.number))
            case ins.CallInstr() as call:
                self.library(node, call)
            case _:
                pass

    def move(self, to: Name, origin: Name) -> None:
        self.fresh += 1
        between: Name = ("p", self.fresh)
        self.load(origin, between)
        self.store(to, between)

    def library(self, node: Node, call: ins.CallInstr) -> None:
        frame = node.frame
        name = call.callee.key if isinstance(call.callee, ins.AddrFunc) else ""
        effect = self.effects.get(name) if name not in self.graph.lowered else None
        followed = node.number in self.graph.followed
        if followed and effect is None:
            return
        target: Name | None = ("t", frame, call.target.number) if call.target is not None else None
        if effect is None or (not followed and calls_back(effect, call)):
            for operand in call.args:
                self.flow(frame, operand, OUTSIDE)
            self.add(OUTSIDE, frozenset(self.objects.called_back))
            if effect is None:
                if target is not None:
                    self.copy(OUTSIDE, target)
                return
        if effect.mpi is None or effect.mpi.request is None:
            for i in effect.retains:
                if i < len(call.args):
                    self.flow(frame, call.args[i], OUTSIDE)
        if effect.allocates is not None:
            heap = self.objects.heap(node.number)
            if effect.allocates.shared:
                self.add(OUTSIDE, frozenset({heap}))
            if effect.allocates.into is None:
                if target is not None:
                    self.add(target, frozenset({heap}))
            elif effect.allocates.into < len(call.args):
                self.fresh += 1
                made: Name = ("p", self.fresh)
                self.add(made, frozenset({heap}))
                self.store(self.pointer(frame, call.args[effect.allocates.into]), made)
            source = effect.allocates.copies_from
            if source is not None and source < len(call.args):
                self.load(self.pointer(frame, call.args[source]), ("c", heap))
                if target is not None:
                    self.flow(frame, call.args[source], target)
        if target is not None and call.call.type.kind in ("pointer", "unknown"):
            self.returned(frame, call, effect, target)
        for flow in effect.flows:
            if flow.target >= len(call.args):
                continue
            to = self.pointer(frame, call.args[flow.target])
            if flow.source is None:
                self.store(to, OUTSIDE)
            elif flow.source < len(call.args):
                origin = self.pointer(frame, call.args[flow.source])
                if flow.kind == "copies":
                    self.move(to, origin)
                else:
                    self.store(to, origin)

    def returned(self, frame: int, call: ins.CallInstr, effect: FunctionEffect, target: Name) -> None:
        """What a pointer result may point to: all that the table names, for "or" leaves none of it out."""
        known = effect.allocates is not None and effect.allocates.into is None
        if effect.returns_arg is not None and effect.returns_arg < len(call.args):
            self.flow(frame, call.args[effect.returns_arg], target)
            known = True
        if effect.returns_stored is not None and effect.returns_stored < len(call.args):
            self.load(self.pointer(frame, call.args[effect.returns_stored]), target)
            known = True
        if effect.returns_library:
            self.add(target, frozenset({UNKNOWN}))
            known = True
        if effect.returns_retained or not known:
            self.copy(OUTSIDE, target)

    def name(self, frame: int, target: ins.Var | ins.Temp) -> Name:
        if isinstance(target, ins.Temp):
            return ("t", frame, target.number)
        return ("c", self.objects.variable(frame, target.key))

    def solve(self) -> None:
        while self.work:
            name, new = self.work.pop()
            if name == OUTSIDE:
                for o in sorted(new - {UNKNOWN}):
                    self.join(("c", o))
            wide = not new
            for target in sorted(self.loads.get(name, ()), key=repr):
                self.loaded(new, wide, target)
            for source in sorted(self.stores.get(name, ()), key=repr):
                self.stored(new, wide, source)
            for target in list(self.copies.get(name, ())):
                if wide:
                    self.widen(target)
                else:
                    self.add(target, new)

    def join(self, name: Name) -> None:
        """An object came to be outside: what it holds is there, and what is there it may hold."""
        if name in self.apart:
            self.copy(name, OUTSIDE)
            self.widen(name)
            return
        self.wide.discard(name)
        self.add(OUTSIDE, frozenset(self.growing.pop(name, ())))
        for target in sorted(self.copies.pop(name, ()), key=repr):
            self.copy(OUTSIDE, target)
        for target in sorted(self.loads.pop(name, ()), key=repr):
            self.load(OUTSIDE, target)
        for source in sorted(self.stores.pop(name, ()), key=repr):
            self.store(OUTSIDE, source)

    def finish(self) -> None:
        """Equal large sets are one."""
        outside = frozenset(self.outside)
        known: dict[frozenset[int], frozenset[int]] = {}
        out: dict[Name, frozenset[int]] = {}
        for name in (*self.growing, *(name for name in self.wide if name not in self.growing)):
            more = frozenset(self.growing.get(name, ()))
            if name in self.wide:
                more -= outside
                if more not in known:
                    known[more] = outside | more if more else outside
                out[name] = known[more]
            else:
                out[name] = more
        for o in outside:
            if ("c", o) not in self.apart:
                out["c", o] = outside
        self.sets = out
