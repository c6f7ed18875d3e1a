"""Pointers in structs as variables of their own.

``m->face.out`` names a buffer as well as a variable does, where it is one place in memory: one member of one object,
which only loads and stores of that member ever touch.  Then each load is a reading of a variable, each store sets it,
and everything that is known of pointer variables holds for it too.  What has to be shown is that nothing else reaches
the place (``Finder``); how the variable is written at a statement is found in ``paths``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.memory.objects import UNKNOWN, Object
from opi_xform.memory.values import Access
from opi_xform.ownership.model import Member, Program, Refusal, Where
from opi_xform.ownership.names import names_of
from opi_xform.ownership.parameters import path
from opi_xform.ownership.uses import collect
from opi_xform.ownership.walk import children, expressions
from opi_xform.program.graph import Bind, Graph, Lost, Unbind

POINTER_BYTES = 8


@dataclass(frozen=True, slots=True)
class Promotion:
    """The program graph with the members as variables; ``variables`` has those, too."""

    graph: Graph
    variables: Mapping[str, ast.Variable]
    members: Mapping[str, Member]


def wanted(program: Program) -> bool:
    """Some message's buffer is found through memory."""
    table = program.values.objects.table
    return program.complete and any(
        u.object < 0 or (table[u.object].kind == "heap" and not path(program, u)[1]) for u in collect(program)
    )


def promote(program: Program) -> Promotion | None:
    """The members that can be variables; None when there is none."""
    found = Finder(program).run()
    if not found:
        return None
    variables = dict(program.variables)
    members = dict(program.members)
    nodes = list(program.graph.nodes)
    for member, type_ in found:
        kind = "extern" if member.raw else "static"  # as one of another file, a raw one has contents nobody knows
        span = program.graph.nodes[member.nodes[0]].action.span  # type: ignore[union-attr]
        variables[member.key] = ast.Variable(member.key, member.name, type_, kind, span)
        members[member.key] = member
        for n in member.nodes:
            action = nodes[n].action
            var = ins.Var(member.key)
            if isinstance(action, ins.Load):
                new: ins.Instr = ins.Define(action.span, action.stmt, action.target, var, action.type)
            else:
                assert isinstance(action, ins.Store)
                new = ins.Define(action.span, action.stmt, var, action.value, action.type)
            nodes[n] = replace(nodes[n], action=new)
    return Promotion(replace(program.graph, nodes=tuple(nodes)), variables, members)


