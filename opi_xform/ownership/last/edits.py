"""Sites that convert because a block's life ends (``sends.py``) or begins (``fresh.py``) with them: what the text
permits; the edits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.types import Type
from opi_xform.ir.walk import within, within_statement
from opi_xform.ownership.allocation.repeated import has_effect
from opi_xform.ownership.buffers.message_sizes import small, too_small
from opi_xform.ownership.conditions.memory.levels import levels_written
from opi_xform.ownership.conditions.text.threads import threads_written
from opi_xform.ownership.deciding.agreement import Verdict
from opi_xform.ownership.last.blocks import Blocks, Pool
from opi_xform.ownership.last.fresh import FreshBlocks
from opi_xform.ownership.last.sends import LastSends
from opi_xform.ownership.liveness.longest import shorter
from opi_xform.ownership.liveness.zero_ends import is_numbers
from opi_xform.ownership.model.buffers import Buffer, Carrier, Options, Place, Program, Use
from opi_xform.ownership.model.names import Name
from opi_xform.ownership.model.plan import Edit, ReplaceCall
from opi_xform.ownership.requests.given_up import abandoned
from opi_xform.ownership.spelling.comments import about
from opi_xform.ownership.spelling.configurations import shared_text, written_at
from opi_xform.ownership.spelling.mentions import Texts, plain, walk
from opi_xform.ownership.spelling.scopes import pieces, words
from opi_xform.values.facts import Facts

Found = list[tuple[Buffer, Verdict]]


class _Refused(Exception):
    pass


def of_blocks(
    units: Sequence[ast.Unit],
    program: Program,
    options: Options,
    uses: Sequence[Use],
    kept: Collection[Place],
    taken: Collection[int],
    supposed: set[int] | None = None,
) -> Found:
    """Of the sites that stay, those that convert so, each with its buffer.  taken: objects of buffers that convert.

    supposed: gets the tests against NULL of which it is supposed that the program ends at them for want of memory.
    """
    if not _followed(program):
        return []
    by_place: dict[Place, list[Use]] = {}
    for use in uses:
        if use.place in kept:
            by_place.setdefault(use.place, []).append(use)
    sites = {p: mine for p, mine in by_place.items() if _form(program, options, mine)}
    if not sites:
        return []
    return _Ending(units, program, options, supposed).run(sites, frozenset(taken))


def in_any_words(program: Program, sites: Mapping[Place, Sequence[Use]]) -> set[Place]:
    """Of some sites that name local pointers, those that may convert so in other words for the same."""
    if not sites or not _followed(program):
        return set()
    ending = _Ending((), program, Options())
    found = {p: ending.pool(uses) for p, uses in sites.items()}
    pools = ((p, pool) for p, pool in found.items() if pool is not None)
    return {p for p, pool in pools if ending.at_each_level(sites[p], pool) and ending.of_life(sites[p], pool)}


def _followed(program: Program) -> bool:
    """What becomes of an address is known everywhere."""
    if not program.complete or program.graph.background.nodes or program.points_to.taken_apart() or program.apart:
        return False
    # a jump out of one that is refused leads nowhere in the graph
    return not any(program.functions[frame.function].refused for frame in program.graph.frames)


def _form(program: Program, options: Options, uses: Sequence[Use]) -> bool:
    """The call could pass ownership, whatever its buffer is, and names it by a local variable."""
    first = uses[0]
    if not first.op.convertible or not _written(first) or first.op.persistent or small(uses):
        return False
    if too_small(program, uses, options.min_bytes) is not None:
        return False
    if any(u.length is None for u in uses) or not first.call.callee_span.editable or not first.call.span.editable:
        return False
    argument = first.call.args[first.argument]
    if not argument.span.editable or not isinstance(plain(argument), ast.VarRef):
        return False
    if not all(_alone(program, u) for u in uses):
        return False
    functions = {program.graph.frames[program.graph.nodes[u.node].frame].function for u in uses}
    if not functions.isdisjoint(program.graph.passed):
        return False
    return about(options.told, _nameless(uses), first, "keep") is None


def _written(use: Use) -> str:
    """The call that takes the site's place, or ''.

    A receive that goes on after its call would have to find its pointer where it was when it completes.
    """
    if use.side == "send":
        return use.op.opi_send
    return use.op.opi_recv_replace if use.op.blocking else ""


def _for_nothing(e: ast.Expr, call: ast.Call) -> bool:
    """Nobody looks at what a call that stands in an expression statement returns."""
    while isinstance(plain(e), ast.Comma):
        comma = plain(e)
        assert isinstance(comma, ast.Comma)
        if plain(comma.right) is call:
            return True
        e = comma.left
    return plain(e) is call


def _alone(program: Program, use: Use) -> bool:
    """The call is a statement of its own, or all that one evaluates but numbers: C can order it in no other way.

    Its arguments may call functions, which do not know the pointer's address.
    """
    node = program.graph.nodes[use.node]
    info = program.graph.statement(node)
    if info is None or (any(has_effect(e) for e in use.call.args) and not _only_called(program, use)):
        return False
    match info.stmt:
        case ast.ExprStmt(expr=ast.Assign(target=ast.VarRef(type=type_), op=op, value=e)) if not op or _whole(type_):
            pass
        case ast.DeclStmt(variables=(key,), sizes=()):
            init = program.graph.lowered[program.graph.frames[node.frame].function].function.variables[key].init
            if init is None:
                return False
            e = init
        case ast.ExprStmt(expr=e):
            return plain(e) is use.call
        case ast.If(cond=e):
            pass
        case _:
            return False
    return _tested(plain(e)) is use.call


def _only_called(program: Program, use: Use) -> bool:
    """All effects in the arguments are calls, and the message's pointer is a local one whose address nobody takes."""
    named = plain(use.call.args[use.argument])
    parts = [x for e in use.call.args for x in within(e)]
    if not isinstance(named, ast.VarRef) or any(isinstance(x, (ast.Assign, ast.IncDec, ast.Opaque)) for x in parts):
        return False
    function = program.graph.lowered[program.graph.frames[program.graph.nodes[use.node].frame].function].function
    variable = function.variables.get(named.var)
    if variable is None or variable.kind not in ("local", "param") or variable.type.volatile or variable.type.atomic:
        return False
    for x in within_statement(function.body, function.variables):
        place = plain(x.operand) if isinstance(x, ast.AddrOf) else None
        if isinstance(place, ast.VarRef) and place.var == named.var:
            return False
    return all(isinstance(x.callee, ast.FuncRef) for x in parts if isinstance(x, ast.Call))


