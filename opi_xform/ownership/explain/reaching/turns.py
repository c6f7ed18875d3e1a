"""Loops each turn of which has memory of its own for a message: a read in another turn is of other memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import within, within_statement
from opi_xform.memory.poly import Poly, number
from opi_xform.memory.symbols import Symbols
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import in_same_words, spelling
from opi_xform.ownership.model.names import leaves, names_of, operands
from opi_xform.ownership.model.object_index import index_of
from opi_xform.ownership.model.roots import base_of, variables_in
from opi_xform.ownership.model.split_rows import row_index


def own_turns(program: Program, use: Use) -> frozenset[int]:
    """The loops in each turn of which memory of a message is made, or its pointer set, before the message's call."""
    turns, made = _made_in(program, use)
    return turns - _come_from(program, use.node, made) if turns else turns


def _made_in(program: Program, use: Use) -> tuple[frozenset[int], list[int]]:
    """The loops around a call and all that makes its memory, and the nodes that make that, or set its pointer."""
    graph, nest, values = program.graph, program.nest, program.values
    if use.object < 0:
        return frozenset(), []
    info, node = values.objects.table[use.object], graph.nodes[use.node]
    heaps = [values.objects.table[m] for m in info.members or (use.object,)]
    births = index_of(program).births.get(info.variable or "", ())
    made = [n for heap in heaps for n in heap.nodes] or [n for n in births if graph.nodes[n].frame == info.frame]
    around = [frozenset(nest.chain(graph.nodes[n].block)) for n in made]
    turns = frozenset(nest.chain(node.block)).intersection(*around) if around else frozenset[int]()
    base = base_of(use.call.args[use.argument])
    if turns and isinstance(base, ast.VarRef) and program.variables[base.var].kind == "local":
        made += _set_by(program, values.objects.variable(node.frame, base.var), made)
    return turns, made


def shared_turns(program: Program, use: Use, n: int) -> frozenset[int]:
    """Those of them that are around a node, too, and in each turn of which the memory is made before that: else what it
    means may be the memory of any turn.
    """
    graph, nest = program.graph, program.nest
    turns = own_turns(program, use).intersection(nest.chain(graph.nodes[n].block))
    return turns - _come_from(program, n, _made_in(program, use)[1]) if turns else turns


def _set_by(program: Program, o: int, made: Collection[int]) -> list[int]:
    """Nodes that set a pointer, where it is set to what some nodes allocate, and to NULL, and to nothing else."""
    names, nodes = names_of(program), program.graph.nodes
    defs = list(names.defs.get(("v", o, 0), ()))
    for n in defs:
        action = nodes[n].action
        value = action.value if isinstance(action, ins.Define) else None
        while isinstance(value, ins.Op) and value.op == "cast":
            value = value.args[0]
        known = names.name(nodes[n].frame, value) if isinstance(value, ins.Temp) else None
        fresh = known is not None and set(names.defs.get(known, ())) <= set(made)
        if not (fresh or isinstance(value, ins.Const) or isinstance(action, ins.Birth)):
            return []
    return defs if o not in names.address_taken else []


def row_turns(program: Program, use: Use, others: Collection[Use]) -> frozenset[int]:
    """The loop in each turn of which messages are of another row of a table, where all are of one row in a turn."""
    symbols = program.values.symbols
    row = None if use.row is None or not others else symbols.resolve(use.row)
    if row is None or any(u.row is None or symbols.resolve(u.row) != row for u in others):
        return frozenset()
    counts = [m for m, _ in row.terms if m]
    return symbols.scope(row) if [len(m) for m in counts] == [1] else frozenset()


def never_same(symbols: Symbols, a: Poly, b: Poly) -> bool:
    """Two numbers are never the same, whatever turns of loops they are of."""
    a, b = symbols.resolve(a), symbols.resolve(b)
    if any(symbols.table[s].scope for s in {*a.symbols()}.intersection(b.symbols())):
        return False  # of another turn it is another number
    return any(symbols.is_nonneg(one - other - number(1)) for one, other in ((a, b), (b, a)))


def of_another_row(program: Program, use: Use, n: int) -> bool:
    """All that a node reads of a table of rows it names by a row that is never that of a message."""
    if use.row is None or use.object < 0:
        return False
    values, symbols = program.values, program.values.symbols
    places = [a.lo for a in values.accesses.at_object(n, use.object) if a.kind == "R"]
    if places and None in places:  # a text, whose length is not known: by what the call is given
        places = [symbols.offset(a) for a in values.args.get(n, ()) if symbols.base(a) == use.object]
    rows = [None if lo is None else row_index(program, use.object, lo) for lo in places]
    return bool(rows) and all(row is not None and never_same(symbols, use.row, row) for row in rows)


