"""Pointers by which places are named; two that change places in a function of their addresses (``swap(&a, &b)``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from opi_xform.graph.graph import Bind, Lost, Unbind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import repeats, statements, uncast, within
from opi_xform.memory.objects import Object
from opi_xform.memory.poly import ONE, Poly, number
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.explain.called import called_from, called_in, node_span
from opi_xform.ownership.explain.choosing.argument import begins_behind, same_place
from opi_xform.ownership.explain.datatypes import has_gaps, several_rows
from opi_xform.ownership.explain.reaching.turns import moving_loop
from opi_xform.ownership.explain.reaching.ways import in_turn
from opi_xform.ownership.model.buffers import Buffer, Program, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, function_expressions, in_same_words, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import Roots, base_of, is_inside, is_zero

STEPS = 8  # names that are followed from a store to where its value is read
PAIR = 2
FREED = "may be what is freed"


def changes_places(program: Program, table: int, n: int, name: str) -> tuple[str, Span] | None:
    """What a node that stores a pointer in the variable ``name`` does, where that changes places with another one."""
    objects, graph = program.values.objects.table, program.graph
    other = _copied(program, n)
    found = None if other in (None, table) else objects[other or 0]
    type_ = None if found is None else found.type
    if found is None or type_ is None or not (type_.is_pointer or (type_.elem is not None and type_.elem.is_pointer)):
        return None
    if not any(_copied(program, m) == table for m in _stores(program, found.number)):
        return None
    at = called_in(program, n, objects[table].frame)
    if type_.is_pointer:
        called = program.variables[found.variable or ""].name
    else:  # variables that count as a table: their names are those that the call passes the addresses of
        at = graph.frames[graph.nodes[n].frame].call
        action = graph.nodes[at].action if at >= 0 else None
        passed = map(uncast, action.call.args if isinstance(action, ins.CallInstr) else ())
        named = [spelling(e.operand) for e in passed if isinstance(e, ast.AddrOf)]
        if named.count(name) != 1 or len(named) != PAIR:
            return None
        called = named[1 - named.index(name)]
    span = node_span(program, n if at is None else at)
    return f"`{name}` changes places with `{called}` at {line_of(span)}, so it may be either buffer", span


def _stores(program: Program, o: int) -> Iterator[int]:
    """Nodes that store a pointer in an object."""
    for n in sorted(program.values.accesses.nodes(o)):
        action = program.graph.nodes[n].action
        stores = isinstance(action, ins.Store) and action.type.is_pointer
        if stores and program.values.symbols.base(program.values.operands[n][0]) == o:
            yield n


def _copied(program: Program, n: int) -> int | None:
    """The object from which a store copies a pointer; None: it stores something else."""
    names = names_of(program)
    node = program.graph.nodes[n]
    assert isinstance(node.action, ins.Store)
    value, frame = node.action.value, node.frame
    for _ in range(STEPS):
        while isinstance(value, ins.Op) and value.op == "cast":
            value = value.args[0]
        name = names.name(frame, value)
        if name is None:
            return None
        found = [d for d in names.defs.get(name, ()) if not isinstance(program.graph.nodes[d].action, ins.Birth)]
        if len(found) != 1:
            return None
        action = program.graph.nodes[found[0]].action
        if isinstance(action, ins.Load):
            operands = program.values.operands.get(found[0], ())
            return program.values.symbols.base(operands[0]) if operands else None
        if not isinstance(action, ins.Define):
            return None
        value = action.value
    return None


def copied_from(program: Program, key: str) -> tuple[str, Span] | None:
    """The pointer that a variable is set to a copy of, as written, and where; None: it is set to anything else, too."""
    names, found = names_of(program), dict[Span, str]()
    for o in program.values.objects.by_name.get(key, ()):
        for n in names.defs.get(("v", o, 0), ()):
            action, frame = program.graph.nodes[n].action, program.graph.nodes[n].frame
            if isinstance(action, ins.Birth) or sets_null(action):
                continue
            if not isinstance(action, ins.Define):
                return None
            name = value_named(program, frame, action.value)
            if name == UNSPELLED:
                return None
            found[names.span(n)] = name
    return next(((name, span) for span, name in found.items()), None) if len(found) == 1 else None


def value_named(program: Program, frame: int, value: ins.Operand) -> str:
    """The pointer of which a function takes the value, as it is written there; UNSPELLED: none."""
    function = program.graph.frames[frame].function
    for _ in range(STEPS):
        while isinstance(value, ins.Op) and value.op == "cast":
            value = value.args[0]
        if isinstance(value, ins.Var):
            member = program.members.get(value.key)
            if member is None:
                return program.variables[value.key].name
            said = {spelling(e) for key, e in member.exprs if key == function}
            return said.pop() if len(said) == 1 else UNSPELLED
        defs = names_of(program).defs.get(("t", frame, value.number), ()) if isinstance(value, ins.Temp) else ()
        action = program.graph.nodes[defs[0]].action if len(defs) == 1 else None
        if isinstance(action, ins.Load):
            e = Expressions(program).of(function, action)
            return UNSPELLED if e is None else spelling(e)
        if not isinstance(action, ins.Define):
            return UNSPELLED
        value = action.value
    return UNSPELLED


def added_to(program: Program, frame: int, value: ins.Operand) -> str:
    """The variable, of a function itself, from which a pointer is computed that is a place in a block; '' for none."""
    names, inside = names_of(program), False
    for _ in range(STEPS):
        while isinstance(value, ins.PtrAdd) or (isinstance(value, ins.Op) and value.op == "cast"):
            inside = inside or isinstance(value, ins.PtrAdd)
            value = value.base if isinstance(value, ins.PtrAdd) else value.args[0]
        if isinstance(value, ins.Var) and inside:
            return program.variables[value.key].name
        name = names.name(frame, value)
        actions = [program.graph.nodes[n].action for n in (names.defs.get(name, ()) if name is not None else ())]
        actions = [one for one in actions if not isinstance(one, ins.Birth)]
        action = actions[0] if len(actions) == 1 else None
        if not isinstance(action, ins.Define):
            break
        value = action.value
    return ""


def sets_null(action: object) -> bool:
    """A node sets a pointer to NULL, or to a NULL that a function returns."""
    value = action.value if isinstance(action, (ins.Define, Unbind)) else None
    return _is_null(value)


def given_there(program: Program, n: int, pointer: ins.Operand) -> list[int]:
    """Instead of a call that passes NULL for a parameter: those that pass something else; another node as it is."""
    action = program.graph.nodes[n].action
    if not isinstance(action, Bind) or not isinstance(pointer, ins.Var) or not _passes_null(action, pointer.key):
        return [n]
    binds = ((node.number, node.action) for node in program.graph.nodes if isinstance(node.action, Bind))
    return [m for m, bind in binds if pointer.key in bind.params and not _passes_null(bind, pointer.key)] or [n]


def _passes_null(bind: Bind, key: str) -> bool:
    return key in bind.params and _is_null(bind.args[bind.params.index(key)])


def _is_null(value: ins.Operand | None) -> bool:
    while isinstance(value, ins.Op) and value.op == "cast":
        value = value.args[0]
    return isinstance(value, ins.Const) and value.value == 0 and value.name in ("", "NULL")


def given_away(program: Program, o: int) -> tuple[int, str] | None:
    """(node, what it does) of what passes an object as a value, or moves it."""
    points_to, graph, symbols = program.points_to, program.graph, program.values.symbols
    deeper: tuple[int, str] | None = None
    for node in graph.nodes:
        action = node.action
        if isinstance(action, Bind):
            for key, operand in zip(action.params, action.args, strict=True):
                if not program.variables[key].type.is_scalar and o in points_to.operand(action.caller, operand):
                    return node.number, "is passed as a value"
        elif isinstance(action, Unbind) and action.value is not None:
            made = graph.returned(action.callee)
            returned = points_to.operand(action.callee, action.value)
            if (made is None or not made.is_scalar) and o in returned:
                return node.number, "is returned as a value"
        elif isinstance(action, ins.CallInstr) and node.number not in graph.followed:
            effect = names_of(program).effect(action)
            if effect is None or effect.frees is None or effect.frees.arg >= len(action.args):
                continue
            freed = points_to.operand(node.frame, action.args[effect.frees.arg])
            given = program.values.args.get(node.number, ())[effect.frees.arg :][:1]
            plain = effect.allocates is None and not effect.frees.indirect
            if o in freed and plain and any(symbols.base(symbols.not_null(value)) is not None for value in given):
                deeper = deeper or (node.number, FREED)  # known here, not where it calls itself
            elif o in freed:
                moved = "is moved" if freed == {o} else "may be what is moved"
                what = moved if effect.allocates is not None else FREED
                return node.number, what
    for use in collect(program):
        action = graph.nodes[use.node].action
        assert isinstance(action, ins.CallInstr)
        if o == use.object:
            e, does = uncast(use.call.args[use.argument]), "sent from" if use.side == "send" else "received into"
            part = e.operand if isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.Member) else None
            return use.node, f"is what a message is {does}{'' if part is None else f', as `{spelling(part)}`,'}"
        if o in points_to.operand(graph.nodes[use.node].frame, action.args[use.argument]):
            return use.node, "may be what a message is sent from or received into"
    return deeper


def not_fresh(program: Program, n: int) -> str:
    """What a node sets a pointer to that is not known to be memory of its own, in words."""
    node, names = program.graph.nodes[n], names_of(program)
    action: object = node.action
    for _ in range(STEPS):
        value: ins.Operand | None = getattr(action, "value", None)
        while isinstance(value, ins.Op) and value.op == "cast":
            value = value.args[0]
        name = names.name(node.frame, value) if isinstance(value, ins.Temp) else None
        actions = [program.graph.nodes[d].action for d in (names.defs.get(name, ()) if name else ())]
        action = actions[0] if len(actions) == 1 else None
        if not isinstance(action, ins.Define):
            break
    callee = action.callee if isinstance(action, ins.CallInstr) else None
    key = callee.key if isinstance(callee, ins.AddrFunc) else ""
    key = program.graph.frames[action.callee].function if isinstance(action, Unbind) else key
    key = action.functions[0] if isinstance(action, Lost) and action.functions else key
    what = f"what `{key.rpartition(':')[2]}` returns, which" if key else "what"
    return f"{what} is not known to be fresh memory of its own"


def does_to(program: Program, n: int, kind: str, known: bool, name: str) -> str:
    """What an access does to a pointer in a struct that is no plain load or store of it.

    known: it is not at a computed place in just this object.
    """
    action, verb = program.graph.nodes[n].action, "write" if kind == "W" else "read"
    match action:
        case ins.CopyBytes():
            return f"copies the struct with {name}"
        case ins.CallInstr(call=ast.Call(callee=ast.FuncRef(name=called))):
            effect = names_of(program).effect(action)
            if effect is not None and effect.allocates is not None and effect.allocates.into is not None:
                other = "malloc, or a function of its own that returns the memory, would let others be looked at"
                return f"gives {name} memory of `{called}`, by its address; {other}"
            return f"calls `{called}`, which {'writes' if kind == 'W' else 'reads'} the bytes of {name}"
        case ins.Load(type=type_) | ins.Store(type=type_) if not type_.is_pointer:
            return f"may {verb} {name} as something else than a pointer"
        case ins.Load(type=type_) | ins.Store(type=type_) if type_.volatile or type_.atomic:
            return f"{verb}s {name} as volatile or atomic"
    if not known:
        return f"may {verb} {name}, at a place that the program computes"
    return f"may {verb} {name}, or the same member of another struct, as it cannot be told which one"


def of_a_call(program: Program, info: Object, name: str) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """Why a pointer in a variable is one of several: a function has its variables in each call."""
    variable = program.variables[info.variable or ""]
    function, called = program.functions.get(variable.function), variable.name
    if function is None:
        what = "each thread has its own" if variable.thread_local else "it is defined in a file that was not read"
        return f"`{name}` is not one pointer: of `{called}`, {what}", ((variable.span, "declared here"),)
    loop = _declared_in(function, variable)
    each = f"each call of `{function.name}`" if loop is None else f"each turn of the loop in {line_of(loop)}"
    message = f"`{name}` may be one of several pointers: {each} has its own `{called}`"
    for e in function_expressions(function):
        if not isinstance(e, ast.Call) or not isinstance(e.callee, ast.FuncRef):
            continue
        for given in e.args:
            address = uncast(given)
            own = address.operand if isinstance(address, ast.AddrOf) else None
            if isinstance(own, ast.VarRef) and own.var == variable.key:
                key = e.callee.name
                to = program.functions[key].name if key in program.functions else key
                message += f", and {line_of(e.span)} gives the address of that to `{to}`"
                return message, ((e.span, "its address is given away here"),)
    return message, ((variable.span, "declared here"),)


def _declared_in(function: ast.Function, variable: ast.Variable) -> Span | None:
    """The innermost loop in which a variable is declared."""
    at = variable.span
    spans = (s.span for s, _ in statements(function.body) if repeats(s))
    around = [span for span in spans if span.file == at.file and span.begin <= at.begin < span.end]
    return max(around, key=lambda span: span.begin, default=None)


def first_row(argument: ast.Expr) -> bool:
    """The first pointer of a table, which may be that to the block in which all of its rows lie."""
    row = row_of(argument)
    return isinstance(row, ast.Index) and is_zero(row.index)


def first_of_rows(use: Use) -> bool:
    """A message of several rows that begins with the first of a table, whose numbers count from 0 or from 1:
    ``&a[0][1]``.
    """
    e, tables = uncast(use.call.args[use.argument]), 0
    e = uncast(e.operand) if isinstance(e, ast.AddrOf) else e
    while isinstance(e, ast.Index) and isinstance(index := uncast(e.index), ast.IntLit) and index.value in (0, 1):
        tables += e.type.is_pointer
        e = uncast(e.base)
    return isinstance(e, (ast.VarRef, ast.Member)) and tables > 0 and several_rows(use)


def times_as_much(use: Use, e: ast.Expr) -> bool:
    """A number, or a place, is a product of how long a message is, by the words of its count: ``a + (n - 1) * len``."""
    count = uncast(use.call.args[use.buffer.count]) if use.buffer.count is not None else None
    products = (product for product in within(e) if isinstance(product, ast.Binary) and product.op == "*")
    parts = (uncast(part) for product in products for part in (product.left, product.right))
    return isinstance(count, (ast.VarRef, ast.Member, ast.Binary)) and any(in_same_words(e, count) for e in parts)


def takes_all(program: Program, use: Use, blocks: Iterable[int]) -> bool:
    """A message is as long as each block of memory in which it may lie, so it takes the rows of a table with it."""
    return use.length is not None and as_long_as(program, use.length, blocks)


def as_long_as(program: Program, length: Poly, blocks: Iterable[int]) -> bool:
    """So many bytes are all of each of some blocks of memory."""
    values, found = program.values, False
    for n in (n for o in blocks if o >= 0 for n in values.objects.table[o].nodes):
        action, given = program.graph.nodes[n].action, values.args.get(n, ())
        made = names_of(program).effect(action) if isinstance(action, ins.CallInstr) else None
        factors = made.allocates.size if made is not None and made.allocates is not None else None
        if factors is None or not given or any(f.kind not in ("const", "arg") for f in factors):
            return False
        size = ONE
        for factor in factors:
            size = size * (given[factor.value] if factor.kind == "arg" else number(factor.value))
        if values.symbols.resolve(size) != values.symbols.resolve(length):
            return False
        found = True
    return found


def brings_all(roots: Roots, received: Use, use: Use, blocks: Iterable[int]) -> bool:
    """A receive brings all bytes of a message's memory, or as many as the message has to the place where it begins."""
    program = roots.program
    if received.side != "recv":
        return False
    argument = received.call.args[received.argument]
    if not _inside(roots, received):
        if has_gaps(program, received):
            return False
        return not _inside(roots, use) or several_rows(received) or takes_all(program, received, blocks)
    if first_row(argument) and takes_all(program, received, blocks):
        return True
    if received.length is None or use.length is None:
        return False
    resolve = program.values.symbols.resolve
    if same_place(argument, use.call.args[use.argument]) and _inside(roots, use):
        return resolve(received.length) == resolve(use.length)
    if not first_row(use.call.args[use.argument]):
        return False
    return first_row(argument) and resolve(received.length) == resolve(use.length)


