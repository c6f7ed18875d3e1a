"""Why the layout of a message is not known: the calls that make its datatype, as far as the program's text tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opi_xform.codes import Reason
from opi_xform.effects.datatypes import load_datatypes
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import Callers, called_name, callers_of, calls_of
from opi_xform.ir.span import Span
from opi_xform.ir.walk import expressions, statements, uncast, within
from opi_xform.memory.extent import gaps
from opi_xform.once import once
from opi_xform.ownership.buffers.uses import datatype_of
from opi_xform.ownership.explain.reaching.in_force import calls_for
from opi_xform.ownership.model.buffers import Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import UNSPELLED, Expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import read_from_memory
from opi_xform.ownership.spelling.mentions import Texts

_MAKERS = re.compile(r"P?MPI_Type_(?:create_\w+|contiguous|vector|h?indexed|hvector|struct|match_size|dup)(?:_c)?\Z")
_SHOWN = 3
_SMALL = 16  # a factor that is no number of rows
NOT_BROUGHT = " that this receive does not bring"  # ends of sentences, to which more may be added
_STRUCTS = ("MPI_Type_create_struct", "MPI_Type_struct")
SURELY_WRITTEN = " are surely written after this send"


def layout_refusal(program: Program, use: Use) -> Refusal:
    """Of a message whose datatype may have gaps."""
    text = gaps(datatype_of(program, use))
    at = use.buffer.type
    given = use.call.args[at] if at is not None and at < len(use.call.args) else None
    if (found := _of_another_mpi(program, given)) is not None:
        return found
    made = _makers(program, use, given) if given is not None else []
    if given is not None and not made and 1 < len(sets := _set_to_constants(program, given)) <= _SHOWN:
        text = f"could not show which datatype `{spelling(given)}` is: it is set at {lines_of(sets)}"
        return Refusal(Reason.CALL_FORM, text, tuple((span, f"`{spelling(given)}` is set here") for span in sets))
    if given is not None and not made and (known := _given_constants(program, given)) is not None:
        function, ((one, first), *others) = known
        apart = f"with `{one}` at {line_of(first)}" + "".join(f" and with `{n}` at {line_of(s)}" for n, s in others[:1])
        text = f"could not show which datatype `{spelling(given)}` is: `{function.name}` is called {apart}"
        notes = tuple((span, f"`{name}` is given here") for name, span in ((one, first), *others[:1]))
        return Refusal(Reason.CALL_FORM, text, notes)
    if given is None or not made or len(made) > _SHOWN or text.startswith("`"):
        return Refusal(Reason.CALL_FORM, text)
    if all(_gapless(call) or _one_block(call) for call in made):
        named = f"`{written}`" if (written := spelling(given)) != UNSPELLED else "the datatype"
        where = lines_of(call.span for call in made)
        text = f"could not show how long {named} is, which `{called_name(made[0])}` makes at {where}"
        return Refusal(Reason.CALL_FORM, text, tuple((call.span, "made here") for call in made))
    each = " or ".join(f"`{called_name(call)}` at {line_of(call.span)}" for call in made)
    notes = tuple((call.span, "made here") for call in made)
    shown = "could not show that the datatype has no gaps" + (", or which one it is" if len(made) > 1 else "")
    if name := beyond_variable(program, use):
        shown = f"could not show that the message is of `{name}` alone"
        return Refusal(Reason.CALL_FORM, f"{shown}: its datatype is made by {each}", notes)
    return Refusal(Reason.CALL_FORM, f"{shown}: it is made by {each}", notes)


def one_of_several(program: Program, use: Use) -> bool:
    """Its datatype is one of several that have no gaps: which one it is matters less than what the program reads."""
    at = use.buffer.type
    given = use.call.args[at] if at is not None and at < len(use.call.args) else None
    if given is None or _makers(program, use, given):
        return False
    return len(_set_to_constants(program, given)) > 1 or _given_constants(program, given) is not None


def _of_another_mpi(program: Program, given: ast.Expr | None) -> Refusal | None:
    """A datatype by the name of a predefined one that a file of the program defines, as an ``mpi.h`` beside it does."""
    e = None if given is None else uncast(given)
    variable = (
        program.variables.get(e.operand.var)
        if isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.VarRef)
        else None
    )
    if given is None or variable is None or (name := Texts().of(given.span)) not in load_datatypes():
        return None
    text = f"could not show what `{name}` is: the `mpi.h` that is read is not that of the MPI in use"
    return Refusal(Reason.CALL_FORM, text, ((variable.span, f"`{name}` comes from here"),))


def gaps_of(program: Program, use: Use) -> Refusal | None:
    """What the program makes a message's datatype by, where that may have gaps."""
    if use.length is not None or use.buffer.type is None:
        return None
    found = layout_refusal(program, use)
    return found if found.notes else None