class Finder:
    """One use: ``run``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.values = program.values
        self.symbols = program.values.symbols
        self.table = program.values.objects.table
        self.accesses: dict[int, list[Access]] = {}
        for _, found in sorted(program.values.accesses.items()):
            for a in found:
                self.accesses.setdefault(a.object, []).append(a)
        self.written = _Expressions(program)
        self.ends: dict[int, list[int]] = {}
        self.spoiled = self.lost()

    def run(self) -> list[tuple[Member, Type]]:
        out: list[tuple[Member, Type]] = []
        for info in self.table:
            if info.number in self.accesses and info.number not in self.spoiled and self.single(info):
                out.extend(self.members(info))
        return self.consistent(out)

    # --- objects -------------------------------------------------------------------------------------------------

    def lost(self) -> set[int]:
        """Objects that unknown code may reach, that are messages' buffers, or that go where this is not followed."""
        points_to = self.program.points_to
        out = set(self.values.escaped) | set(points_to.reachable(frozenset({UNKNOWN})))
        for use in collect(self.program):
            node = self.graph.nodes[use.node]
            assert isinstance(node.action, ins.CallInstr)
            out |= {use.object} | points_to.operand(node.frame, node.action.args[use.argument])
        for node in self.graph.nodes:
            action = node.action
            if isinstance(action, Bind):
                for key, operand in zip(action.params, action.args, strict=True):
                    if not self.program.variables[key].type.is_scalar:
                        out |= points_to.operand(action.caller, operand)
            elif isinstance(action, Unbind) and action.value is not None:
                made = self.graph.lowered[self.graph.frames[action.callee].function].function.type.elem
                if made is None or not made.is_scalar:
                    out |= points_to.operand(action.callee, action.value)
            elif isinstance(action, ins.CallInstr) and node.number not in self.graph.followed:
                out |= self.freed(node.number, node.frame, action)
                for operand, written in zip(action.args, action.call.args, strict=False):
                    if written.type.kind == "record":
                        out |= points_to.operand(node.frame, operand)
        return out

    def freed(self, n: int, frame: int, action: ins.CallInstr) -> frozenset[int]:
        """Notes what a call frees; returns what it may free, or moves."""
        effect = self.program.effects.get(action.callee.key) if isinstance(action.callee, ins.AddrFunc) else None
        none: frozenset[int] = frozenset()
        if effect is None or effect.frees is None or effect.frees.arg >= len(action.args):
            return none
        i = effect.frees.arg
        maybe = self.program.points_to.operand(frame, action.args[i])
        values = self.values.args.get(n, ())
        base = self.symbols.base(self.symbols.not_null(values[i])) if i < len(values) else None
        if base is None or effect.allocates is not None or effect.frees.indirect:
            return maybe
        self.ends.setdefault(base, []).append(n)
        return none

    def single(self, info: Object) -> bool:
        """The object stands for one object of the run."""
        nest, graph = self.program.nest, self.graph
        if info.kind == "heap":
            return info.node >= 0 and not nest.chain(graph.nodes[info.node].block)
        if info.kind != "variable" or info.variable is None:
            return False
        variable = self.program.variables[info.variable]
        if variable.type.kind not in ("record", "array") or variable.thread_local or variable.kind == "param":
            return False
        if variable.is_global:
            return variable.kind != "extern" or any(d.definition or d.tentative for d in variable.declarators)
        births = self.births(info)
        return len(births) == 1 and not nest.chain(graph.nodes[births[0]].block)

    def births(self, info: Object) -> list[int]:
        """Where a local variable is born: in all copies of its function."""
        return [x.number for x in self.graph.nodes if isinstance(x.action, ins.Birth) and x.action.var == info.variable]

    # --- places --------------------------------------------------------------------------------------------------

    def members(self, info: Object) -> Iterator[tuple[Member, Type]]:
        places: dict[int, list[int]] = {}
        types: dict[int, Type] = {}
        taken: list[tuple[int, int | None]] = []  # stretches that something else touches
        zeroed: list[tuple[int, int, int]] = []  # node, stretch
        for a in self.accesses[info.number]:
            action = self.graph.nodes[a.node].action
            lo = None if a.lo is None else a.lo.constant
            length = None if a.length is None else a.length.constant
            exact = isinstance(action, (ins.Load, ins.Store)) and self.exact(a.node, info.number)
            if exact and lo is not None and length == POINTER_BYTES and self.plain(action.type):  # type: ignore[union-attr]
                type_ = action.type  # type: ignore[union-attr]
                # an initialiser's `(void *)0` has its own type
                if self.clears_it(a.node) or _same(types.setdefault(lo, type_), type_):
                    places.setdefault(lo, []).append(a.node)
                else:
                    taken.append((lo, POINTER_BYTES))
                continue
            if lo is not None and length is not None and a.kind == "W" and self.clears(a.node):
                zeroed.append((a.node, lo, length))
                continue
            taken.append(self.stretch(a, lo, length))
        for offset in sorted(types):
            nodes = sorted(set(places[offset]))
            overlaps = any(o != offset and abs(o - offset) < POINTER_BYTES for o in places)
            if overlaps or any(
                start < offset + POINTER_BYTES and (size is None or start + size > offset) for start, size in taken
            ):
                continue
            made = self.made(info, offset, nodes, zeroed)
            if made is not None:
                yield made, types[offset]

    def exact(self, n: int, o: int) -> bool:
        operands = self.values.operands.get(n, ())
        return bool(operands) and self.symbols.base(operands[0]) == o

    @staticmethod
    def plain(type_: Type) -> bool:
        return type_.is_pointer and not type_.volatile and not type_.atomic and type_.size == POINTER_BYTES

    def stretch(self, a: Access, lo: int | None, length: int | None) -> tuple[int, int | None]:
        """Bytes that an access stays inside: (first, number; None: to the end)."""
        if lo is not None and length is not None:
            return lo, length
        found = self.values.arrays.get(a.node)
        if found is not None and a.lo is not None:
            return found
        action = self.graph.nodes[a.node].action
        if lo is not None and isinstance(action, ins.CallInstr):
            size = self.argument(a, action, lo)
            if size is not None:
                return lo, size
        return 0, None

    def argument(self, a: Access, action: ins.CallInstr, lo: int) -> int | None:
        """The size of the array that an MPI call is given by name: it does not look behind that."""
        effect = self.program.effects.get(action.callee.key) if isinstance(action.callee, ins.AddrFunc) else None
        if effect is None or effect.mpi is None:
            return None
        sizes: set[int | None] = set()
        for written, value in zip(action.call.args, self.values.args.get(a.node, ()), strict=False):
            if self.symbols.base(value) == a.object and self.symbols.offset(value).constant == lo:
                sizes.add(written.type.size if written.type.is_array else None)
        return next(iter(sizes)) if len(sizes) == 1 else None

    def clears(self, n: int) -> bool:
        """``memset(…, 0, …)``."""
        action = self.graph.nodes[n].action
        if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
            return False
        values = self.values.args.get(n, ())
        return action.callee.key == "memset" and len(values) == 3 and values[1].constant == 0

    def made(self, info: Object, offset: int, nodes: list[int], zeroed: list[tuple[int, int, int]]) -> Member | None:
        """The member at an offset, when its first contents are known to be NULL, or nobody's."""
        start, raw = self.first(info, offset)
        if start is None:
            return None
        for n, lo, length in zeroed:
            if lo >= offset + POINTER_BYTES or lo + length <= offset:
                continue
            whole = lo <= offset and offset + POINTER_BYTES <= lo + length
            names = names_of(self.program)
            ahead = all(dominates(self.program, n, m) and not names.follows(m, n) for m in nodes)
            if not whole or not ahead or self.program.nest.chain(self.graph.nodes[n].block):
                return None
            start, raw = max(start, n), False
        ends = list(self.ends.get(info.number, ()))
        if info.frame >= 0:
            ends += names_of(self.program).left.get(info.frame, [])
        where: Where = ("heap", info.node) if info.kind == "heap" else ("variable", info.variable or "")
        exprs: dict[tuple[str, str, int, int], tuple[str, ast.Expr]] = {}
        for n in nodes:
            function = self.graph.frames[self.graph.nodes[n].frame].function
            e = self.written.of(function, self.graph.nodes[n].action)
            if e is None:
                if self.clears_it(n):
                    continue  # an initialiser's NULL
                return None
            exprs.setdefault((function, *place(e)), (function, e))
        if not exprs:
            return None
        if info.kind == "heap":
            site = self.graph.nodes[info.node].action
            assert isinstance(site, ins.CallInstr)
            owner = f"{site.span.file}:{site.span.begin}:{info.node}"
        else:
            owner = info.variable or ""
        found = tuple(exprs.values())
        spans = frozenset(place(e) for _, e in found)
        return Member(
            f"{owner}+{offset}",
            spelling(found[0][1]),
            where,
            offset,
            tuple(nodes),
            found,
            spans,
            start,
            tuple(sorted(ends)),
            raw,
        )

    def clears_it(self, n: int) -> bool:
        """A store of NULL."""
        operands = self.values.operands.get(n, ())
        return isinstance(self.graph.nodes[n].action, ins.Store) and len(operands) == 2 and operands[1].constant == 0

    def first(self, info: Object, offset: int) -> tuple[int | None, bool]:
        """(node at which the object begins, whether the member is not NULL then); None: it holds something else."""
        if info.kind == "heap":
            action = self.graph.nodes[info.node].action
            assert isinstance(action, ins.CallInstr)
            effect = self.program.effects.get(action.callee.key) if isinstance(action.callee, ins.AddrFunc) else None
            made = effect.allocates if effect is not None else None
            if made is None or made.copies_from is not None or made.contents:
                return None, False
            return info.node, not made.zeroed
        assert info.variable is not None
        variable = self.program.variables[info.variable]
        if variable.is_global:
            return (-1 if null_at(variable.init, offset) else None), False
        birth = self.births(info)[0]
        action = self.graph.nodes[birth].action
        assert isinstance(action, ins.Birth)
        stmts = self.graph.lowered[variable.function].stmts
        declared = stmts[action.stmt]
        if declared.parent >= 0 and stmts[declared.parent].parent >= 0:
            return None, False  # its memory goes when an inner block is left
        return birth, not action.zeroed

    # --- the text ------------------------------------------------------------------------------------------------

    def consistent(self, found: list[tuple[Member, Type]]) -> list[tuple[Member, Type]]:
        """Without those that are written by words that mean another place in another copy of their function."""
        meant: dict[tuple[str, str, int, int], set[int]] = {}
        of_node = {n: i for i, (member, _) in enumerate(found) for n in member.nodes}
        for node in self.graph.nodes:
            action = node.action
            if isinstance(action, (ins.Load, ins.Store)) and action.type.is_pointer:
                function = self.graph.frames[node.frame].function
                e = self.written.of(function, action)
                if e is None:
                    continue
                key = (function, *place(e))
                meant.setdefault(key, set()).add(of_node.get(node.number, -1))
        bad = {i for group in meant.values() if len(group) > 1 for i in group}
        unseen = self.unseen()
        bad.update(i for i, (m, _) in enumerate(found) if unseen & {function for function, _ in m.exprs})
        return [one for i, one in enumerate(found) if i not in bad]

    def unseen(self) -> frozenset[str]:
        """Functions of the program that also run where the graph does not show it."""
        functions = self.program.functions
        named = {
            key: {e.name for e in function_expressions(function) if isinstance(e, ast.FuncRef)}
            for key, function in functions.items()
        }
        work: list[str] = []
        for node in self.graph.nodes:
            action = node.action
            if isinstance(action, Lost):
                work.extend(action.functions)
            elif isinstance(action, ins.CallInstr) and node.number not in self.graph.followed:
                key = action.callee.key if isinstance(action.callee, ins.AddrFunc) else ""
                effect = self.program.effects.get(key)
                if effect is None or effect.calls:
                    work.extend(self.program.taken)
        seen: set[str] = set()
        while work:
            key = work.pop()
            if key in functions and key not in seen:
                seen.add(key)
                work.extend(named[key])
        return frozenset(seen)