def _whole(type_: Type) -> bool:
    """``errors += MPI_Send(…) != MPI_SUCCESS``: a number that nobody else sets meanwhile."""
    return type_.kind == "int" and not type_.volatile and not type_.atomic


def _tested(e: ast.Expr) -> ast.Expr:
    """What is compared with a number, if that is all that the expression does."""
    while True:
        match e:
            case ast.Unary(op="!", operand=inner):
                e = plain(inner)
            case (
                ast.Binary(op="==" | "!=", left=inner, right=ast.IntLit())
                | ast.Binary(op="==" | "!=", left=ast.IntLit(), right=inner)
            ):
                e = plain(inner)
            case _:
                return e


def _nameless(uses: Sequence[Use]) -> Buffer:
    return Buffer("", Carrier("pointer", ""), (), tuple(uses), ())


class _Ending:
    """One use: ``run``."""

    def __init__(
        self, units: Sequence[ast.Unit], program: Program, options: Options, supposed: set[int] | None = None
    ) -> None:
        self.supposed = supposed
        self.units = units
        self.program = program
        self.options = options
        self.graph = program.graph
        self.blocks = Blocks(program)
        self.names = self.blocks.names
        self.facts = Facts(program.graph, program.nest, program.values)
        self.texts = Texts()
        self.known: dict[frozenset[int], LastSends] = {}
        self.fresh: dict[frozenset[int], FreshBlocks] = {}
        self.believed: set[Place] = set()  # receives of which A1 is assumed

    def run(self, sites: Mapping[Place, Sequence[Use]], taken: frozenset[int]) -> Found:
        pools: dict[Place, Pool] = {}
        edits: dict[Place, tuple[Edit, ...]] = {}
        for p, uses in sites.items():
            pool = self.pool(uses)
            if pool is None or pool.objects & taken or not self.at_each_level(uses, pool):
                continue
            try:
                edits[p] = self.edits(uses, pool)
            except _Refused:
                continue
            if self.of_life(uses, pool):
                pools[p] = pool
        while True:  # what is pending at a call that stays is not given away at another; what is received into is fresh
            staying = [p for p in pools if sites[p][0].side == "send" and self.pending(pools[p], pools)]
            if not staying:
                break
            for p in staying:
                del pools[p]
        return [
            self.verdict(p, sites[p], pools[p], edits[p])
            for p in pools
            if self.writable(p, sites[p], pools[p], edits[p])
        ]

    def pool(self, uses: Sequence[Use]) -> Pool | None:
        targets = frozenset[int]()
        for use in uses:
            node = self.graph.nodes[use.node]
            assert isinstance(node.action, ins.CallInstr)
            targets |= self.program.points_to.operand(node.frame, node.action.args[use.argument])
        return self.blocks.pool(targets) if targets else None

    def at_each_level(self, uses: Sequence[Use], pool: Pool) -> bool:
        """The call is made at one level of a function, or each has its blocks for itself and the call is complete."""
        if pool.owners and any(use.op.request is not None for use in uses):
            return False
        return all(self.blocks.at_each_level(pool, use.node) for use in uses)

    def of_life(self, uses: Sequence[Use], pool: Pool) -> bool:
        """The life of the block ends, or begins, with the call."""
        return self.last(uses, pool) if uses[0].side == "send" else self.first(uses, pool)

    def last(self, uses: Sequence[Use], pool: Pool) -> bool:
        """In each copy of the call, it is the last that is done with the block."""
        sends = self.sends(pool)
        if sends is None:
            return False
        for use in uses:
            name = self.name(use)
            if use.op.request is not None and abandoned(self.names, use):
                return False
            if name not in pool.exact or sends.used_after(use.node, name) is not None:
                return False
        return True

    def first(self, uses: Sequence[Use], pool: Pool) -> bool:
        """In each copy of the call, it is the first that is done with the block, and no other name leads to it then."""
        sends = self.sends(pool)
        if sends is None:
            return False
        if pool.objects not in self.fresh:
            self.fresh[pool.objects] = FreshBlocks(sends)
        blocks = self.fresh[pool.objects]
        for use in uses:
            name = self.name(use)
            made = frozenset[int]()
            if use.length is not None and shorter(self.program, use) is None:  # else what calloc put there is read
                made = blocks.fresh(use.node, name, use.length)
            if name not in pool.exact or not made:
                return False
            if sends.used_after(use.node, name, given=False) is not None:
                return False
            if any(self.blocks.plainly(m, "calloc") for m in made):
                block = replace(_nameless(uses), objects=tuple(sorted(pool.objects)))
                if self.options.strict or not is_numbers(self.program, block):
                    return False
                self.believed.add(use.place)
        return True

    def sends(self, pool: Pool) -> LastSends | None:
        """What is done with its blocks; None: that is not understood."""
        if pool.objects not in self.known:
            self.known[pool.objects] = LastSends(self.program, self.blocks, pool, self.facts, self.supposed)
        sends = self.known[pool.objects]
        return sends if sends.understood else None

    def name(self, use: Use) -> Name:
        """The variable that the call names."""
        e = plain(use.call.args[use.argument])
        assert isinstance(e, ast.VarRef)
        return ("v", self.program.values.objects.variable(self.graph.nodes[use.node].frame, e.var), 0)

    def pending(self, pool: Pool, converted: Collection[Place]) -> bool:
        """A call that stays may have a block of the pool for longer than it runs."""
        for node in self.graph.nodes:
            call = node.action
            if not isinstance(call, ins.CallInstr) or self.names.entered(node):
                continue
            effect = self.names.effect(call)
            if effect is None:
                continue
            op = effect.mpi
            held = op is not None and (not op.blocking or op.persistent or op.kind in ("rma", "io", "start"))
            if not held and not effect.retains and not effect.retains_stored:
                continue
            for i, operand in enumerate(call.args):
                place = (call.call.span.file, call.call.span.begin, "send", i)
                if place not in converted and self.program.points_to.operand(node.frame, operand) & pool.objects:
                    return True
        return False

    # --- edits -------------------------------------------------------------------------------------------------------

    def edits(self, uses: Sequence[Use], pool: Pool) -> tuple[Edit, ...]:
        """Raises _Refused."""
        for name in pool.holders:
            self.elsewhere(name)
        self.in_other_words(pool)
        out: list[Edit] = [self.call(uses[0])]
        for nodes in pool.allocating.values():
            out += self.allocation(nodes[0])
        for nodes in pool.freeing.values():
            out.append(self.free(nodes, pool))
        return tuple(dict.fromkeys(out))

    def elsewhere(self, name: Name) -> None:
        """Text that is left out names a pointer to a block."""
        key = self.names.objects.table[name[1]].variable if name[0] == "v" else None
        variable = self.program.variables.get(key or "")
        function = self.program.functions.get(variable.function) if variable is not None else None
        if variable is None or function is None:
            return
        for unit in self.units:
            for skipped in unit.skipped:
                s = skipped.span
                inside = s.file == function.span.file and function.span.begin <= s.begin < function.span.end
                if variable.name in (skipped.identifiers if inside else skipped.bodies):
                    raise _Refused

    def in_other_words(self, pool: Pool) -> None:
        """Text that is left out has or calls a function in which a block is asked for, freed, or held."""
        nodes = {n for given in (pool.allocating, pool.freeing) for each in given.values() for n in each}
        keys = {self.graph.frames[self.graph.nodes[n].frame].function for n in nodes}
        held = (self.names.objects.table[name[1]].variable or "" for name in pool.holders if name[0] == "v")
        keys |= {self.program.variables[key].function for key in held if key in self.program.variables}
        named = {key.rpartition(":")[2] for key in keys} - {"main"}
        for unit in self.units:
            for skipped in unit.skipped:
                if not named.isdisjoint(skipped.identifiers | skipped.bodies):
                    raise _Refused
                s = skipped.span
                own = (f.span for key in keys - {"main"} if (f := self.program.functions.get(key)) is not None)
                inside = any(s.file == f.file and f.begin <= s.begin < f.end for f in own)
                if inside and not skipped.identifiers.isdisjoint(self.other_ways):
                    raise _Refused

    @cached_property
    def other_ways(self) -> frozenset[str]:
        """Words by which a function may give or free other memory."""
        known = self.program.effects
        return frozenset(("return", *(name for name in known if known[name].allocates or known[name].frees)))

    def call(self, use: Use) -> ReplaceCall:
        argument = use.call.args[use.argument]
        name = _written(use)
        behind = replace(use.call.span, begin=use.call.callee_span.end)
        if pieces(self.texts.of(behind)) != len(use.call.args):
            name = f"({name.strip('()')})"
        return ReplaceCall(use.call.callee_span, name, ((argument.span, self.address(plain(argument))),))

    def address(self, e: ast.Expr, untyped: bool = False) -> str:
        """``&p``, where ``p`` is a local pointer that can be set, to elements of a known size; untyped: or ``void``."""
        variable = self.program.variables[e.var] if isinstance(e, ast.VarRef) else None
        if variable is None or variable.kind not in ("local", "param"):
            raise _Refused
        t, elem = variable.type, variable.type.elem
        said = {word for d in variable.declarators for word in (*d.specifiers.split(), d.storage)}
        if t.const or elem is None or elem.kind == "function" or elem.volatile or elem.atomic:
            raise _Refused
        if elem.kind == "void" and not untyped:
            raise _Refused
        if not said.isdisjoint({"register", "__auto_type", "auto"}) or variable.attributes:
            raise _Refused
        behind = self.texts.of(replace(variable.span, begin=variable.span.end, end=variable.span.end + 80))
        if variable.kind == "param" and behind.lstrip().startswith("[") and "const" in behind.partition("]")[0]:
            raise _Refused  # `double p[const]` cannot be set
        if not e.span.editable or self.texts.of(e.span).strip("() ") != variable.name:
            raise _Refused
        return f"&{variable.name}"

    def allocation(self, n: int) -> Iterator[Edit]:
        node = self.graph.nodes[n]
        action = node.action
        assert isinstance(action, ins.CallInstr)
        call = action.call
        name = called_key(action)
        if not call.callee_span.editable or self.texts.of(call.callee_span) != name:
            raise _Refused
        if any(self.of_array(e) for e in call.args):
            raise _Refused
        yield ReplaceCall(call.callee_span, "OPI_Calloc" if name == "calloc" else "OPI_Malloc", ())

    def of_array(self, size: ast.Expr) -> bool:
        """The size is said with that of an array, which may become a pointer."""
        arrays = {v.name for v in self.program.variables.values() if v.type.is_array}
        asked = (words(self.texts.of(x.span)) for x in walk(size) if isinstance(x, ast.SizeOf))
        return any(not arrays.isdisjoint(found) for found in asked)

    def free(self, nodes: Sequence[int], pool: Pool) -> ReplaceCall:
        for n in nodes:
            held = {name for name, _, _ in self.holding(n)}
            if not held <= pool.exact:
                raise _Refused
        action = self.graph.nodes[nodes[0]].action
        assert isinstance(action, ins.CallInstr)
        call = action.call
        if len(call.args) != 1 or not call.callee_span.editable or not call.args[0].span.editable:
            raise _Refused
        info = self.graph.statement(self.graph.nodes[nodes[0]])
        if info is None or not isinstance(info.stmt, ast.ExprStmt) or not _for_nothing(info.stmt.expr, call):
            raise _Refused  # `return free(p);` of a void function: OPI_Free returns a number
        return ReplaceCall(
            call.callee_span, "OPI_Free", ((call.args[0].span, self.address(plain(call.args[0]), True)),)
        )

    def holding(self, n: int) -> Iterator[tuple[Name, int, int]]:
        node = self.graph.nodes[n]
        assert isinstance(node.action, ins.CallInstr)
        for operand in node.action.args:
            while isinstance(operand, ins.Op) and operand.op == "cast":
                operand = operand.args[0]
            name = self.names.name(node.frame, operand)
            if name is None:
                raise _Refused
            yield name, 0, 0

    def writable(self, p: Place, uses: Sequence[Use], pool: Pool, edits: Sequence[Edit]) -> bool:
        """The edits can be made where they stand, and are right for all that runs there."""
        root = self.options.root
        if root and not all(written_at(e).file.startswith(root + "/") for e in edits):
            return False
        if any(self.options.obstacle(e) for e in edits) or shared_text(self.program, [p], edits) is not None:
            return False
        buffer = replace(_nameless(uses), objects=tuple(sorted(pool.objects)) if pool.owners else ())
        return levels_written(self.program, buffer, edits) is None and not threads_written(self.program, buffer, edits)

    def verdict(self, p: Place, uses: Sequence[Use], pool: Pool, edits: tuple[Edit, ...]) -> tuple[Buffer, Verdict]:
        e = plain(uses[0].call.args[uses[0].argument])
        assert isinstance(e, ast.VarRef)
        nodes = tuple(sorted(n for found in pool.allocating.values() for n in found))
        carrier = Carrier("pointer", e.var, allocations=nodes)
        name = self.program.variables[e.var].name
        buffer = Buffer(name, carrier, tuple(sorted(pool.objects)), tuple(uses), ())
        files = tuple(sorted({written_at(edit).file for edit in edits}))
        believed = {"A1"} if p in self.believed else set()
        return buffer, Verdict(converted={p}, assumptions={p: believed}, edits=edits, files=files)