def of_unknown_length(use: Use) -> bool:
    """A message from the beginning of its memory on, of which it is not known how far it goes."""
    start = use.row is not None or (use.lo is not None and use.lo.constant == 0)
    return start and (use.length is None or use.length.constant is None)


def unknown_length(program: Program, use: Use) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """Why it is not known how much a message has: a datatype that the program makes; '' for another cause."""
    at = use.buffer.type
    count = use.call.args[use.buffer.count] if use.buffer.count is not None else None
    known = not isinstance(count, ast.IntLit) or (use.length is not None and use.length.constant is not None)
    given = use.call.args[at] if not known and at is not None and at < len(use.call.args) else None
    made = _makers(program, use, given) if given is not None else []
    if given is None or not made or len(made) > _SHOWN:
        return "", ()
    named = f"`{written}`" if (written := spelling(given)) != UNSPELLED else "the datatype"
    text = f"how much {named} has, which {lines_of(call.span for call in made)} makes, is not known"
    return text, tuple((call.span, "made here") for call in made)


def in_one_block(program: Program, use: Use) -> bool:
    """What makes the datatype of a message makes one block, though by numbers of which that is not seen."""
    at = use.buffer.type
    made = _makers(program, use, use.call.args[at]) if at is not None and at < len(use.call.args) else []
    return bool(made) and all(map(_one_block, made))


def of_one_piece(program: Program, use: Use) -> bool:
    """What makes the datatype of a message puts elements one after the other: only how many is not known."""
    at = use.buffer.type
    made = _makers(program, use, use.call.args[at]) if at is not None and at < len(use.call.args) else []
    return bool(made) and all(map(_gapless, made))


def has_gaps(program: Program, use: Use) -> bool:
    """What makes the datatype of a message puts elements apart from one another, as that of a column does."""
    at = use.buffer.type
    made = _makers(program, use, use.call.args[at]) if at is not None and at < len(use.call.args) else []
    return use.length is None and bool(made) and not all(map(_gapless, made)) and not all(map(_one_block, made))


def of_structs(program: Program, use: Use) -> bool:
    """What makes the datatype of a message is given a struct's members: it need not have gaps, and often has none."""
    at = use.buffer.type
    made = _makers(program, use, use.call.args[at]) if at is not None and at < len(use.call.args) else []
    return bool(made) and all(called_name(call).removeprefix("P") in _STRUCTS for call in made)


def beyond_variable(program: Program, use: Use) -> str:
    """The single number that a message names, where its datatype is that of a struct, and may take in others, too."""
    argument = uncast(use.call.args[use.argument])
    e = argument.operand if isinstance(argument, ast.AddrOf) else None
    if use.length is not None or not isinstance(e, ast.VarRef) or e.type.kind not in ("int", "float"):
        return ""
    return spelling(e) if of_structs(program, use) else ""


def _set_to_constants(program: Program, given: ast.Expr) -> list[Span]:
    """Where a variable that is named as a message's datatype is set; [] where it is set to anything but constants."""
    given = uncast(given)
    if not isinstance(given, ast.VarRef):
        return []
    sets = []
    for e in (e for f in program.functions.values() for whole in expressions(f.body) for e in within(whole)):
        if isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.VarRef) and e.operand.var == given.var:
            return []
        if isinstance(e, ast.Assign) and isinstance(e.target, ast.VarRef) and e.target.var == given.var:
            if not isinstance(uncast(e.value), (ast.IntLit, ast.MacroConst)):  # as the MPIs define theirs
                return []
            sets.append(e.span)
    return sets


def _given_constants(program: Program, given: ast.Expr) -> tuple[ast.Function, list[tuple[str, Span]]] | None:
    """The function of which a message's datatype is a parameter, and what its callers give; None where one gives
    another thing than a constant, or may not be seen.
    """
    given = uncast(given)
    variable = program.variables.get(given.var) if isinstance(given, ast.VarRef) else None
    function = program.functions.get(variable.function) if variable is not None else None
    if not isinstance(given, ast.VarRef) or function is None or given.var not in function.params:
        return None
    calls, at = _callers(program).get(function.key, ()), function.params.index(given.var)
    kinds = [call.args[at] for _, call in calls if at < len(call.args)]
    if not kinds or function.key in program.taken or not (function.static or "main" in program.functions):
        return None
    if not all(isinstance(uncast(kind), (ast.IntLit, ast.MacroConst)) for kind in kinds):
        return None
    out: dict[str, Span] = {}
    for kind in kinds:
        out.setdefault(Texts().of(kind.span), kind.span)
    return function, list(out.items())


