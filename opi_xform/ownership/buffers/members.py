"""Pointers in structs as variables of their own.

``m->face.out`` names a buffer as well as a variable does, where it is one place in memory: one member of one object,
which only loads and stores of that member ever touch.  Then each load is a reading of a variable, each store sets it,
and everything that is known of pointer variables holds for it too.  What has to be shown is that nothing else reaches
the place (``Finder``); how the variable is written at a statement is found in ``paths``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.graph.graph import Action, Bind, Graph, Node, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.types import Type
from opi_xform.memory.accesses import Access
from opi_xform.memory.objects import UNKNOWN, Object
from opi_xform.ownership.allocation.also_run import also_run
from opi_xform.ownership.buffers.same_member import alike, as_void, classes, table_of, to_data
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Member, Program, Refusal, Where
from opi_xform.ownership.model.lvalues import (
    POINTER_BYTES,
    Expressions,
    cast_for,
    function_expressions,
    null_at,
    place,
    spelling,
)
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.stretches import Stretches
from opi_xform.ownership.model.traced import path
from opi_xform.record import dataclass


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


def counting(program: Program) -> frozenset[int]:
    """Stores in loops by which a whole number in memory grows: ``n[0]++``, ``out.count += 3``."""
    loads: dict[tuple[int, int], ins.Operand] = {}
    sums: dict[tuple[int, int], ins.Op] = {}
    stores: list[tuple[int, int, ins.Store]] = []
    for node in program.graph.nodes:
        match node.action:
            case ins.Load(target=target, type=type_, address=address) if type_.kind == "int":
                loads[node.frame, target.number] = address
            case ins.Define(target=ins.Temp(number=number), value=ins.Op(op="+" | "-") as value):
                sums[node.frame, number] = value
            case ins.Store() as store if program.nest.chain(node.block):
                stores.append((node.number, node.frame, store))
    out = set()
    for n, frame, store in stores:
        added = store.value
        if isinstance(added, ins.Temp):
            added = sums.get((frame, added.number), added)
        if isinstance(added, ins.Op) and added.op in ("+", "-"):
            read = [loads.get((frame, x.number)) for x in added.args if isinstance(x, ins.Temp)]
            if store.address in read:
                out.add(n)
    return frozenset(out)


Number = tuple[str, Type, bool, list[int]]
Table = tuple[Member, Type, Mapping[int, ins.Operand]]


def promote(program: Program, tables: Callable[[Program, Collection[int]], Sequence[Table]]) -> Promotion | None:
    """The members that can be variables; None when there is none.  ``tables`` finds those that are arrays."""
    finder = Finder(program)
    found = finder.run()
    twins = [t for group in finder.shared if (t := table_of(group, program.graph, finder.written)) is not None]
    elsewhere = {n for member, _ in found for n in member.nodes} | {n for member, _, _ in twins for n in member.nodes}
    arrays = tables(program, elsewhere)
    if not found and not twins and not arrays:
        return None
    variables = dict(program.variables)
    members = dict(program.members)
    nodes = list(program.graph.nodes)
    _numbered(finder.numbers(), variables, nodes)
    for member, type_ in found:
        kind = "extern" if member.raw else "static"  # as one of another file, a raw one has contents nobody knows
        span = program.graph.nodes[member.nodes[0]].action.span  # type: ignore[union-attr]
        variables[member.key] = ast.Variable(member.key, member.name, type_, kind, span)
        members[member.key] = member
        for n in member.nodes:
            nodes[n] = replace(nodes[n], action=_of_variable(nodes[n].action, member.key))
    for member, type_, addresses in (*twins, *arrays):
        span = program.graph.nodes[member.nodes[0]].action.span  # type: ignore[union-attr]
        variables[member.key] = ast.Variable(member.key, member.name, type_, "static", span)
        members[member.key] = member
        for n, address in addresses.items():
            at = nodes[n].action
            assert isinstance(at, (ins.Load, ins.Store))
            nodes[n] = replace(nodes[n], action=replace(at, address=address))
    return Promotion(replace(program.graph, nodes=tuple(nodes)), variables, members)


def counters(program: Program) -> Promotion | None:
    """The numbers alone, where one of them is ``counting``: of a program that has no messages through memory."""
    grow = counting(program) if program.complete else frozenset()
    numbers = list(Finder(program).numbers()) if grow else []
    if all(grow.isdisjoint(named) for *_, named in numbers):
        return None
    variables, nodes = dict(program.variables), list(program.graph.nodes)
    _numbered(numbers, variables, nodes)
    return Promotion(replace(program.graph, nodes=tuple(nodes)), variables, program.members)


def _numbered(numbers: Iterable[Number], variables: dict[str, ast.Variable], nodes: list[Node]) -> None:
    for i, (name, type_, raw, named) in enumerate(numbers):
        key = f"{name}#{len(variables)}.{i}"
        span = nodes[named[0]].action.span  # type: ignore[union-attr]
        variables[key] = ast.Variable(key, name, type_, "extern" if raw else "static", span)
        for n in named:
            nodes[n] = replace(nodes[n], action=_of_variable(nodes[n].action, key))


def _of_variable(action: Action, key: str) -> ins.Instr:
    """A load or store as a reading or setting of a variable."""
    if isinstance(action, ins.Load):
        return ins.Define(action.span, action.stmt, action.target, ins.Var(key), action.type)
    assert isinstance(action, ins.Store)
    return ins.Define(action.span, action.stmt, ins.Var(key), action.value, action.type)


class Finder:
    """One use: ``run``."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.values = program.values
        self.symbols = program.values.symbols
        self.table = program.values.objects.table
        self.touched: dict[int, list[Access]] = {}  # ``touching``
        self.written = Expressions(program)
        self.ends: dict[int, list[int]] = {}
        self.stretches = Stretches(program)
        self.spoiled = self.lost()
        self.born: dict[str, list[int]] = {}
        for node in self.graph.nodes:
            if isinstance(node.action, ins.Birth):
                self.born.setdefault(node.action.var, []).append(node.number)
        self.handed = {(self.graph.frames[f].function, key) for f, key in self.graph.out_parameters.items()}
        self.visible = frozenset(v.name for v in program.variables.values())
        self.shared: list[list[tuple[Member, Type]]] = []  # those that the same words name (``consistent``)

    def run(self) -> list[tuple[Member, Type]]:
        out: list[tuple[Member, Type]] = []
        for info in self.table:
            if info.number not in self.spoiled and self.values.accesses.any(info.number) and self.single(info):
                out.extend(self.members(info))
        return self.consistent(out)

    # --- objects -------------------------------------------------------------------------------------------------

    def lost(self) -> set[int]:
        """Objects that unknown code may reach, that are messages' buffers, or that go where this is not followed."""
        points_to = self.program.points_to
        out = set(self.values.escaped) | set(self.values.foreign) | set(points_to.reachable(frozenset({UNKNOWN})))
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
                made = self.graph.returned(action.callee)
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
        effect = self.program.effects.get(called_key(action))
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
            return len(info.nodes) == 1 and not nest.chain(graph.nodes[info.node].block)
        if info.kind != "variable" or info.variable is None or info.variable in self.program.members:
            return False
        variable = self.program.variables[info.variable]
        if variable.type.is_pointer and info.variable not in graph.addressed:
            return False  # it is read and set by its name, too
        if (
            variable.type.kind not in ("record", "array", "pointer")
            or variable.thread_local
            or variable.kind == "param"
            or any(d.storage == "register" for d in variable.declarators)  # no member of it has an address
        ):
            return False
        if variable.is_global:
            return variable.kind != "extern" or any(d.definition or d.tentative for d in variable.declarators)
        births = self.births(info)
        return len(births) == 1 and not nest.chain(graph.nodes[births[0]].block)

    def births(self, info: Object) -> list[int]:
        """Where a local variable is born: in all copies of its function."""
        return self.born.get(info.variable or "", [])

    def touching(self, o: int) -> list[Access]:
        """What touches an object, by the number of the node; of all that may touch it anywhere, beside others, one."""
        found = self.touched.get(o)
        if found is None:
            found = self.touched[o] = self.values.accesses.alike(o)
        return found

    # --- places --------------------------------------------------------------------------------------------------

    def members(self, info: Object) -> Iterator[tuple[Member, Type]]:
        places: dict[int, list[int]] = {}
        types: dict[int, Type] = {}
        taken: list[tuple[int, int | None]] = []  # stretches that something else touches
        zeroed: list[tuple[int, int, int]] = []  # node, stretch
        own = info.type if info.variable is not None and info.type is not None and to_data(info.type) else None
        for a in self.touching(info.number):
            action = self.graph.nodes[a.node].action
            lo = None if a.lo is None else a.lo.constant
            length = None if a.length is None else a.length.constant
            exact = isinstance(action, (ins.Load, ins.Store)) and self.exact(a.node, info.number)
            if exact and lo is not None and length == POINTER_BYTES and self.plain(action.type):  # type: ignore[union-attr]
                type_ = action.type  # type: ignore[union-attr]
                if own is not None and as_void(type_):
                    type_ = own  # `*(void **)&b = malloc(n)`: any pointer to data is the same bytes
                # an initialiser's `(void *)0` has its own type
                if self.clears_it(a.node) or alike(types.setdefault(lo, type_), type_):
                    places.setdefault(lo, []).append(a.node)
                else:
                    taken.append((lo, POINTER_BYTES))
                continue
            if lo is not None and length is not None and a.kind == "W" and self.clears(a.node):
                zeroed.append((a.node, lo, length))
                continue
            taken.append(self.stretches.stretch(a, lo, length))
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

    def numbers(self) -> Iterator[Number]:
        """Integers in structs that can be variables as well: (name, type, not known at first, loads and stores).

        What is known of a count stays known then where the rest of its struct changes.
        """
        for info in self.table:
            if info.number in self.spoiled or not self.values.accesses.any(info.number) or not self.single(info):
                continue
            places: dict[tuple[int, int], list[int]] = {}
            types: dict[tuple[int, int], Type] = {}
            taken: list[tuple[int, int | None]] = []
            for a in self.touching(info.number):
                action = self.graph.nodes[a.node].action
                lo = None if a.lo is None else a.lo.constant
                length = None if a.length is None else a.length.constant
                stretch = self.stretches.stretch(a, lo, length)
                if isinstance(action, (ins.Load, ins.Store)) and self.exact(a.node, info.number) and lo is not None:
                    type_ = action.type
                    plain = type_.kind == "int" and not type_.volatile and not type_.atomic
                    if plain and type_.size and length == type_.size:
                        key = (lo, type_.size)
                        if types.setdefault(key, type_).signed == type_.signed:
                            places.setdefault(key, []).append(a.node)
                            continue
                taken.append(stretch)
            found = [(start, size) for start, size in places]
            for (start, size), nodes in sorted(places.items()):
                others = [*taken, *(x for x in found if x != (start, size))]
                if any(at < start + size and (n is None or at + n > start) for at, n in others):
                    continue
                begin, raw = self.first(info, start, start + size)
                if begin is not None:
                    yield f"{info.name}+{start}", types[start, size], raw, sorted(set(nodes))

    def exact(self, n: int, o: int) -> bool:
        operands = self.values.operands.get(n, ())
        return bool(operands) and self.symbols.base(operands[0]) == o

    @staticmethod
    def plain(type_: Type) -> bool:
        return type_.is_pointer and not type_.volatile and not type_.atomic and type_.size == POINTER_BYTES

    def clears(self, n: int) -> bool:
        """``memset(…, 0, …)``."""
        action = self.graph.nodes[n].action
        if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
            return False
        values = self.values.args.get(n, ())
        return action.callee.key == "memset" and len(values) == 3 and values[1].constant == 0

    def made(
        self,
        info: Object,
        offset: int,
        nodes: list[int],
        zeroed: list[tuple[int, int, int]],
        span: tuple[int, int] | None = None,
    ) -> Member | None:
        """The member at an offset, when its first contents are known to be NULL, or nobody's.

        span: the bytes from … to … that a table is in.
        """
        first, last = span or (offset, offset + POINTER_BYTES)
        start, raw = self.first(info, first, last)
        if start is None:
            return None
        for n, lo, length in zeroed:
            if lo >= last or lo + length <= first:
                continue
            whole = lo <= first and last <= lo + length
            names = names_of(self.program)
            ahead = all(self.program.dominates(n, m) and not names.follows(m, n) for m in nodes)
            if not whole or not ahead or self.program.nest.chain(self.graph.nodes[n].block):
                return None
            start, raw = max(start, n), False
        ends = list(self.ends.get(info.number, ()))
        if info.frame >= 0:
            names = names_of(self.program)
            ends += [*names.left.get(info.frame, []), *names.leaving(self.births(info)[0])]
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
        alone = info.variable is not None and info.type is not None and info.type.is_pointer
        return Member(
            f"{owner}+{offset}",
            self.program.variables[info.variable or ""].name if alone else spelling(found[0][1]),
            where,
            offset,
            tuple(nodes),
            found,
            spans,
            start,
            tuple(sorted(ends)),
            raw,
            named=(info.variable,) if alone and info.variable is not None else (),
            cast=self.cast(nodes),
        )

    def cast(self, nodes: Sequence[int]) -> str:
        """What a member's address needs where an lvalue is const: the program sets it, so that is no const object."""
        for n in nodes:
            node = self.graph.nodes[n]
            e = self.written.of(self.graph.frames[node.frame].function, node.action)
            if isinstance(node.action, ins.Store) and e is not None:
                return cast_for(e.type, self.visible)
        return ""

    def clears_it(self, n: int) -> bool:
        """A store of NULL."""
        operands = self.values.operands.get(n, ())
        return isinstance(self.graph.nodes[n].action, ins.Store) and len(operands) == 2 and operands[1].constant == 0

    def first(self, info: Object, first: int, last: int) -> tuple[int | None, bool]:
        """(node at which the object begins, whether the member is not NULL then); None: it holds something else."""
        if info.kind == "heap":
            action = self.graph.nodes[info.node].action
            assert isinstance(action, ins.CallInstr)
            effect = self.program.effects.get(called_key(action))
            made = effect.allocates if effect is not None else None
            if made is None or made.copies_from is not None or made.contents:
                return None, False
            return info.node, not made.zeroed
        assert info.variable is not None
        variable = self.program.variables[info.variable]
        if variable.is_global:
            null = all(null_at(variable.init, at) for at in range(first, last, POINTER_BYTES))
            return (-1 if null else None), False
        birth = self.births(info)[0]
        action = self.graph.nodes[birth].action
        assert isinstance(action, ins.Birth)
        return birth, not action.zeroed

    # --- the text ------------------------------------------------------------------------------------------------

    def consistent(self, found: list[tuple[Member, Type]]) -> list[tuple[Member, Type]]:
        """Without those that are written by words that mean another place in another copy of their function.

        Where these places are all among those found, they are ``shared``.
        """
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
        for i, (m, _) in enumerate(found):
            for function, e in m.exprs:
                if self.set_elsewhere(function, e):
                    meant.setdefault((function, *place(e)), {i}).add(-1)
        groups = [frozenset(group) for group in meant.values() if len(group) > 1]
        bad = {i for group in groups if -1 in group for i in group}
        elsewhere = also_run(self.program)
        bad.update(i for i, (m, _) in enumerate(found) if elsewhere & {function for function, _ in m.exprs})
        together = [group for group in classes(groups, len(found)) if not bad & set(group)]
        self.shared = [[found[i] for i in group] for group in together if len(group) > 1]
        return [found[group[0]] for group in together if len(group) == 1]

    def set_elsewhere(self, function: str, e: ast.Expr) -> bool:
        """What is written as ``*p`` is another pointer in a copy of the function that has it for the parameter."""
        while isinstance(e, (ast.Deref, ast.Index, ast.Cast)):
            e = e.base if isinstance(e, ast.Index) else e.operand
        return isinstance(e, ast.VarRef) and (function, e.var) in self.handed


def member_refusal(units: Sequence[ast.Unit], member: Member, program: Program) -> Refusal | None:
    """What the text of the program has against a member that changes: code that was not analysed and names it."""
    field = next((e.field for _, e in member.exprs if isinstance(e, ast.Member)), "")
    for unit in units:
        for function in unit.functions.values():
            if function.refused and field:
                for e in function_expressions(function):
                    if isinstance(e, ast.Member) and e.field == field:
                        note = (e.span, "used here")
                        concurrent = "OpenMP" in function.refused
                        message = f"`{field}` is used in `{function.name}`, which is not analysed: {function.refused}"
                        return Refusal(Reason.CONCURRENT if concurrent else Reason.NOT_ANALYSED, message, (note,))
    return None