def _inside(roots: Roots, use: Use) -> bool:
    """A message begins elsewhere than the memory that its name stands for."""
    argument = use.call.args[use.argument]
    found = roots.of(argument, roots.graph.nodes[use.node].frame)
    return is_inside(argument) or (found is not None and (found.inside or found.moved))


def named_row(e: ast.Expr) -> tuple[str, str] | None:
    """The table and the variable by which a row is named: ``a`` and ``i`` of ``a[i]``, ``&a[i][k]``."""
    while True:
        match e:
            case ast.Index(base=ast.VarRef(var=table), index=index) if e.type.is_pointer:
                index = uncast(index)
                return (table, index.var) if isinstance(index, ast.VarRef) else None
            case ast.Index(base=inner) | ast.Cast(operand=inner) | ast.AddrOf(operand=inner) | ast.Deref(operand=inner):
                e = inner
            case _:
                return None


def other_turns_rows(
    program: Program, use: Use, nodes: Iterable[int], lvalues: Callable[[int], Iterable[ast.Expr]]
) -> set[int]:
    """Those of some nodes that name a row by the words of a call, before it in a turn of a loop that counts rows on:
    after the call they come to in another turn, and name another row then.
    """
    row, blocks = named_row(use.call.args[use.argument]), moving_loop(program, use)
    loops = [loop.number for loop in program.nest.loops if frozenset(loop.blocks) == blocks]
    inner = {n for n in nodes if row is not None and program.graph.nodes[n].block in blocks and n != use.node}
    early = {n for n in inner if loops and not in_turn(program, use.node, n, loops)}
    return {n for n in early if (rows := [named_row(e) for e in lvalues(n)]) and all(r == row for r in rows)}


