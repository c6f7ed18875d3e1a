"""What lies in other memory than a message although the same words, or a pointer of the same type, may name it.

Points-to sets of a large program mix tables of pointers, lists of structs and pointers to functions.  What is told of a
message is asked here whether it can be of that message at all.  Which sites convert does not depend on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import chain
from math import gcd

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import zero_constant
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.memory.objects import UNKNOWN
from opi_xform.memory.poly import Poly, number
from opi_xform.once import once
from opi_xform.ownership.buffers.uses import length_of
from opi_xform.ownership.explain.called import called_in
from opi_xform.ownership.explain.other_pointers import as_long_as, row_within
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.turns import never_same
from opi_xform.ownership.explain.reaching.ways import reached
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import Expressions, function_expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import STORED, Root, Roots, base_of, is_inside, is_zero, member_key
from opi_xform.values.facts import Facts

STEPS = 8  # calls that are followed
SHOWN = 2  # names that are followed from a pointer to where it is computed

Objects = frozenset[int]


class Elsewhere:
    """One per program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.names = names_of(program)
        self.written = Expressions(program)
        self.roots = Roots(program)
        self.made: dict[str, frozenset[Span]] = {}  # ``made_by``

    # --- pointers to functions ------------------------------------------------------------------------------------

    def never_called(self, n: int) -> bool:
        """A node stands in a copy of a function for a call through a pointer, to which another function is passed."""
        frame = self.graph.nodes[n].frame
        while (call := self.graph.frames[frame].call) >= 0:
            action, around = self.graph.nodes[call].action, self.graph.nodes[call].frame
            if isinstance(action, ins.CallInstr) and not isinstance(action.call.callee, ast.FuncRef):
                passed = self.function(action.call.callee, around)
                if passed not in (None, self.graph.frames[frame].function):
                    return True
            frame = around
        return False

    def function(self, e: ast.Expr, frame: int) -> str | None:
        """The function that a pointer stands for: a parameter that nothing sets, followed to what calls pass for it."""
        for _ in range(STEPS):
            while isinstance(e, (ast.Cast, ast.Deref, ast.AddrOf)):
                e = e.operand
            if isinstance(e, ast.FuncRef):
                return e.name
            here = self.graph.frames[frame]
            function = self.program.functions.get(here.function)
            action = self.graph.nodes[here.call].action if here.call >= 0 else None
            if not isinstance(e, ast.VarRef) or function is None or e.var not in function.params:
                return None
            index = function.params.index(e.var)
            if not isinstance(action, ins.CallInstr) or self.roots.sets(here.function).get(e.var):
                return None
            if index >= len(action.call.args):
                return None
            e, frame = action.call.args[index], here.parent
        return None

    # --- lists of structs -----------------------------------------------------------------------------------------

    def of_another_list(self, e: ast.Expr, frame: int, other: ast.Expr, there: int) -> bool:
        """Two addresses are members by one name, of structs that the program keeps by names that it never mixes.

        ``send[i].buf``, where ``send`` is what ``t->sends`` is set to, is none of ``t->receives[i].buf``.
        """
        one, another = base_of(e), base_of(other)
        if not isinstance(one, ast.Member) or not isinstance(another, ast.Member):
            return False
        if member_key(one) != member_key(another):
            return False
        mine, its = self.holders(e, frame), self.holders(other, there)
        return bool(mine) and bool(its) and mine.isdisjoint(its)

    def holders(self, e: ast.Expr, frame: int) -> frozenset[str]:
        """The members of structs by which the struct is kept that a member is of; none: they are not known."""
        e = base_of(e)
        found = self.roots.of(e.base, frame) if isinstance(e, ast.Member) else None
        if found is None or found.base is e:
            return frozenset()
        kind, name, _ = found.root
        return self.kept.get((kind, name), frozenset()) | ({name} if kind == STORED else set())

    @cached_property
    def kept(self) -> dict[tuple[str, str], frozenset[str]]:
        """By variable, or member, that is assigned to members of structs, or from them: those members."""
        out: dict[tuple[str, str], frozenset[str]] = {}
        for function in self.program.functions.values():
            for e in function_expressions(function):
                if not isinstance(e, ast.Assign) or e.op or not e.type.is_pointer:
                    continue
                target, value = base_of(e.target), base_of(e.value)
                for one, other in ((target, value), (value, target)):
                    if isinstance(one, ast.Member) and isinstance(other, (ast.VarRef, ast.Member)):
                        key = ("v", other.var) if isinstance(other, ast.VarRef) else (STORED, member_key(other))
                        out[key] = out.get(key, frozenset()) | {member_key(one)}
        return out

    def made_here(self, e: ast.Expr, frame: int, steps: int = 0) -> bool:
        """A member of a struct that the function of a call has just allocated.  steps: calls by which it does so."""
        e, function = base_of(e), self.graph.frames[frame].function
        e = base_of(e.base) if isinstance(e, ast.Member) else e
        given = self.roots.sets(function).get(e.var, []) if isinstance(e, ast.VarRef) else []
        made = [None if v is None else base_of(v) for v in given if v is None or not is_zero(v)]
        for v in made:
            key = v.callee.name if isinstance(v, ast.Call) and isinstance(v.callee, ast.FuncRef) else ""
            effect = self.program.effects.get(key)
            if effect is not None and effect.allocates is not None:
                continue
            inner = self.roots.returned(v, frame) if isinstance(v, ast.Call) and steps else None
            if inner is None or not self.made_here(inner[0], inner[1], steps - 1):
                return False
        return bool(made)

    def made_by(self, key: str) -> frozenset[Span]:
        """The calls to whose results a pointer is set, which allocate for it; none where it is set to anything else."""
        if (known := self.made.get(key)) is None:
            known = self.made[key] = self.found_made(key)
        return known

    def is_of(self, n: int, blocks: Collection[int]) -> bool:
        """These blocks are what a node may touch: all of them, and no other one.  Most nodes touch many more."""
        wanted, left, table = set(blocks), set(blocks), self.program.values.objects.table
        for o in self.program.values.accesses.objects(n):
            mine = (o >= 0 and table[o].members) or (o,)
            if not set(mine) <= wanted:
                return False
            left.difference_update(mine)
        return not left

    def made_apart(self, key: str, other: str) -> bool:
        """Two variables are each set only to what calls of their own return: ``a = make(n); b = make(n);``."""
        made, others = self.made_by(key), self.made_by(other)
        return key != other and bool(made) and bool(others) and made.isdisjoint(others)

    def found_made(self, key: str) -> frozenset[Span]:
        out: set[Span] = set()
        for value in self.given.get(key, ()):
            if value is not None and is_zero(value):
                continue
            e = None if value is None else uncast(value)
            if not isinstance(e, ast.Call) or not isinstance(e.callee, ast.FuncRef) or not self.makes(e.callee.name):
                return frozenset()
            out.add(e.span)
        return frozenset(out)

    def makes(self, key: str) -> bool:
        """A function allocates, and keeps no memory in a variable that its calls share."""
        effect, function = self.program.effects.get(key), self.program.functions.get(key)
        if function is None:
            return effect is not None and effect.allocates is not None
        found = [e for e in function_expressions(function) if isinstance(e, (ast.Call, ast.VarRef))]
        calls = (e.callee for e in found if isinstance(e, ast.Call) and isinstance(e.callee, ast.FuncRef))
        made = any((a := self.program.effects.get(c.name)) is not None and a.allocates is not None for c in calls)
        names = (self.program.variables.get(e.var) for e in found if isinstance(e, ast.VarRef))
        shared = any(v is not None and v.type.is_pointer and (v.is_global or v.kind == "local-static") for v in names)
        return made and not shared

    @cached_property
    def given(self) -> dict[str, list[ast.Expr | None]]:
        """By pointer: what the whole program sets it to."""
        out: dict[str, list[ast.Expr | None]] = {}
        for key in self.program.functions:
            for variable, values in self.roots.sets(key).items():
                out.setdefault(variable, []).extend(values if variable else ())
        return out

    def made_anew(self, use: Use, argument: ast.Expr, objects: Objects, nodes: Iterable[int]) -> set[int]:
        """Those of some nodes that name a member of the struct that a call names, to which no way leads on which not
        both are allocated once more, the struct and what the member points to: they mean other memory.
        """
        frame, table, owner = self.graph.nodes[use.node].frame, self.program.values.objects.table, self.owner(argument)
        if owner is None or not objects or not self.made_here(argument, frame, SHOWN):
            return set()
        heaps = [table[o] for o in objects - {UNKNOWN} if table[o].kind == "heap"]
        if len(heaps) != len(objects):
            return set()
        sets = self.names.defs.get(("v", self.program.values.objects.variable(frame, owner), 0), ())
        wanted = set(nodes)
        same = reached(self.graph, use.node, wanted, {n for heap in heaps for n in heap.nodes})
        same |= reached(self.graph, use.node, wanted, set(sets))
        return {n for n in wanted - same if self.named_by(n, owner, frame)}

    def named_by(self, n: int, owner: str, frame: int) -> bool:
        """All that a node names goes out from members of the struct that a variable points to."""
        node, action = self.graph.nodes[n], self.graph.nodes[n].action
        e = self.written.of(self.graph.frames[node.frame].function, action)
        every = action.call.args if isinstance(action, ins.CallInstr) else () if e is None else (e,)
        found = [self.roots.of(a, node.frame) for a in every if a.type.holds_address or a is e]
        return bool(found) and all(o is not None and o.frame == frame and self.owner(o.base) == owner for o in found)

    def of_another_parameter(self, argument: ast.Expr, frame: int, n: int, lvalues: Iterable[ast.Expr]) -> bool:
        """All that a node of the call's function names are members of the struct of another parameter than the call's,
        for which no call is known to pass the same: ``in->data`` is none of ``out->data``.
        """
        params = self.program.functions[self.graph.frames[frame].function].params
        mine, its = self.owner(argument), {self.owner(e) for e in lvalues}
        if self.graph.nodes[n].frame != frame or mine not in params or not its or mine in its or not its <= {*params}:
            return False
        every = [self.roots.given(key, frame) for key in (mine, *its) if key is not None]
        passed = [spelling(known[0]) for known in every if known is not None]
        return passed[:1] != passed[1:2] or not passed

    def owner(self, e: ast.Expr) -> str | None:
        """The variable that points to the struct of which an expression is a member."""
        e = base_of(e)
        e = base_of(e.base) if isinstance(e, ast.Member) else e
        return e.var if isinstance(e, ast.VarRef) else None

    # --- elements of arrays of structs ----------------------------------------------------------------------------

    def of_another_element(self, e: ast.Expr, frame: int, other: ast.Expr, there: int) -> bool:
        """Two addresses are one member of two elements of an array: ``a[p].buf``, with ``p`` from 1, is none of
        ``a[0].buf``.
        """
        mine, its = self.roots.of(e, frame), self.roots.of(other, there)
        if mine is None or its is None or mine.root != its.root or mine.root[0] != STORED:
            return False
        here, others = self.read_from(mine.base, mine.frame), self.read_from(its.base, its.frame)
        return bool(here) and bool(others) and all(self.apart(a, b) for a in here for b in others)

    def of_another_row(self, argument: ast.Expr, frame: int, n: int, lvalues: Iterable[ast.Expr]) -> bool:
        """All that a node names are rows of a table, never that of an argument, in whatever turns of loops."""
        mine, node = row_within(argument), self.graph.nodes[n]
        here = [] if mine is None else self.read_from(mine, frame)
        rows = (row_within(e) for e in lvalues) if here else ()
        others = [[] if row is None else self.read_from(row, node.frame) for row in rows]
        if not others or not all(others):
            return False
        return all(self.apart_at(node.block, a, b) for a in here for b in chain(*others))

    def apart_at(self, block: int, a: Poly, b: Poly) -> bool:
        """Two numbers, of which the second is of a block, are never the same, whatever turns of loops they are of."""
        symbols = self.program.values.symbols
        if any(symbols.table[s].scope for s in {*a.symbols()}.intersection(b.symbols())):
            return False
        more = symbols.resolve(a - b)
        common = gcd(*(c for _, c in more.terms)) or 1
        more = Poly(tuple((m, c // common) for m, c in more.terms))
        return any(self.facts.at(block).nonneg(one - number(1)) for one in (more, -more))

    @cached_property
    def facts(self) -> Facts:
        return Facts(self.graph, self.program.nest, self.program.values)

    def read_from(self, e: ast.Expr, frame: int) -> list[Poly]:
        """Where a pointer lies that an expression of a function's copy reads."""
        values = self.program.values
        nodes = self.pointers.get((frame, id(e)), ())
        return [values.symbols.resolve(values.operands[n][0]) for n in nodes if values.operands.get(n)]

    @cached_property
    def pointers(self) -> dict[tuple[int, int], list[int]]:
        """Nodes that read a pointer from memory, by the copy of a function and the expression."""
        out: dict[tuple[int, int], list[int]] = {}
        for node in self.graph.nodes:
            if isinstance(node.action, ins.Load) and node.action.type.is_pointer:
                e = self.written.of(self.graph.frames[node.frame].function, node.action)
                out.setdefault((node.frame, id(e)), []).append(node.number)
        return out

    def apart(self, a: Poly, b: Poly) -> bool:
        """Two places in one object are never the same, whatever turns of loops they are of."""
        symbols = self.program.values.symbols
        if symbols.base(a) is None or symbols.base(a) != symbols.base(b):
            return False
        return never_same(symbols, symbols.offset(a), symbols.offset(b))

    # --- loops and entries ----------------------------------------------------------------------------------------

    def entry(self, n: int) -> int:
        """The copy of a function from which a node is reached, that no other one calls."""
        frame = self.graph.nodes[n].frame
        while self.graph.frames[frame].call >= 0:
            frame = self.graph.frames[frame].parent
        return frame

    def loops(self, n: int) -> list[int]:
        """The loops around a node, without that in which functions of a file are called that has no main."""
        first, nest = self.first[self.entry(n)], self.program.nest
        return [k for k in nest.chain(self.graph.nodes[n].block) if first not in nest.loops[k].blocks]

    def next_call(self, start: int, n: int) -> str:
        """The call by which a function comes to a node before one that it has run, in words; '' where it need not."""
        nest, nodes = self.program.nest, self.graph.nodes
        here, back = nodes[start], called_in(self.program, n, nodes[start].frame)
        if back is None or (nodes[back].block, back) >= (here.block, start):
            return ""
        around = nest.chain(nodes[back].block)
        heads = (self.graph.blocks[nest.loops[k].header][:1] for k in nest.chain(here.block) if k in around)
        frame = next((nodes[m].frame for head in heads for m in head), here.frame)
        call = None if frame == here.frame else called_in(self.program, start, frame)
        return "" if call is None else f", when {line_of(self.names.span(call))} calls again"

    @cached_property
    def first(self) -> dict[int, int]:
        """The block with which each copy of a function begins."""
        out: dict[int, int] = {}
        for node in self.graph.nodes:
            out.setdefault(node.frame, node.block)
        return out

    # --- what comes anew -------------------------------------------------------------------------------------------

    def given_anew(self, n: int, use: Use, root: Root, blocks: Objects) -> bool:
        """A node is a collective call that gives a process which runs a message all of its block anew.

        root: the name that the message's memory has.  blocks: those that it may lie in.
        """
        node, args, branches = self.graph.nodes[n], self.program.values.args.get(n, ()), branches_of(self.program)
        op = self.names.operations.get(n)
        if op is None or op.kind != "collective" or op.recv is None or not op.blocking or op.persistent:
            return False
        if op.recv.buf in op.at_root or (op.root is not None and op.replaces and not branches.other_rank(use.node, n)):
            return False
        if not isinstance(node.action, ins.CallInstr) or op.recv.buf >= len(args):
            return False
        length = length_of(self.program, op.recv, node.action, args)
        found = self.roots.of(node.action.call.args[op.recv.buf], node.frame)
        if found is None or found.root != root or found.inside or found.moved or length is None:
            return False
        table, accesses = self.program.values.objects.table, self.program.values.accesses
        mine = [o for o in blocks if o >= 0 and not all(branches.excluded(m, use.node) for m in table[o].nodes)]
        if not op.replaces and accesses.touches(n, mine, "R"):  # MPI_IN_PLACE: what was there counts
            return False
        return as_long_as(self.program, length, mine)

    def overwritten(self, n: int, use: Use, root: Root) -> bool:
        """A call like ``memcpy`` writes as much as a message has, from the beginning of its memory on."""
        node, values = self.graph.nodes[n], self.program.values.args.get(n, ())
        if not isinstance(node.action, ins.CallInstr) or use.length is None:
            return False
        effect = self.names.effect(node.action)
        for region in effect.overwrites if effect is not None else ():
            found = self.roots.of(node.action.call.args[region.arg], node.frame)
            if found is None or found.root != root or found.inside or found.moved or region.length is None:
                continue
            length = number(1)
            for factor in region.length:
                length = length * (values[factor.value] if factor.kind == "arg" else number(factor.value))
            if any(factor.kind not in ("arg", "const") for factor in region.length):
                continue
            if self.program.values.symbols.resolve(length - use.length).constant == 0:
                return True
        return False

    def freeing(self, objects: Objects) -> set[int]:
        """Calls that may free one of the objects."""
        return {n for n, freed in self.frees.items() if not freed.isdisjoint(objects - {UNKNOWN})}

    @cached_property
    def frees(self) -> dict[int, Objects]:
        """Calls that free memory, and what that may be."""
        out: dict[int, Objects] = {}
        for node in self.graph.nodes:
            action = node.action
            effect = self.names.effect(action) if isinstance(action, ins.CallInstr) else None
            if not isinstance(action, ins.CallInstr) or effect is None or effect.frees is None:
                continue
            if effect.frees.arg < len(action.args):
                out[node.number] = self.program.points_to.operand(node.frame, action.args[effect.frees.arg])
        return out

    # --- tables of pointers ---------------------------------------------------------------------------------------

    def part_of(self, node: int, row: ast.Expr, objects: Objects) -> list[int]:
        """Nodes that set pointers of the table from which a call takes one to places inside blocks of its memory, first
        those to which a process comes that runs the call, before it.
        """
        tables, branches = self.tables(self.graph.nodes[node].frame, row), branches_of(self.program)
        out = [n for n, (_, inside) in self.parts.items() if not objects.isdisjoint(inside)]
        out = [n for n in out if not tables or not tables.isdisjoint(self.parts[n][0])]
        apart = {n: branches.excluded(node, n) or branches.in_other_arm(node, n) for n in out}
        once = {n: not self.program.nest.chain(self.graph.nodes[n].block) for n in out}  # a loop makes the most rows
        return sorted(out, key=lambda n: (apart[n], not self.names.follows(n, node), once[n]))

    def built(self, node: int, row: ast.Expr) -> list[int]:
        """The same of a table that is not known, where a function builds each that a call's variable is set to."""
        frame, base = self.graph.nodes[node].frame, base_of(row)
        if not isinstance(base, ast.VarRef) or not isinstance(row, ast.Index) or not isinstance(row.base, ast.VarRef):
            return []
        variable = self.program.values.objects.variable(frame, base.var)
        excluded = branches_of(self.program).excluded
        sets = [n for n in self.names.defs.get(("v", variable, 0), ()) if not excluded(n, node)]
        lines: dict[tuple[str, int], list[int]] = {}
        for m in self.parts:
            call = called_in(self.program, m, frame)
            if call is not None and call != m:
                lines.setdefault(self.line(call), []).append(m)
        spots = {self.line(n) for n in sets if not isinstance(self.graph.nodes[n].action, ins.Birth)}
        return sorted({m for spot in spots for m in lines[spot]}) if spots and spots <= lines.keys() else []

    def line(self, n: int) -> tuple[str, int]:
        span = self.names.span(n)
        return span.file, span.line

    def tables(self, frame: int, row: ast.Expr) -> Objects:
        """The tables from which a pointer is read that a call names; none: it is not known."""
        function = self.graph.frames[frame].function
        found: set[int] = set()
        for node in self.graph.nodes:
            action = node.action
            if node.frame == frame and isinstance(action, ins.Load) and self.written.of(function, action) is row:
                found |= self.program.points_to.operand(frame, action.address)
        return frozenset() if UNKNOWN in found else frozenset(found)

    @cached_property
    def parts(self) -> dict[int, tuple[Objects, Objects]]:
        """Nodes that store a pointer to a place inside a block in a table, each with the table and the block."""
        out: dict[int, tuple[Objects, Objects]] = {}
        for node in self.graph.nodes:
            action = node.action
            if not isinstance(action, ins.Store) or not action.type.is_pointer:
                continue
            e = self.written.of(self.graph.frames[node.frame].function, action)
            walks = isinstance(e, ast.Deref) and isinstance(uncast(e.operand), ast.IncDec)
            if (walks or isinstance(e, ast.Index)) and self.displaced(node.frame, action.value):
                points_to = self.program.points_to
                inside = points_to.operand(node.frame, action.value) - {UNKNOWN}
                out[node.number] = points_to.operand(node.frame, action.address), inside
        return out

    def by_part(self, objects: Objects, name: str, called: str, read: Span) -> Refusal | None:
        """A send of what ``name`` names, in a block in which something is read by ``called``, and maybe beside it."""
        for n, (_, inside) in sorted(self.parts.items()):
            node = self.graph.nodes[n]
            assert isinstance(node.action, ins.Store)
            e = self.written.of(self.graph.frames[node.frame].function, node.action)
            if objects.isdisjoint(inside) or e is None or spelling(base_of(e)) != called:
                continue
            there = self.names.span(n)
            points = f"{line_of(there)} makes `{called}` point into the block of `{name}`, which this call sends"
            shown = f"could not show that {line_of(read)}, which reads it after the send, reads beside the message"
            notes = ((there, f"`{called}` is set here"), (read, f"`{called}` is read here"))
            return Refusal(Reason.READ_LATER, f"{points}, and {shown}", notes)
        return None

    def displaced(self, frame: int, value: ins.Operand) -> bool:
        """A pointer is computed from another one, or is a variable that is moved."""
        for _ in range(SHOWN):
            while isinstance(value, ins.Op) and value.op == "cast":
                value = value.args[0]
            name = self.names.name(frame, value) if isinstance(value, ins.Temp) else None
            defs = self.names.defs.get(name, ()) if name is not None else ()
            action = self.graph.nodes[defs[0]].action if len(defs) == 1 else None
            if not isinstance(action, ins.Define):
                break
            value = action.value
        if isinstance(value, ins.Var):
            function = self.graph.frames[frame].function
            sets = self.roots.sets(function).get(value.key, [])
            moved = (base_of(e) for e in sets if e is not None and e.type.is_pointer and is_inside(e))
            return None in sets or any(isinstance(e, ast.VarRef) and e.var == value.key for e in moved)
        return isinstance(value, ins.PtrAdd) and not zero_constant(value.index)


@once
def elsewhere_of(program: Program) -> Elsewhere:
    return Elsewhere(program)
