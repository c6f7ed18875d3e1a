"""Points-to of the program graph: one inclusion constraint per flow of a value (Andersen), solved by ``inclusions``.

Copies of functions are apart, so is every allocation call of every copy; an object has one content.  Object 0 is
everything outside the program: what is passed to it is reachable from it, and it may be stored anywhere that is.  So
what the objects in it hold and what it holds itself is one set.  A large program whose calls through pointers cannot be
resolved has thousands of them, and pointers to all: they are not added one by one, see `wide`.

Addresses travel as bytes, too: read as characters or numbers, copied to where numbers are, sent, written to a file.
All that are taken apart so are in one set, BYTES, and whatever bytes are written to may hold any of them from then on.
Where nothing is taken apart it is empty.  An object's name ("w", o) is what its integers hold that are as wide as an
address; a number below -1 in a set is an object that is seen as bytes (``twin``), -1 what is no object of the program.

A pointer of which nothing is known, not even that it is NULL, may lead anywhere (``anything``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from opi_xform import budget
from opi_xform.calls.calls import calls_back, handed_over
from opi_xform.effects.model import Effects, FunctionEffect
from opi_xform.graph.graph import MAIN, Bind, Frame, Graph, Lost, Node, Unbind, evaluated
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import parts_of
from opi_xform.ir.types import Type
from opi_xform.memory.objects import UNKNOWN, Objects
from opi_xform.pointsto.inclusions import BYTES, NO_OBJECT, NOTHING, OUTSIDE, SENT, WEAK, Exhausted, Inclusions, Name
from opi_xform.pointsto.sources import COMPARISONS, sources
from opi_xform.pointsto.travel import records, reinterprets, travels


class GraphPointsTo:
    """The solution, asked by operand."""

    def __init__(
        self,
        graph: Graph,
        variables: Mapping[str, ast.Variable],
        objects: Objects,
        effects: Effects,
        apart: Mapping[int, frozenset[int]] | None = None,
        flat: bool = False,
    ) -> None:
        """apart: by pointer variable: objects that it never points to, whatever the program seems to do.

        flat: the graph has each function once (``Inclusions``).
        """
        self.graph = graph
        self.variables = variables
        self.objects = objects
        self.effects = effects
        self.reached: dict[frozenset[int], frozenset[int]] = {}  # what ``reachable`` has answered
        self.system = Inclusions(objects, {("c", o): gone for o, gone in (apart or {}).items()}, flat)
        self.punned: set[str] = set()  # records with numbers where a union has an address as well
        self.generate()
        self.sets: Mapping[Name, frozenset[int]]
        self.numbers: set[Name]  # hold something that is no object
        try:
            self.sets, self.numbers = self.system.solution()
        except Exhausted:
            raise budget.TooLargeError([frame.function for frame in graph.frames], budget.POINTERS) from None
        del self.system

    # --- queries -------------------------------------------------------------------------------------------------

    def operand(self, frame: int, operand: ins.Operand) -> frozenset[int]:
        parts: list[frozenset[int]] = []
        for kind, name in sources(self.objects, frame, operand):
            if kind == "copy":
                assert isinstance(name, tuple)
                parts.append(self.sets.get(name, NOTHING))
            elif isinstance(name, int) and name >= 0:
                parts.append(frozenset({name}))
        return parts[0] if len(parts) == 1 else NOTHING.union(*parts)

    def accessed(self, frame: int, operand: ins.Operand) -> frozenset[int]:
        """Objects that are read or written through an address: of one that nothing is known of, all there may be."""
        found = self.operand(frame, operand)
        if found or isinstance(operand, ins.Const):
            return found
        for kind, name in sources(self.objects, frame, operand):
            if (kind == "addr" and name == NO_OBJECT) or name in self.numbers:
                return found
        return self.anything

    def taken_apart(self) -> bool:
        """Whether addresses travel as bytes."""
        return bool(self.bytes)

    @property
    def bytes(self) -> frozenset[int]:
        """Objects whose addresses travel as bytes."""
        return self.sets.get(BYTES, NOTHING)

    @cached_property
    def anything(self) -> frozenset[int]:
        """All that something points to."""
        return frozenset({UNKNOWN}).union(*{id(one): one for one in self.sets.values()}.values())

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
        return frozenset().union(*(holders for held, holders in self.holders if not held.isdisjoint(objects)))

    def holding(self, o: int) -> frozenset[int] | None:
        places = [name for name, held in self.sets.items() if o in held and name[0] not in ("t", "p")]
        objects = frozenset(name[1] for name in places if isinstance(name[1], int))
        known = all(name[0] in ("c", "d", "w") for name in places) and UNKNOWN not in objects
        return objects if known and min(objects, default=0) >= 0 else None

    @cached_property
    def holders(self) -> list[tuple[frozenset[int], set[int]]]:
        """Each set of what is pointed to, and the objects with these contents; but for pointers that are locals."""
        found: dict[int, tuple[frozenset[int], set[int]]] = {}
        for name, held in self.sets.items():
            if name[0] == "c" and held:
                o = name[1]
                assert isinstance(o, int)
                info = self.objects.table[o]
                if info.kind != "variable" or info.frame < 0 or info.type is None or not info.type.is_pointer:
                    found.setdefault(id(held), (held, set()))[1].add(o)
        return list(found.values())

    # --- constraints ---------------------------------------------------------------------------------------------

    def flow(self, frame: int, operand: ins.Operand, target: Name, type_: Type | None = None) -> None:
        """``type_``: of the place that is given the value."""
        for kind, name in sources(self.objects, frame, operand):
            if kind == "seen":
                assert not isinstance(name, (int, tuple))
                self.system.view("mark", self.pointer(frame, name), target)
            elif isinstance(name, int):
                if name != NO_OBJECT or (type_ is None or type_.is_pointer):
                    self.system.add(target, frozenset({name}))
            elif isinstance(name, tuple):
                if type_ is not None and type_.is_pointer and type_.pointee == "address" and not self.in_union(type_):
                    self.system.view("plain", name, target)
                else:
                    self.system.copy(name, target)

    def in_union(self, type_: Type) -> bool:
        """What a pointer leads to may have numbers where the union around it has an address."""
        return not self.punned.isdisjoint(records(type_))

    def pointer(self, frame: int, operand: ins.Operand, type_: Type | None = None) -> Name:
        """A name that holds the operand's value."""
        name = self.system.fresh("p")
        self.flow(frame, operand, name, type_)
        return name

    def narrowed(self, frame: int, operand: ins.Operand) -> None:
        """Where an address, or an integer as wide, becomes a narrower number, it is taken apart."""
        work = [operand]
        while work:
            item = work.pop()
            if isinstance(item, ins.PtrAdd):
                work += (item.base, item.index)
            elif isinstance(item, ins.Op) and item.op not in COMPARISONS and item.op != "ptrdiff":
                work += item.args
                if item.op == "cast" and not item.type.holds_address:
                    self.as_number(frame, item.args[0])

    def as_number(self, frame: int, operand: ins.Operand) -> None:
        """What is an address, or made of one, goes where numbers go."""
        for kind, name in sources(self.objects, frame, operand, differences=False):
            if isinstance(name, int) and name > UNKNOWN:
                self.system.add(BYTES, frozenset({name}))
            elif kind == "copy" and isinstance(name, tuple) and name != OUTSIDE:
                self.system.copy(name, WEAK)

    def generate(self) -> None:
        named: set[str] = set()  # variables whose address is taken
        given: set[int] = set()  # frames whose parameters the program gives
        nodes = (*self.graph.nodes, *self.graph.background.nodes)
        for node in nodes:
            if isinstance(node.action, Bind):
                given.add(node.frame)
            for operand in evaluated(node.action):
                for part in parts_of(operand):
                    if isinstance(part, ins.AddrVar):
                        named.add(part.key)
                    elif isinstance(part, ins.Op) and part.view and part.type.is_pointer:
                        self.punned.update(records(part.type))
        for node in nodes:
            self.constrain(node)
        for frame in self.graph.frames:
            if frame.number not in given and frame.function in self.graph.lowered:
                self.entered(frame)
        for key, var in sorted(self.variables.items()):
            if var.is_global and var.init is not None:
                self.initialiser(self.objects.variable(-1, key), var.init)
            if var.is_global and var.type.is_pointer and key not in named:
                self.system.add(("c", self.objects.variable(-1, key)), frozenset({NO_OBJECT}))  # it begins as NULL
        self.system.add(OUTSIDE, frozenset(self.objects.exposed))

    def entered(self, frame: Frame) -> None:
        """Somebody outside calls a function: the system ``main``, or a library what it was given."""
        for key in self.graph.lowered[frame.function].function.params:
            if self.variables[key].type.holds_address:
                place: Name = ("c", self.objects.variable(frame.number, key))
                self.system.add(place, frozenset({UNKNOWN}))
                if frame.function != MAIN:
                    self.system.copy(OUTSIDE, place)

    def initialiser(self, o: int, init: ast.Expr) -> None:
        stack: list[ast.Expr] = [init]
        while stack:
            e = stack.pop()
            match e:
                case ast.VarRef(var=key) if key in self.variables and self.variables[key].is_global:
                    self.system.add(("c", o), frozenset({self.objects.variable(-1, key)}))
                case ast.InitList(items=items):
                    stack.extend(items)
                case ast.StringLit():
                    self.system.add(("c", o), frozenset({NO_OBJECT}))
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
            case ins.Define(target=target, value=value, type=type_):
                self.narrowed(frame, value)
                if type_.holds_address:
                    self.flow(frame, value, self.name(frame, target), type_)
            case ins.Load(target=target, address=address, type=type_, member=member):
                name = self.name(frame, target)
                if not type_.holds_address:
                    if not member:
                        kind = "chars" if type_.size == 1 else "numbers"
                        self.system.view(kind, self.pointer(frame, address), BYTES)
                    elif self.punned:
                        self.system.view("twins", self.pointer(frame, address), BYTES)
                elif type_.kind == "int":
                    self.system.view("words", self.pointer(frame, address), name)
                else:
                    self.system.load(self.pointer(frame, address), name)
                    if type_.volatile or type_.atomic:
                        self.system.copy(OUTSIDE, name)
            case ins.Store(address=address, value=value, type=type_, member=member):
                self.narrowed(frame, value)
                if type_.holds_address:
                    pointer, stored = self.pointer(frame, address), self.pointer(frame, value, type_)
                    self.system.store(pointer, stored)
                    if type_.kind == "int":
                        self.system.view("word", pointer, stored)
                    elif not member:
                        self.system.view("cell", pointer, stored)
                elif isinstance(value, ins.Const):
                    pass
                elif not member:
                    self.system.view("put", self.pointer(frame, address), BYTES)
                elif self.punned:
                    self.system.view("patch", self.pointer(frame, address), BYTES)
            case ins.CopyBytes(target=to, source=origin):
                self.move(self.pointer(frame, to), self.pointer(frame, origin))
            case ins.Escape(values=values, brief=brief, printed=printed):
                if not brief and not printed:
                    self.unknown()
                for operand in values:
                    self.flow(frame, operand, OUTSIDE)
                    if brief:
                        self.as_number(frame, operand)
            case Bind(caller=caller, params=params, args=args):
                for key, operand in zip(params, args, strict=True):
                    var = self.variables[key]
                    place: Name = ("c", self.objects.variable(frame, key))
                    self.narrowed(caller, operand)
                    if not var.type.holds_address:
                        continue
                    if var.type.kind == "record":
                        given = self.pointer(caller, operand)
                        self.system.load(given, place)
                        if self.punned:
                            self.system.view("twins", given, BYTES)
                    else:
                        self.flow(caller, operand, place, var.type)
            case Unbind(callee=callee, target=result, value=returned):
                made = self.graph.returned(callee)
                if result is not None and returned is not None:
                    self.narrowed(callee, returned)
                    if made is None or made.holds_address:
                        self.flow(callee, returned, ("t", frame, result.number), made)
            case Lost(call=call) if (again := self.graph.stands_for(node)) >= 0:
                self.once_more(frame, call, again)
            case Lost(call=call):
                self.unknown()
                for operand in call.args:
                    self.flow(frame, operand, OUTSIDE)
                for o in sorted(self.objects.named):
                    self.system.add(OUTSIDE, frozenset({o}))
                if call.target is not None:
                    self.system.copy(OUTSIDE, ("t", frame, call.target.number))
            case ins.CallInstr() as call:
                self.library(node, call)
            case _:
                pass

    def once_more(self, frame: int, call: ins.CallInstr, again: int) -> None:
        """A function is entered from inside it, or summarised: what each copy would hold, the one there is does."""
        body = self.graph.body(again)
        for key, operand in zip(body.function.params, call.args, strict=False):
            self.narrowed(frame, operand)
            type_ = self.variables[key].type
            place: Name = ("c", self.objects.variable(again, key))
            if type_.kind == "record":
                given = self.pointer(frame, operand)
                self.system.load(given, place)
                if self.punned:
                    self.system.view("twins", given, BYTES)
            elif type_.holds_address:
                self.flow(frame, operand, place, type_)
        if call.target is None:
            return
        made = body.function.type.elem
        for value in (i.value for block in body.blocks for i in block if isinstance(i, ins.ReturnInstr)):
            if value is not None:
                self.narrowed(again, value)
                if made is None or made.holds_address:
                    self.flow(again, value, ("t", frame, call.target.number), made)

    def unknown(self) -> None:
        """Code that is not known runs: it may know what travels as bytes, and takes apart all that it knows."""
        self.system.copy(BYTES, OUTSIDE)
        self.system.widen(SENT)

    def move(self, to: Name, origin: Name) -> None:
        between, words = self.system.fresh(), self.system.fresh()
        self.system.load(origin, between)
        self.system.store(to, between)
        self.system.view("words", origin, words)
        self.system.view("word", to, words)
        if self.punned:
            self.system.view("twins", origin, BYTES)
            self.system.view("patch", to, BYTES)

    def library(self, node: Node, call: ins.CallInstr) -> None:
        frame = node.frame
        name = called_key(call)
        own = name in self.graph.lowered or name in self.graph.background.lowered
        effect = None if own else self.effects.get(name)
        followed = self.graph.follows(node.number)
        if followed and effect is None:
            return
        target: Name | None = ("t", frame, call.target.number) if call.target is not None else None
        if effect is None or (not followed and calls_back(effect, call)):
            for operand in call.args:
                self.flow(frame, operand, OUTSIDE)
            self.unknown()
            self.system.add(OUTSIDE, frozenset(self.objects.called_back))
            if effect is None:
                if target is not None:
                    self.system.copy(OUTSIDE, target)
                return
        if effect.mpi is None or effect.mpi.request is None:
            for i in effect.retains:
                if i < len(call.args):
                    self.flow(frame, call.args[i], OUTSIDE)
        for i in handed_over(effect, call):
            self.flow(frame, call.args[i], OUTSIDE)
        for i in effect.retains_stored if node.number not in self.objects.relative else ():
            if i < len(call.args):
                held = self.system.fresh()
                self.system.load(self.pointer(frame, call.args[i]), held)
                self.system.copy(held, OUTSIDE)
        if effect.allocates is not None:
            heap = self.objects.heap(node.number)
            if effect.allocates.shared:
                self.system.add(OUTSIDE, frozenset({heap}))
            if effect.allocates.into is None:
                if target is not None:
                    self.system.add(target, frozenset({heap}))
            elif effect.allocates.into < len(call.args):
                made = self.system.fresh()
                self.system.add(made, frozenset({heap}))
                self.system.store(self.pointer(frame, call.args[effect.allocates.into]), made)
            source = effect.allocates.copies_from
            if source is not None and source < len(call.args):
                self.system.load(self.pointer(frame, call.args[source]), ("c", heap))
                if target is not None:
                    self.flow(frame, call.args[source], target)
        if target is not None and (call.call.type.kind in ("pointer", "unknown") or effect.pure):
            self.returned(frame, call, effect, target)
        self.travel(frame, call, effect)
        for flow in effect.flows:
            if flow.target >= len(call.args):
                continue
            to = self.pointer(frame, call.args[flow.target])
            if flow.source is None:
                self.system.store(to, OUTSIDE)
            elif flow.source < len(call.args):
                origin = self.pointer(frame, call.args[flow.source])
                if flow.kind == "copies":
                    self.move(to, origin)
                    if reinterprets(call, flow.target, flow.source):
                        self.system.view("all", origin, BYTES)
                        self.system.view("put", to, BYTES)
                else:
                    self.system.store(to, origin)
                    self.system.view("word", to, origin)

    def travel(self, frame: int, call: ins.CallInstr, effect: FunctionEffect) -> None:
        """Bytes that a library function takes out of objects, and puts into them."""
        for operand, written in zip(call.args, call.call.args, strict=True):
            self.narrowed(frame, operand)
            if written.type.kind == "int" and written.type.holds_address:
                self.as_number(frame, operand)  # printed, perhaps
        for kind, i, indirect in travels(call, effect):
            pointer = self.pointer(frame, call.args[i])
            if indirect:
                behind = self.system.fresh()
                self.system.load(pointer, behind)
                pointer = behind
            self.system.view(kind, pointer, BYTES)

    def returned(self, frame: int, call: ins.CallInstr, effect: FunctionEffect, target: Name) -> None:
        """What a pointer result may point to: all that the table names, for "or" leaves none of it out."""
        if effect.pure and call.call.type.kind not in ("pointer", "unknown"):  # a number, made of its arguments
            for operand in call.args if call.call.type.holds_address else ():
                self.flow(frame, operand, target)
            return
        known = effect.allocates is not None and effect.allocates.into is None
        if effect.returns_arg is not None and effect.returns_arg < len(call.args):
            self.flow(frame, call.args[effect.returns_arg], target)
            known = True
        if effect.returns_stored is not None and effect.returns_stored < len(call.args):
            self.system.load(self.pointer(frame, call.args[effect.returns_stored]), target)
            known = True
        if effect.returns_library:
            self.system.add(target, frozenset({UNKNOWN}))
            known = True
        if effect.returns_retained or not known:
            self.system.copy(OUTSIDE, target)

    def name(self, frame: int, target: ins.Var | ins.Temp) -> Name:
        if isinstance(target, ins.Temp):
            return ("t", frame, target.number)
        return ("c", self.objects.variable(frame, target.key))