def _come_from(program: Program, n: int, stops: Iterable[int]) -> frozenset[int]:
    """The loops whose header a way to a node comes from that passes none of some nodes."""
    graph, nest, last = program.graph, program.nest, dict[int, int]()
    start = graph.nodes[n].block
    for m in stops:
        block = graph.nodes[m].block
        if block != start or m < n:
            last[block] = m
    if start in last:
        return frozenset()
    seen, work = {start}, [start]
    for block in work:
        fresh = [p for p in graph.preds[block] if p not in seen and p not in last]
        seen.update(fresh)
        work += fresh
    return frozenset(loop.number for loop in nest.loops if loop.header in seen)


def moving_loop(program: Program, use: Use) -> frozenset[int]:
    """The innermost loop, as blocks, in each turn of which the message begins elsewhere; none: no such loop."""
    graph, nest, names = program.graph, program.nest, names_of(program)
    node = graph.nodes[use.node]
    around = nest.chain(node.block)
    work = [(node.frame, key) for key in variables_in(use.call.args[use.argument])]
    seen = set(work)
    stepped: set[int] = set()  # blocks in which a variable that the place depends on counts on
    while work and around:
        here = frame, key = work.pop()
        for n in names.defs.get(("v", program.values.objects.variable(frame, key), 0), ()):
            given = _given(program, n)
            if here in given:
                stepped.add(graph.nodes[n].block)
            work.extend(one for one in given if one not in seen)
            seen.update(given)
    loops = (nest.loops[k].blocks for k in around)
    return next((frozenset(blocks) for blocks in loops if not stepped.isdisjoint(blocks)), frozenset())


def set_in_turn(program: Program, use: Use) -> bool:
    """A variable that a call names is set in the loop around it: each turn may name other memory."""
    nodes, nest, names = program.graph.nodes, program.nest, names_of(program)
    frame, around = nodes[use.node].frame, nest.chain(nodes[use.node].block)[:1]
    keys = variables_in(use.call.args[use.argument])
    sets = (n for k in keys for n in names.defs.get(("v", program.values.objects.variable(frame, k), 0), ()))
    return any(nodes[n].block in nest.loops[k].blocks for n in sets for k in around) or bool(_member_sets(program, use))


def next_struct(program: Program, use: Use, name: str) -> Refusal | None:
    """Why a send stays whose pointer is in a struct, where the loop around it goes on to another one in each turn."""
    for place, span in _member_sets(program, use):
        message = (
            f"`{name}` may name other memory in each turn of its loop, since {line_of(span)} sets `{spelling(place)}`:"
        )
        message += " which memory that is could not be told"
        return Refusal(Reason.SEVERAL_BUFFERS, message, ((span, "set here"),)) if spelling(place) != name else None
    return None


def _member_sets(program: Program, use: Use) -> list[tuple[ast.Member, Span]]:
    """Where pointers in memory by which the call names its memory are set in its loop: ``c->at = c->at->next``."""
    graph, node = program.graph, program.graph.nodes[use.node]
    around, function = program.nest.chain(node.block)[:1], program.functions[graph.frames[node.frame].function]
    parts = [e for e in within(use.call.args[use.argument]) if isinstance(e, ast.Member) and e.type.is_pointer]
    inside = [graph.nodes[n] for k in around if parts for b in program.nest.loops[k].blocks for n in graph.blocks[b]]
    stores = {n.action.span for n in inside if isinstance(n.action, (ins.Store, ins.Define)) and n.frame == node.frame}
    every = within_statement(function.body, function.variables) if stores else ()
    sets = [(e.target, e.span) for e in every if isinstance(e, ast.Assign) and e.span in stores]
    same = (e for e in sets if any(in_same_words(e[0], part) for part in parts))
    return [(e, span) for e, span in same if isinstance(e, ast.Member)]


def _given(program: Program, n: int) -> set[tuple[int, str]]:
    """The variables, by frame, from which a node computes what it sets."""
    graph, names = program.graph, names_of(program)
    out: set[tuple[int, str]] = set()
    work, seen = [n], {n}
    while work:
        for frame, operand in operands(graph.nodes[work.pop()]):
            for leaf in leaves(operand):
                if isinstance(leaf, ins.Var):
                    out.add((frame, leaf.key))
                elif isinstance(leaf, ins.Temp):
                    defs = [d for d in names.defs.get(("t", frame, leaf.number), ()) if d not in seen]
                    seen.update(defs)
                    work.extend(defs)
    return out
