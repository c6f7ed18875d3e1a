"""Where a pointer that may stand for several blocks is set: a variable's own lines, or those of what it is given."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from opi_xform.codes import Reason
from opi_xform.graph.graph import Bind
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import NOWHERE, Span
from opi_xform.ir.walk import repeats, statements, within_statement
from opi_xform.ownership.allocation.deallocations import Deallocation
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.other_pointers import sets_null
from opi_xform.ownership.explain.reaching.in_force import of_the_site
from opi_xform.ownership.explain.reasons import named_in, other_variable
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import POINTER_BYTES, UNSPELLED, function_expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of, is_zero, member_key

STEPS = 8  # parameters that are followed to what they are given
SHOWN = 3
OTHERWISE = "it is set to something else here"

Notes = tuple[tuple[Span, str], ...]


def set_at(program: Program, objects: Iterable[int], alone: bool = False, at: int | None = None) -> tuple[Span, ...]:
    """Where pointers are set to something else than a constant, if that is in several lines; alone: if in one.

    at: a node; where several of them lead there, only those.
    """
    names, found = names_of(program), list[int]()
    for n in (n for o in objects for n in names.defs.get(("v", o, 0), ())):
        if not _constant(program, n):
            found.append(n)
    near = [] if at is None else of_the_site(program, found, [at])
    for nodes in (near, found):
        spans = dict.fromkeys(map(names.span, nodes))
        if len({(span.file, span.line) for span in spans}) > 1:
            return () if alone else _in_order(spans)
    return _in_order(spans) if alone else ()


def _constant(program: Program, n: int) -> bool:
    match program.graph.nodes[n].action:
        case ins.Birth() | ins.Define(value=ins.Const()):
            return True
        case _:
            return False


def set_by_unknown(program: Program, pointer: ins.Operand) -> tuple[str, Span] | None:
    """The function of which nothing is known that is given a pointer's address; and where."""
    wanted = pointer.key if isinstance(pointer, ins.Var) else None
    for node in program.graph.nodes if wanted is not None else ():
        action = node.action
        if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
            continue
        key = action.callee.key
        given = {a.key for a in map(_without_steps, action.args) if isinstance(a, ins.AddrVar)}
        if key not in program.functions and key not in program.effects and wanted in given:
            return key, node_span(program, node.number)
    return None


def freed_refusal(program: Program, buffer: Buffer, n: int, argument: int) -> Refusal:
    """What a call frees may be a buffer or something else: the pointer that it names may be set to either."""
    action = program.graph.nodes[n].action
    assert isinstance(action, ins.CallInstr)
    args = action.call.args
    e = base_of(args[argument]) if argument < len(args) else None
    name = UNSPELLED if e is None else spelling(e)
    line, which = line_of(node_span(program, n)), "which is not known there"
    if isinstance(e, ast.VarRef) and name != buffer.name:
        frame = -1 if program.variables[e.var].is_global else program.graph.nodes[n].frame
        places = set_at(program, (program.values.objects.variable(frame, e.var),), at=n)
        if places:
            message = f"{line} frees `{name}`, which may be `{buffer.name}` or other memory; {which}"
            return Refusal(Reason.NO_ANCHOR, message, tuple((span, f"`{name}` is set here") for span in places))
    places = set_at(program, program.values.objects.by_name.get(buffer.carrier.variable, ()))
    notes = tuple((span, f"`{buffer.name}` is set here") for span in places)
    return Refusal(Reason.NO_ANCHOR, f"{line} frees `{buffer.name}` or other memory; {which}", notes)


def freed_elsewhere(program: Program, buffer: Buffer, freed: Deallocation) -> Refusal:
    """A block of a buffer is freed by another name than that of the buffer, which may stand for other blocks, too."""
    nodes, names = program.graph.nodes, names_of(program)
    action = nodes[freed.node].action
    assert isinstance(action, ins.CallInstr)
    span, name = names.span(freed.node), spelling(base_of(action.call.args[freed.argument]))
    by = f"`{name}`" if name != UNSPELLED else "an address that is no name of it"
    function = program.functions[program.graph.frames[nodes[freed.node].frame].function]
    given = any(program.variables[key].name == name for key in function.params)
    if name == buffer.name:
        by = f"the `{name}` of `{function.name}`"
    elif given:
        by = f"{by}, a parameter of `{function.name}`"
    if given:
        by += f"; only a function that frees its one parameter, and does nothing else, counts as `free` of `{name}`"
    table, known = program.values.objects.table, [o for o in buffer.objects if o >= 0]
    made = _in_order({names.span(n) for o in known for m in table[o].members or (o,) for n in table[m].nodes})
    message = f"`{buffer.name}` is freed at {line_of(span)} by another name, {by}"
    if len(made) > 1:
        message = f"`{buffer.name}` stands for several blocks, and {line_of(span)} frees one by another name, {by}"
    places = tuple((place, "one is allocated here") for place in made[:SHOWN] if len(made) > 1)
    return Refusal(Reason.NO_ANCHOR, message, ((span, "freed here"), *places))