@once
def _callers(program: Program) -> Callers:
    return callers_of(program.functions)


def _makers(program: Program, use: Use, given: ast.Expr) -> list[ast.Call]:
    """The calls that may have made the datatype of a message, where its call can be come to from them."""
    made, place = _makers_of(program).of(given), _place(given)
    direct = isinstance(given, ast.VarRef) and all(
        place in {_place(a.operand) for a in call.args if isinstance(a, ast.AddrOf)} for call in made
    )
    return calls_for(program, made, use, direct) if len(made) > 1 else made


def unsigned_count(program: Program, use: Use, n: int) -> str:
    """What a receive brings, where it tells how much by an unsigned number and a node reads it in a loop; '' elsewhere.

    Sums of such numbers may wrap, so less is known of which is the larger one.
    """
    e = uncast(use.call.args[use.buffer.count]) if use.buffer.count is not None else None
    nest, nodes = program.nest, program.graph.nodes
    loops = set(nest.chain(nodes[n].block)) - set(nest.chain(nodes[use.node].block))
    if e is None or e.type.signed or not e.type.is_scalar or not loops or spelling(e) == UNSPELLED:
        return ""
    if use.length is None or use.length.constant is not None:
        return ""
    return f"this receive brings (`{spelling(e)}`, an unsigned number)"


def several_rows(use: Use) -> bool:
    """The count of a message is a product of two numbers that are no constants, as that of a block of rows is."""
    count = None if use.buffer.count is None else use.call.args[use.buffer.count]
    found = [] if count is None else [e for e in within(count) if isinstance(e, ast.Binary) and e.op == "*"]
    constants = (ast.IntLit, ast.SizeOf)
    return any(not any(isinstance(uncast(side), constants) for side in (e.left, e.right)) for e in found)


def wrapping_index(program: Program, use: Use, n: int) -> str:
    """Why it is not known that a node reads no more than a receive of several rows brings, in words: its index is
    computed with unsigned numbers; '' elsewhere.
    """
    node = program.graph.nodes[n]
    e = Expressions(program).of(program.graph.frames[node.frame].function, node.action)
    index = uncast(e.index) if isinstance(e, ast.Index) else None
    if not isinstance(index, ast.Binary) or index.op not in ("+", "-", "*") or index.type.signed:
        return ""
    return ": its index there is an unsigned number, and sums of those may wrap" if several_rows(use) else ""


def counted_anew(program: Program, sent: Use) -> str:
    """The function by which a message that may be of any length computes its count, each time anew; '' for none."""
    if sent.buffer.count is None or sent.length is None or sent.length.constant is not None:
        return ""
    calls = (e for e in within(sent.call.args[sent.buffer.count]) if isinstance(e, ast.Call))
    calls = (e for e in calls if not any(a.type.is_pointer or a.type.is_array for a in e.args))  # of numbers alone
    named = (e.callee.name for e in calls if isinstance(e.callee, ast.FuncRef))
    key = next(named, "")
    return program.functions[key].name if key in program.functions else key


def _one_block(call: ast.Call) -> bool:
    """A vector of one block, which has no gaps, whatever its stride is."""
    count = call.args[0] if call.args else None
    vector = called_name(call).removeprefix("P") == "MPI_Type_vector"
    return vector and isinstance(count, ast.IntLit) and count.value == 1


def _gapless(call: ast.Call) -> bool:
    """A number of elements of a predefined datatype, one after the other."""
    contiguous = called_name(call).removeprefix("P") == "MPI_Type_contiguous"
    return contiguous and len(call.args) > 1 and not _place(call.args[1])