def row_of(argument: ast.Expr) -> ast.Expr | None:
    """The pointer from a table that an argument is: ``a[i]``, ``&a[i][0]``."""
    e = uncast(argument)
    if isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.Index) and is_zero(e.operand.index):
        e = uncast(e.operand.base)
    return e if isinstance(e, ast.Index) and e.type.is_pointer else None


def other_row(argument: ast.Expr, lvalues: Iterable[ast.Expr], own: bool) -> bool:
    """All that is named are rows by other constants than that of an argument.  own: each row is a block of its own."""
    mine = row_of(argument)
    if not own or not isinstance(mine, ast.Index) or not isinstance(uncast(mine.index), ast.IntLit):
        return False
    found = [row for row in map(row_within, lvalues) if row is not None and spelling(row.base) == spelling(mine.base)]
    numbers = [uncast(row.index) for row in found]
    return bool(numbers) and all(isinstance(k, ast.IntLit) and k != uncast(mine.index) for k in numbers)


def row_within(e: ast.Expr) -> ast.Index | None:
    """The pointer from a table through which an lvalue, or an address, goes: ``a[i]`` of ``a[i][j]``, ``a[i] + 1``."""
    while not (isinstance(e, ast.Index) and e.type.is_pointer):
        match e:
            case ast.Binary(op="+" | "-", left=inner) if e.type.is_pointer and inner.type.is_pointer:
                e = inner
            case ast.Index(base=inner) | ast.Cast(operand=inner) | ast.AddrOf(operand=inner) | ast.Deref(operand=inner):
                e = inner
            case _:
                return None
    return e