def read_as_one_of_several(program: Program, use: Use, n: int) -> Refusal | None:
    """What a receive brings is read by another variable's name, which may as well stand for what others bring."""
    key = other_variable(program, use, n)
    if key is None or use.side != "recv":
        return None
    frame = -1 if program.variables[key].is_global else program.graph.nodes[n].frame
    places = set_at(program, (program.values.objects.variable(frame, key),), at=n)
    if not places:
        return None
    name, read = program.variables[key].name, node_span(program, n)
    message = f"{line_of(read)} reads `{named_in(use)}` as `{name}`, which may stand for several buffers"
    notes = ((span, f"`{name}` is set here") for span in places[:SHOWN])
    return Refusal(Reason.SEVERAL_BUFFERS, f"{message}: it is set at {lines_of(places)}", tuple(notes))


def settings(program: Program, address: ins.Operand, at: int, root: str) -> Notes:
    """The first places at which the pointer of an address is set, where there are several: those that lead to a node.

    A parameter that has one value goes by the variable that the call names for it.
    """
    names, nodes, frame = names_of(program), program.graph.nodes, program.graph.nodes[at].frame
    for _ in range(STEPS):
        address = _without_steps(address)
        name = names.name(frame, address)
        found = names.defs.get(name, ()) if name is not None else ()
        defs = [n for n in found if not isinstance(nodes[n].action, ins.Birth)]
        first = nodes[defs[0]].action if len(defs) == 1 else None
        if isinstance(first, Bind) and isinstance(address, ins.Var) and address.key in first.params:
            address, frame, at = first.args[first.params.index(address.key)], first.caller, defs[0]
        elif isinstance(first, ins.Define) and isinstance(address, ins.Temp):
            address, at = first.value, defs[0]
        elif isinstance(first, ins.Load) and isinstance(place := _without_steps(first.address), ins.AddrVar):
            variable = program.variables[place.key]  # its address is taken somewhere
            o = program.values.objects.variable(-1 if variable.is_global else frame, variable.key)
            return _notes(
                _written(program, o, defs[0]), root if variable.type.kind == "record" else variable.name, root
            )
        else:
            called = program.variables[address.key].name if isinstance(address, ins.Var) else root
            placed = [n for n in defs if not isinstance(nodes[n].action, Bind) and not sets_null(nodes[n].action)]
            near = map(names.span, of_the_site(program, placed, [at]))
            return _notes(map(names.span, placed), called, root, list(near))
    return ()


def set_elsewhere(program: Program, address: ins.Operand, at: int, root: str, name: str) -> tuple[str, Notes] | None:
    """What is said of a parameter that points to an object: the variable that a caller passes, and what sets that."""
    names, nodes, frame, passed = names_of(program), program.graph.nodes, program.graph.nodes[at].frame, ""
    for _ in range(STEPS):
        address = _without_steps(address)
        name_ = names.name(frame, address)
        found = names.defs.get(name_, ()) if name_ is not None else ()
        defs = [n for n in found if not isinstance(nodes[n].action, ins.Birth) and not sets_null(nodes[n].action)]
        first = nodes[defs[0]].action if len(defs) == 1 else None
        spans: list[Span] = []
        if isinstance(first, Bind) and isinstance(address, ins.Var) and address.key in first.params:
            if program.graph.frames[first.caller].function not in program.functions:
                break  # what is not read calls it
            address, frame = first.args[first.params.index(address.key)], first.caller
            continue
        if isinstance(first, ins.Define) and isinstance(address, ins.Temp):
            address = first.value
            continue
        if isinstance(first, ins.Load) and isinstance(place := _without_steps(first.address), ins.AddrVar):
            variable = program.variables[place.key]
            o = program.values.objects.variable(-1 if variable.is_global else frame, variable.key)
            spans, passed = list(dict.fromkeys(_written(program, o, defs[0]))), variable.name
        elif isinstance(address, ins.Var) and len(defs) == 1:
            spans, passed = [names.span(defs[0])], program.variables[address.key].name
        break
    key = address.key if isinstance(address, ins.Var) else ""
    function = program.functions.get(program.graph.frames[frame].function)
    if not program.complete and function is not None and key in function.params and not spans:
        message = f"could not show which buffer `{name}` is: other files may call `{function.name}`, and give it any"
        return f"{message} `{program.variables[key].name}`", ((function.span, "its parameter"),)
    spans = [span for span in spans if span != NOWHERE]
    if len(spans) != 1 or not passed or passed == root:
        return None
    message = f"`{root}` is `{passed}` there, which {line_of(spans[0])} sets, and which object that points to is not"
    return f"{message} known: `{name}` may be any of several buffers", ((spans[0], f"`{passed}` is set here"),)