class _Makers:
    """The calls that may have made what an expression is, through variables, members, arguments and results.

    One per program: ``of``.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.params = {key: (f.key, i) for f in program.functions.values() for i, key in enumerate(f.params)}
        self.calls = [call for f in program.functions.values() for call in calls_of(f)]
        self.called: dict[str, list[int]] = {}  # by function: its calls
        self.making: dict[str, list[int]] = {}  # by place: calls that make a datatype there
        self.given: dict[str, list[ast.Expr]] = {}  # by place: parameters that are given it
        for i, call in enumerate(self.calls):
            name = called_name(call)
            self.called.setdefault(name, []).append(i)
            places = [_place(a.operand if isinstance(a, ast.AddrOf) else a) for a in call.args]
            if _MAKERS.match(name):
                for place in dict.fromkeys(places):
                    self.making.setdefault(place, []).append(i)
            function = program.functions.get(name)
            for key, e, place in zip(function.params, call.args, places, strict=False) if function is not None else ():
                if e.type.is_pointer:
                    self.given.setdefault(place, []).append(ast.VarRef(e.type, e.span, key))
        self.assigned: dict[str, list[ast.Expr]] = {}  # by place: what it is set to
        for f in program.functions.values():
            for e in (part for whole in expressions(f.body) for part in within(whole)):
                if isinstance(e, ast.Assign):
                    self.assigned.setdefault(_place(e.target), []).append(e.value)

    def of(self, start: ast.Expr) -> list[ast.Call]:
        found: dict[int, ast.Call] = {}
        seen: set[str] = set()
        work: list[tuple[ast.Expr, bool]] = [(start, True)]  # callers: they count, too
        while work:
            e, callers = work.pop()
            while isinstance(e, (ast.Cast, ast.AddrOf, ast.Deref)):
                e = e.operand
            if isinstance(e, ast.InitList):  # of a table of datatypes, of which a call names one
                work += [(item, callers) for item in e.items]
                continue
            if isinstance(e, ast.Call) and isinstance(e.callee, ast.FuncRef):
                place = e.callee.name
            else:
                place = _place(e)
            if not place or place in seen:
                continue
            seen.add(place)
            for item in self.sources(place, callers):
                if isinstance(item, ast.Call) and _MAKERS.match(called_name(item)):
                    found[item.span.begin] = item
                else:
                    work.append((item, callers))
            work += [(param, False) for param in self.given.get(place, ())]
        return [found[at] for at in sorted(found)]

    def sources(self, place: str, callers: bool) -> Iterator[ast.Expr]:
        """What may set a place, or be the result of a function; a call that makes a datatype there."""
        function = self.program.functions.get(place)
        if function is not None:
            for statement, _ in statements(function.body):
                if isinstance(statement, ast.Return) and statement.value is not None:
                    yield statement.value
        owner = self.params.get(place) if callers else None
        handing = set(self.called.get(owner[0], ())) if owner is not None else set()
        making = set(self.making.get(place, ()))
        for i in sorted(handing | making):
            call = self.calls[i]
            if owner is not None and i in handing and owner[1] < len(call.args):
                yield call.args[owner[1]]
            if i in making:
                yield call
        variable = self.program.variables.get(place)
        if variable is not None and variable.init is not None:
            yield variable.init
        yield from self.assigned.get(place, ())


@once
def _makers_of(program: Program) -> _Makers:
    return _Makers(program)


def _place(e: ast.Expr) -> str:
    """A variable, or a member of any struct of a type; '' for anything else."""
    while isinstance(e, (ast.Index, ast.Deref, ast.Cast)):
        e = e.base if isinstance(e, ast.Index) else e.operand
    if isinstance(e, ast.Member):
        return f"{e.base.type.record}.{e.field}"
    return e.var if isinstance(e, ast.VarRef) else ""


def more_than_there_is(program: Program, use: Use) -> str:
    """What is said of a call whose count is of more bytes than its array has; '' of others."""
    info = program.values.objects.table[use.object] if use.object >= 0 else None
    lo, length = (None if p is None else p.constant for p in (use.lo, use.length))
    size = info.type.size if info is not None and info.type is not None and info.type.is_array else None
    if info is None or lo is None or length is None or size is None or lo + length <= size:
        return rows_apart(program, use)
    return f"; its count is of {length} bytes, and `{info.name}` has {size - lo} there"


def rows_apart(program: Program, use: Use) -> str:
    """What is said of a call that begins at a row and has a count of several, where each row is allocated by itself."""
    node, e = program.graph.nodes[use.node], use.call.args[use.argument]
    row, table = read_from_memory(e), program.values.objects.table
    if use.buffer.count is None or not isinstance(row, ast.Index) or not isinstance(node.action, ins.CallInstr):
        return ""
    made = [table[o] for o in sorted(program.points_to.operand(node.frame, node.action.args[use.argument])) if o >= 0]
    if not made or any(o.kind != "heap" or not program.nest.chain(program.graph.nodes[o.node].block) for o in made):
        return ""
    most = _factors((use.call.args[use.buffer.count],))
    for o in made:
        action = program.graph.nodes[o.node].action
        if not isinstance(action, ins.CallInstr) or _factors(action.call.args) >= most:
            return ""
    span = names_of(program).span(made[0].node)
    one = f"one row, which {line_of(span)} allocates by itself, has that many elements"
    return f"; its count is a product, as that of several rows is, and could not show that {one}"


def _factors(args: Iterable[ast.Expr]) -> int:
    """How many factors some arguments have, sizes of elements and small numbers aside."""
    work, out = list(args), 0
    for e in work:
        one = uncast(e)
        if isinstance(one, ast.Binary) and one.op == "*":
            work += [one.left, one.right]
        elif not isinstance(one, ast.SizeOf) and not (isinstance(one, ast.IntLit) and one.value <= _SMALL):
            out += 1
    return out