def member_of(name: str) -> str:
    return name.rpartition("->")[2].rpartition(".")[2]


def member_in(program: Program, buffer: Buffer, n: int, name: str) -> str:
    """A member of a struct as the function of a node writes it: `p->data` where another function has `p.data`."""
    member, node = program.members.get(buffer.carrier.variable), program.graph.nodes[n]
    if member is None or name != buffer.name or "[" in name:
        return name
    function = program.graph.frames[node.frame].function
    here = {spelling(base_of(place)) for key, place in member.exprs if key == function} - {UNSPELLED}
    action, named = node.action, list[ast.Expr]()
    if isinstance(action, ins.CallInstr):
        named = list(action.call.args)
    elif (e := Expressions(program).of(function, action)) is not None:
        named = [e]
    said = here.intersection(spelling(base_of(e)) for e in named)
    found = said or here
    return next(iter(found)) if len(found) == 1 else name


def by_another_function(program: Program, use: Use, n: int) -> str:
    """The pointer by which a node reads memory that the call names by a local variable, where that is not there."""
    node, base = program.graph.nodes[n], base_of(use.call.args[use.argument])
    if not isinstance(node.action, ins.Load) or not isinstance(base, ast.VarRef):
        return ""
    e = Expressions(program).of(program.graph.frames[node.frame].function, node.action)
    if program.variables[base.var].is_global:
        read = None if e is None else base_of(e)
        other = read.var if isinstance(read, ast.VarRef) and read.type.is_pointer else base.var
        return program.variables[other].name if other != base.var and program.variables[other].is_global else ""
    if called_from(program, n, use.node) is not None:
        return ""
    named = UNSPELLED if e is None else spelling(base_of(e))
    return "" if named in (UNSPELLED, spelling(base)) else named