def one_of_several_freed(program: Program, n: int, name: str) -> tuple[str, Notes] | None:
    """A node frees a struct by a pointer that is set in several places: that of a call's pointer may be it."""
    action = program.graph.nodes[n].action
    effect = names_of(program).effect(action) if isinstance(action, ins.CallInstr) else None
    if not isinstance(action, ins.CallInstr) or effect is None or effect.frees is None:
        return None
    argument, e = action.args[effect.frees.arg], base_of(action.call.args[effect.frees.arg])
    places = settings(program, argument, n, spelling(e))
    if not places or spelling(e) == UNSPELLED:
        return None
    called, span = places[0][1].partition("`")[2].partition("`")[0], node_span(program, n)
    message = f"{line_of(span)} frees one of several structs, by `{spelling(e)}`, and that of `{name}` may be it"
    message += f": `{called}` is set at {lines_of(place for place, _ in places)}"
    return message, ((span, "freed here"), *places)


def set_nowhere(program: Program, address: ins.Operand, frame: int) -> str:
    """The variable, of a function itself, from which an address comes and that no line sets; '' for none."""
    names, nodes = names_of(program), program.graph.nodes
    for _ in range(STEPS):
        address = _without_steps(address)
        name = names.name(frame, address)
        found = names.defs.get(name, ()) if name is not None else ()
        defs = [n for n in found if not isinstance(nodes[n].action, ins.Birth)]
        first = nodes[defs[0]].action if len(defs) == 1 else None
        if isinstance(first, Bind) and isinstance(address, ins.Var) and address.key in first.params:
            address, frame = first.args[first.params.index(address.key)], first.caller
        elif isinstance(first, ins.Define):
            address = first.value
        else:
            break
    variable = program.variables.get(address.key) if isinstance(address, ins.Var) and not defs else None
    return "" if variable is None or variable.kind != "local" else variable.name


def never_set(program: Program, address: ins.Operand, at: int, root: str) -> tuple[str, Notes] | None:
    """The pointer of an address is read from an allocated struct in which nothing sets it."""
    names, values = names_of(program), program.values
    name, found, action = names.name(program.graph.nodes[at].frame, _without_steps(address)), list[int](), None
    for _ in range(STEPS):
        found = names.defs.get(name, []) if name is not None else []
        action = program.graph.nodes[found[0]].action if len(found) == 1 else None
        if not isinstance(action, ins.Define):
            break
        name = names.name(program.graph.nodes[found[0]].frame, _without_steps(action.value))
    if not isinstance(action, ins.Load):
        return None
    read = values.accesses.placed(found[0])
    table = values.objects.table
    if not read or any(a.lo is None or a.lo.constant is None or table[a.object].kind != "heap" for a in read):
        return None
    if len({a.object for a in read}) != len(set(values.accesses.objects(found[0]))):
        return None
    for a in read:
        start = a.lo.constant if a.lo is not None else None
        for w in names.writes(a.object):
            lo = None if w.lo is None else w.lo.constant
            length = None if w.length is None else w.length.constant
            if lo is None or length is None or start is None or lo - POINTER_BYTES < start < lo + length:
                return None
    made = _in_order({names.span(n) for a in read for n in table[a.object].nodes})
    struct = "the struct" if len(read) == 1 else "the structs"
    message = f"no line sets `{root}` in {struct} that {lines_of(made)} allocate{'s' if len(made) == 1 else ''}"
    return message, tuple((span, "allocated here") for span in made[:SHOWN])