class _Expressions:
    """The lvalue that a load or store was lowered from."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.known: dict[str, dict[tuple[str, int, int, bool], list[ast.Expr]]] = {}

    def of(self, function: str, action: object) -> ast.Expr | None:
        if not isinstance(action, (ins.Load, ins.Store)):
            return None
        span = action.span
        found = self.of_function(function).get((span.file, span.begin, span.end, isinstance(action, ins.Store)), [])
        return found[0] if len(found) == 1 else None

    def of_function(self, key: str) -> dict[tuple[str, int, int, bool], list[ast.Expr]]:
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = {}
            for e in function_expressions(self.program.functions[key]):
                if isinstance(e, ast.Deref) and place(e) == place(e.operand):
                    continue  # the arrow of `p->x`
                if isinstance(e, (ast.Member, ast.Index, ast.Deref)):
                    known.setdefault((*place(e), False), []).append(e)
                elif isinstance(e, (ast.Assign, ast.IncDec)):
                    target = e.target if isinstance(e, ast.Assign) else e.operand
                    known.setdefault((*place(e), True), []).append(target)
        return known


def place(e: ast.Expr) -> tuple[str, int, int]:
    return e.span.file, e.span.begin, e.span.end


def spelling(e: ast.Expr) -> str:
    """An lvalue as people would write it."""
    match e:
        case ast.Member(base=ast.Deref(operand=inner), field=field):
            return f"{spelling(inner)}->{field}"
        case ast.Member(base=base, field=field):
            return f"{spelling(base)}.{field}"
        case ast.Index(base=base, index=index):
            return f"{spelling(base)}[{index.value if isinstance(index, ast.IntLit) else '…'}]"
        case ast.Deref(operand=inner):
            return f"*{spelling(inner)}"
        case ast.AddrOf(operand=inner):
            return f"&{spelling(inner)}"
        case ast.Cast(operand=inner):
            return spelling(inner)
        case ast.VarRef(var=key):
            return key.rsplit("/", 1)[-1].split("@")[0].rsplit(":", 1)[-1]
        case _:
            return "…"


def null_at(init: ast.Expr | None, offset: int) -> bool:
    """A static initialiser leaves NULL in the eight bytes at an offset."""
    if init is None:
        return True
    if not isinstance(init, ast.InitList):
        return False
    for item, at in zip(init.items, init.offsets, strict=True):
        size = item.type.size
        if isinstance(item, ast.InitList):
            if not null_at(item, offset - at):
                return False
        elif size is None or (at < offset + POINTER_BYTES and at + size > offset):
            e = item
            while isinstance(e, ast.Cast):
                e = e.operand
            if not isinstance(e, ast.IntLit) or e.value != 0:
                return False
    return True


def dominates(program: Program, a: int, b: int) -> bool:
    """Every way to node ``b`` goes through node ``a``."""
    nodes, idom = program.graph.nodes, program.nest.idom
    above, at = nodes[a].block, nodes[b].block
    if above == at:
        return a < b
    while at != above:
        if at == 0:
            return False
        at = idom[at]
    return True


def _same(a: Type, b: Type) -> bool:
    x, y = a.elem, b.elem
    if x is None or y is None:
        return x is y
    return (x.kind, x.size, x.signed, x.record) == (y.kind, y.size, y.signed, y.record)


def member_refusal(units: Sequence[ast.Unit], member: Member, program: Program) -> Refusal | None:
    """What the text of the program has against a member that changes: code that was not analysed and names it."""
    field = next((e.field for _, e in member.exprs if isinstance(e, ast.Member)), "")
    for unit in units:
        for skipped in unit.skipped:
            if field in skipped.identifiers:
                note = (skipped.span, "this text is left out here, and another configuration compiles it")
                return Refusal("12", f"code under a false #if names `{field}`", (note,))
        for function in unit.functions.values():
            if function.refused and field:
                for e in function_expressions(function):
                    if isinstance(e, ast.Member) and e.field == field:
                        note = (e.span, f"in `{function.name}`: {function.refused}")
                        concurrent = "OpenMP" in function.refused
                        message = f"`{field}` is used in `{function.name}`, which is not analysed"
                        return Refusal("405" if concurrent else "11", message, (note,))
    return None


def function_expressions(function: ast.Function) -> Iterator[ast.Expr]:
    """Everything that a function evaluates, or names in a sizeof."""
    work = [*expressions(function.body), *(v.init for v in function.variables.values() if v.init is not None)]
    while work:
        e = work.pop()
        yield e
        work.extend(children(e))