def words_at(program: Program, buffer: Buffer, n: int) -> str:
    """The variable by which a node names a buffer, where that is another one of its function: a parameter, say."""
    node = program.graph.nodes[n]
    use = next((u for u in buffer.uses if u.node == n), None)
    key = program.graph.frames[node.frame].function
    e = Expressions(program).of(key, node.action) if use is None else use.call.args[use.argument]
    e = None if e is None else base_of(e)
    local = isinstance(e, ast.VarRef) and program.variables[e.var].function == key
    return spelling(e) if local and e is not None and not buffer.carrier.rows else buffer.name


def set_through(program: Program, use: Use) -> tuple[tuple[Span, str], ...]:
    """Where the local pointer that a call names is set by its address: a function that makes it change places, say."""
    base, names, frame = base_of(use.call.args[use.argument]), names_of(program), program.graph.nodes[use.node].frame
    if not isinstance(base, ast.VarRef):
        return ()
    written = names.writes(program.values.objects.variable(frame, base.var))
    nodes = (program.graph.nodes[a.node] for a in written)
    stores = (node for node in nodes if isinstance(node.action, ins.Store) and node.frame != frame)
    found = (called_in(program, node.number, frame) for node in stores)
    return tuple(dict.fromkeys((names.span(n), f"`{spelling(base)}` is set here") for n in found if n is not None))[:1]


def sends_too(use: Use, n: int, others: Iterable[Use]) -> bool:
    """A node has a send that may be of a message's own bytes: it is not written to begin where that ends, or so many
    times as far in.
    """
    sent = (u.call.args[u.argument] for u in others if u.side == "send")
    return any(n == use.node or not (times_as_much(use, e) or begins_behind(use, e)) for e in sent)