def set_once(message: str, root: str, name: str, notes: Notes) -> tuple[str, Notes]:
    """What is said of a pointer of which one setting leads to the call, and another one may not."""
    others = [span for span, words in notes if words == OTHERWISE]
    if others and notes[0][1] == f"`{root}` is set here":
        alone = f"could not show that `{root}` points to what {line_of(notes[0][0])} sets it to, and not to what"
        message = f"{alone} {lines_of(others)} does, so `{name}` may be any of several buffers"
    return message, notes


def set_by_calls(program: Program, e: ast.Expr) -> tuple[str, Notes] | None:
    """Where the pointers of a table in a struct, which is not known, are set by functions that allocate: by the table's
    own member, of whatever struct.  None: they are set to something else, too, or to nothing.
    """
    name, table = spelling(e), base_of(e.base) if isinstance(e, ast.Index) else None
    if not isinstance(table, ast.Member):
        return None
    found: dict[Span, str] = {}
    in_turns: set[Span] = set()
    for function in program.functions.values():
        loops = [s for s, _ in statements(function.body) if repeats(s)]
        for a in function_expressions(function):
            if not isinstance(a, ast.Assign) or not isinstance(a.target, ast.Index) or is_zero(a.value):
                continue
            set_in, value = base_of(a.target.base), base_of(a.value)
            if not isinstance(set_in, ast.Member) or member_key(set_in) != member_key(table):
                continue
            callee = value.callee if isinstance(value, ast.Call) else None
            effect = program.effects.get(callee.name) if isinstance(callee, ast.FuncRef) else None
            if a.op or effect is None or effect.allocates is None or not isinstance(callee, ast.FuncRef):
                return None
            found[a.span] = callee.name
            inside = any(x is a for loop in loops for x in within_statement(loop, function.variables))
            if inside and effect.frees is None:
                in_turns.add(a.span)
    if not found:
        return None
    places = _in_order(found)[:SHOWN]
    calls = " and ".join(f"`{called}`" for called in dict.fromkeys(found[span] for span in places))
    sets = f"{lines_of(places)} set{'s' if len(places) == 1 else ''} it by {calls}"
    more = ", and other lines do" if len(found) > len(places) else ""
    message = f"could not show which block `{name}` is: {sets}{more}"
    if in_turns.issuperset(found) and not more:
        makes = f"{lines_of(places)} make{'s' if len(places) == 1 else ''} by {calls}, one in each turn of a loop"
        message = f"could not show which of the blocks `{name}` is that {makes}"
    return message, tuple((span, f"`{name}` is set here") for span in places)


def _written(program: Program, o: int, n: int) -> Iterator[Span]:
    """What sets the pointer that a node reads from a variable: of a struct, the same member."""
    names, accesses = names_of(program), program.values.accesses
    at = {a.lo.constant for a in accesses.placed(n) if a.object == o and a.lo is not None}
    for a in names.writes(o):
        lo = None if a.lo is None else a.lo.constant
        action = program.graph.nodes[a.node].action
        null = isinstance(action, ins.Store) and isinstance(action.value, ins.Const)
        if not null and (None in at or lo is None or lo in at):
            yield names.span(a.node)


def _without_steps(address: ins.Operand) -> ins.Operand:
    while isinstance(address, ins.PtrAdd) or (isinstance(address, ins.Op) and address.op == "cast"):
        address = address.base if isinstance(address, ins.PtrAdd) else address.args[0]
    return address


def apart(program: Program, found: Iterable[int]) -> tuple[Span, ...]:
    """The lines of nodes; of copies of one line, those of the calls by which they come there."""
    names, graph, nodes = names_of(program), program.graph, list(found)
    spans = [names.span(n) for n in nodes]
    while len(nodes) > 1 and len(set(spans)) == 1:
        nodes = [graph.frames[graph.nodes[n].frame].call for n in nodes]
        if min(nodes) < 0:
            break
        spans = [names.span(n) for n in nodes]
    return tuple(dict.fromkeys(spans))


def _notes(spans: Iterable[Span], name: str, root: str, near: Collection[Span] | None = None) -> Notes:
    """near: which of them are told; all, where it is None."""
    found = _in_order(span for span in dict.fromkeys(spans) if span != NOWHERE)
    words = f"`{name}` is set here" if name == root else f"`{name}`, which is passed as `{root}`, is set here"
    shown = [span for span in found if near is None or span in near]
    others = [span for span in found if span not in shown] if len(shown) == 1 and name == root else []
    notes = [*((span, words) for span in shown), *((span, OTHERWISE) for span in others)]
    return tuple(notes[:SHOWN]) if len(found) > 1 else ()


def _in_order(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(sorted(spans, key=lambda span: (span.file, span.begin)))
