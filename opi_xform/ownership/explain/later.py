"""What comes after a message, in words: what its process need not come to, the next turn, a receive meanwhile.

Such a receive may bring nothing, as its source may be MPI_PROC_NULL: what is read, or sent, is older then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from opi_xform.codes import Reason
from opi_xform.effects.model import BEGINS
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.comparisons import NEGATED
from opi_xform.ir.span import Span
from opi_xform.ir.walk import repeats, statements, uncast, within, within_statement
from opi_xform.once import once
from opi_xform.ownership.explain.called import called_from, loop_around, node_span
from opi_xform.ownership.explain.choosing.places import at_another_place
from opi_xform.ownership.explain.choosing.requests_told import request_of
from opi_xform.ownership.explain.reaching.branches import NO_TURNS, Guard, both_never, branches_of
from opi_xform.ownership.explain.reaching.numbers import Test, fixed_by, made_of, number_of
from opi_xform.ownership.explain.reaching.turns import own_turns, shared_turns
from opi_xform.ownership.explain.reaching.ways import ahead, always_between, between, in_turn, reached
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import function_expressions, in_same_words, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.procnull.origins import origin
from opi_xform.ownership.requests.pending import request_pending_at
from opi_xform.ownership.spelling.mentions import Texts
from opi_xform.regions.sets import BudgetExceeded

RANKS = 64  # numbers that are tried for one from which both tests compute theirs
LONGEST = 48  # characters of a condition that is told
TWICE = "twice, or writes all of it before"
OF_ALL = frozenset((Reason.FIRST_CONTENTS, Reason.UNPAIRED, Reason.CAPACITY))
"""What is asked of a buffer as a whole: whoever has it, and wherever."""
_SETS = (ast.Assign, ast.IncDec)
_ONE_VALUE = (frozenset({0}), frozenset({-1, 1}))  # the signs of `a == b` and `a != b`

_PLACE = r"[\w.\[\]]+(?:->[\w.\[\]]+)*"
_COMPARED = re.compile(rf"({_PLACE}(?: ?[-+*/%] ?\w+)?) ?(==|!=|<=|>=|<|>) ?(-?{_PLACE}(?: ?[-+*/%] ?\w+)?)")
_NOT = re.compile(rf"! ?({_PLACE})")


def not_reached(program: Program, use: Use, n: int, does: str) -> str:
    """That a message's process need not come to what a node does, or not with its memory; '' for no such thing.

    does: what the node does, in a relative clause.
    """
    turns = shared_turns(program, use, n)
    found, at = apart(program, use.node, n, turns), called_from(program, n, use.node)
    line = line_of(node_span(program, n if at is None else at))
    if found is None:
        return _other_memory(program, use, n, turns, f"{line}, {does}")
    here, there = found
    where = f"{line} ({_condition(program, there)})"
    frame, mine = program.graph.nodes[here[0]].frame, program.graph.nodes[use.node].frame
    tested = "" if frame == mine else f", as {line_of(node_span(program, here[0]))} asks"
    if any(branches_of(program).scope(test) for guard in found for test in branches_of(program).told(guard)):
        tested += ", with the same memory"
    return f"could not show that {where}, {does}, is not reached where {_condition(program, here)}{tested}"


def _other_memory(program: Program, use: Use, n: int, turns: frozenset[int], does: str) -> str:
    """A node comes only in a later turn of a loop, in which a message of the call has other memory."""
    graph, nest = program.graph, program.nest
    if not turns or in_turn(program, use.node, n, turns):
        return ""
    inner = next(loop for loop in nest.chain(graph.nodes[use.node].block) if loop in turns)
    first = graph.blocks[nest.loops[inner].header][:1]
    loop = loop_around(program, first[0]) if first else None
    later = "in a later turn" if loop is None else f"in a later turn of the loop in {line_of(loop)}"
    return f"could not show that {does} {later}, means other memory than this call does"


def in_other_arm(program: Program, site: int, n: int) -> str:
    """A node in the other arm of a test around a site, to which the site's process comes in a later turn, if at all."""
    nest, nodes = program.nest, program.graph.nodes
    around = nest.chain(nodes[site].block)[:1]
    if not around or around[0] not in nest.chain(nodes[n].block) or nodes[site].block == nodes[n].block:
        return ""
    if in_turn(program, site, n, around) or in_turn(program, n, site, around):
        return ""
    first = program.graph.blocks[nest.loops[around[0]].header][:1]
    loop = loop_around(program, first[0]) if first else None
    return "in a later turn" if loop is None else f"in a later turn of the loop in {line_of(loop)}"


def apart(program: Program, site: int, n: int, turns: frozenset[int] = NO_TURNS) -> tuple[Guard, Guard] | None:
    """What is tested around a node and around another one, where one process is not known to run both.

    Either no process does, or one asks for a number that is computed from what the other one asks for, and how is not
    followed.  None: nothing tells them apart.  turns: loops, where it is asked for one turn of each only.
    """
    pairs = tuple(_pairs(program, site, n, turns))
    never = next(((here, there) for here, there, one, other in pairs if _never(program, one, other)), None)
    if never is not None:
        return never
    return next(((here, there) for here, there, one, other in pairs if _unknown(program, one, other)), None)


def _pairs(program: Program, site: int, n: int, turns: frozenset[int]) -> Iterator[tuple[Guard, Guard, Test, Test]]:
    """What is tested for the whole run around two nodes, but not around both; the nearest of the other one first."""
    branches, nodes = branches_of(program), program.graph.nodes
    mine = list(branches.guards(nodes[site].block))
    both, said = set(mine), {_said(program, here) for here in mine}
    for there in branches.guards(nodes[n].block):
        if there in both or _said(program, there) in said:
            continue
        for other in (test for test in branches.told(there) if branches.scope(test) <= turns):
            for here in mine:
                for one in (test for test in branches.told(here) if branches.scope(test) <= turns):
                    yield here, there, one, other


def other_arm(program: Program, use: Use, n: int, does: str) -> str:
    """The same as ``not_reached``, by the words of two tests that ask for one number which is set in one place."""
    branches, nodes = branches_of(program), program.graph.nodes
    mine = {_said(program, (here[0], not here[1])): here for here in branches.guards(nodes[use.node].block)}
    for there in branches.guards(nodes[n].block):
        here = mine.get(_said(program, there))
        compared = None if here is None else _COMPARED.fullmatch(_condition(program, here).strip("`"))
        name = "" if compared is None else re.split(r"->|\.", compared[1])[-1]
        once = name.isidentifier() and _set_in(program).get(name, 0) <= 1
        key = program.graph.frames[nodes[use.node].frame].function
        if here is not None and once and not set_in_turns(program.functions[key], use.call, name):
            at = called_from(program, n, use.node)
            line = line_of(node_span(program, n if at is None else at))
            where = f"{line} ({_condition(program, there)}), {does}"
            return f"could not show that {where}, is not reached where {_condition(program, here)}"
    return ""


@once
def _set_in(program: Program) -> dict[str, int]:
    """In how many places variables and members are set, by their names.  A constant that is there before a call is
    given the address to set it (``MPI_Comm_rank``) does not count.
    """
    given, constant, others = Counter[str](), Counter[str](), Counter[str]()
    for function in program.functions.values():
        for e in function_expressions(function):
            match e:
                case ast.Assign(target=target, value=value, op=""):
                    (constant if isinstance(value, ast.IntLit) else others)[_last(target)] += 1
                case ast.Assign(target=target) | ast.IncDec(operand=target):
                    others[_last(target)] += 2
                case ast.AddrOf(operand=target):
                    given[_last(target)] += 1
    constant.update(v.name for v in program.variables.values() if v.init is not None)
    return {
        n: given[n] + others[n] + constant[n] - (given[n] == 1 == constant[n]) for n in (*given, *constant, *others)
    }


def set_in_turns(function: ast.Function, call: ast.Call, name: str) -> bool:
    """A loop around a call sets a variable by that name in each turn: the other arm may be the next one's."""
    for loop, _ in statements(function.body):
        if not repeats(loop):
            continue
        inside = list(within_statement(loop, function.variables))
        if not any(e is call for e in inside):
            continue
        declared = (key for s, _ in statements(loop) if isinstance(s, ast.DeclStmt) for key in s.variables)
        if any(function.variables[key].name == name for key in declared if key in function.variables):
            return True
        sets = (e.target if isinstance(e, ast.Assign) else e.operand for e in inside if isinstance(e, _SETS))
        if any(_last(target) == name for target in sets):
            return True
    return False


def _last(e: ast.Expr) -> str:
    return re.split(r"->|\.", spelling(e))[-1] if isinstance(e, (ast.VarRef, ast.Member)) else ""


def _said(program: Program, guard: Guard) -> tuple[str, str]:
    """The outcome of a branch in the words of its function: one test that is made twice asks for one process.

    Variables are those of one call of the function.
    """
    frame, text = program.graph.nodes[guard[0]].frame, _condition(program, guard)
    key = program.graph.frames[frame].function
    return (key if "->" in text or "." in text else f"{key} {frame}"), text


def _never(program: Program, one: Test, other: Test) -> bool:
    branches = branches_of(program)
    if both_never(one, other):
        return True
    return any(branches.not_for(fixed_by([a]), b) for a, b in ((one, other), (other, one)) if fixed_by([a]))


def _unknown(program: Program, one: Test, other: Test) -> bool:
    """One test leaves a number one value, and the other asks whether what is computed from it is some value, or is not;
    how it is computed is not followed.  A range (`begin <= end`) is seldom meant for one process.
    """
    values = program.values
    mine, its = (frozenset(p.symbols()) for p, _ in (one, other))
    if not mine.isdisjoint(its):
        return False  # what is told of the same number does not exclude the other
    sources, others = (made_of(values.symbols, values.joins, p) for p, _ in (one, other))
    common = (fixed_by([one]).keys() & others) if other[1] in _ONE_VALUE else set[int]()
    common |= (fixed_by([other]).keys() & sources) if one[1] in _ONE_VALUE else set[int]()
    tried = [{s: value} for s in sorted(common) for value in range(RANKS)]
    return bool(tried) and not any(_holds(program, one, fixed) and _holds(program, other, fixed) for fixed in tried)


def _holds(program: Program, test: Test, fixed: dict[int, int]) -> bool:
    value = number_of(program.values.symbols, test[0], fixed)
    return value is not None and (value > 0) - (value < 0) in test[1]


@once
def _texts(program: Program) -> Texts:
    return Texts()


def _condition(program: Program, guard: Guard) -> str:
    """An outcome of a branch as the source has it; its line where that is too long, or written by a macro."""
    action = program.graph.nodes[guard[0]].action
    assert isinstance(action, ins.Branch)
    text = _plain(program, action.span)
    info = program.graph.statement(program.graph.nodes[guard[0]])
    if info is not None and isinstance(info.stmt, ast.Switch):
        text = _of_case(text, action.cond)
    if not text:
        return f"after the test in {line_of(action.span)}"
    if guard[1]:
        return f"`{text}`"
    compared, negated = _COMPARED.fullmatch(text), _NOT.fullmatch(text)
    if compared is not None:
        return f"`{compared[1]} {NEGATED[compared[2]]} {compared[3]}`"
    return f"`{negated[1]}`" if negated is not None else f"`!({text})`" if " " in text else f"`!{text}`"


def _of_case(text: str, cond: ins.Operand) -> str:
    """The test of a case of a ``switch``, of which ``text`` is the number."""
    match cond:
        case ins.Op(op="==", args=(_, ins.Const(value=value))) if re.fullmatch(_PLACE, text):
            return f"{text} == {value}"
        case _:
            return ""


def _plain(program: Program, span: Span) -> str:
    text = " ".join(_texts(program).of(span).split())
    return text if span.macro is None and 0 < len(text) <= LONGEST and text.isprintable() and "`" not in text else ""


def set_elsewhere(program: Program, use: Use, n: int, key: str | None, name: str) -> str:
    """What is said of a node that reads by another variable, which is set to a message's memory only where no process
    comes to that runs the message's call; '' for none.
    """
    frame, branches = program.graph.nodes[n].frame, branches_of(program)
    if key is None or use.object < 0:
        return ""
    found = list[int]()
    for d in names_of(program).defs.get(("v", program.values.objects.variable(frame, key), 0), ()):
        action = program.graph.nodes[d].action
        value = action.value if isinstance(action, ins.Define) else None
        if value is not None and use.object in program.points_to.operand(frame, value):
            found.append(d)
    if not found or not all(branches.excluded(use.node, d) for d in found):
        return ""
    other, line = program.variables[key].name, line_of(node_span(program, n))
    sets = line_of(node_span(program, found[0]))
    message = f"could not show that {line} reads no `{name}` by `{other}`, which {sets} sets to it"
    return f"{message}, where this call does not come"


def next_turn(program: Program, buffer: Buffer, use: Use, n: int, name: str) -> str:
    """A send that the next turn of its loop sends once more, where nothing in that loop writes; '' for none."""
    nest, nodes, symbols = program.nest, program.graph.nodes, program.values.symbols
    around = nest.chain(nodes[use.node].block)
    places = (use.lo, use.length, *((use.row,) if buffer.carrier.rows else ()))
    if n != use.node or not around or None in places:
        return ""
    moving = {loop for p in places if p is not None for loop in symbols.scope(symbols.resolve(p))}
    accesses, turn = program.values.accesses, nest.loops[around[0]].blocks
    writes = {m for m in accesses.nodes(use.object) if accesses.touches(m, (use.object,), "W")}
    writes.update(u.node for u in buffer.uses if u.side == "recv")
    writes = {m for m in writes if not at_another_place(program, use, m)}
    excluded, turns = branches_of(program).excluded, own_turns(program, use)
    if around[0] in moving or any(nodes[m].block in turn and not excluded(use.node, m, turns) for m in writes):
        return ""
    loop = loop_around(program, use.node)
    where = "its loop" if loop is None else f"the loop in {line_of(loop)}"
    return f"`{name}` may be sent again in the next turn of {where}, in which nothing is written to it"


def of_another_process(program: Program, uses: Sequence[Use], refusal: Refusal) -> str:
    """What to say of the first line that is told with a refusal, where none of a call's processes runs it; ''.

    Such a line keeps the call all the same: the buffer's variable has one declaration, and one place that makes it.
    """
    if refusal.reason not in OF_ALL or not refusal.notes:
        return ""
    span, excluded = refusal.notes[0][0], branches_of(program).excluded
    nodes = [n for u in uses if u.object >= 0 for n in program.values.accesses.nodes(u.object)]
    nodes = [n for n in nodes if (here := node_span(program, n)).file == span.file and here.line == span.line]
    if not nodes or not all(excluded(u.node, n) for u in uses for n in nodes):
        return ""
    return f"; no process that makes this call runs {line_of(span)}, but its buffer is one variable for all of them"


def longer_next_turn(program: Program, use: Use, other: Use, name: str) -> str:
    """A send that has, by the words of both calls, as much as a receive brings, in the next turn of a loop that changes
    how much that is; '' for none.
    """
    mine, its, length = use.buffer.count, other.buffer.count, use.length
    if use.side == other.side or mine is None or its is None or length is None or use.node == other.node:
        return ""
    pairs = [(use.argument, other.argument), (mine, its)]
    if not all(in_same_words(uncast(use.call.args[a]), uncast(other.call.args[b])) for a, b in pairs):
        return ""
    nest, nodes = program.nest, program.graph.nodes
    moving = program.values.symbols.scope(program.values.symbols.resolve(length))
    around = [loop for loop in nest.chain(nodes[use.node].block) if loop in moving]
    around = [loop for loop in around if loop in nest.chain(nodes[other.node].block)]
    symbols = program.values.symbols  # in one turn it is as much
    if not around or other.length is None or symbols.resolve(other.length) != symbols.resolve(length):
        return ""
    line, count = line_of(node_span(program, other.node)), spelling(uncast(use.call.args[mine]))
    told = f"could not show that {line} sends no more of `{name}` in the next turn than this receive brings"
    return f"{told}: `{count}` may be larger then"


def written_meanwhile(program: Program, buffer: Buffer, use: Use, n: int) -> bool:
    """Something may write a send's buffer, or receive into it, on a way from there to a node."""
    accesses = program.values.accesses
    writes = {m for m in accesses.nodes(use.object) if accesses.touches(m, (use.object,), "W")}
    writes.update(u.node for u in buffer.uses if u.side == "recv" and u.object == use.object)
    writes = {m for m in writes if not at_another_place(program, use, m)}
    excluded, turns = branches_of(program).excluded, own_turns(program, use)
    return bool(between(program, use.node, n, (m for m in writes if not excluded(use.node, m, turns)), turns))


def by_another_call(program: Program, use: Use, n: int, name: str) -> tuple[str, tuple[tuple[Span, str], ...]] | None:
    """A send that a later call of its function makes once more, where nothing writes until then; None for none."""
    graph, accesses = program.graph, program.values.accesses
    key = graph.frames[graph.nodes[use.node].frame].function
    if node_span(program, n) != node_span(program, use.node) or graph.frames[graph.nodes[n].frame].function != key:
        return None
    writes = [m for m in sorted(accesses.nodes(use.object)) if accesses.touches(m, (use.object,), "W")]
    if between(program, use.node, n, writes, own_turns(program, use)):
        return None
    calls = {
        node_span(program, frame.call): None for frame in graph.frames if frame.function == key and frame.call >= 0
    }
    if not calls:
        return None
    function, spans = program.functions[key].name, tuple(sorted(calls, key=lambda span: (span.file, span.line)))
    message = f"this call sends `{name}` once more where `{function}` is called again, and nothing is written to it"
    return f"{message} until then", tuple((span, f"`{function}` is called here") for span in spans[:3])


def read_early(program: Program, use: Use, name: str, reads: Iterable[int]) -> Refusal | None:
    """The first of some reads of a receive's memory that come before the receive is complete; None for none.

    What comes after a call that completes any is not told: which ones that completes need not be known.
    """
    if use.side != "recv" or use.op.blocking or use.op.request is None or use.op.persistent:
        return None
    names = names_of(program)
    ends = [n for n, op in names.operations.items() if op.completes is not None]
    early = [n for n in reads if names.follows(use.node, n) and not between(program, use.node, n, ends)]
    late = request_pending_at(names, use.node, use.op, early)
    first = next(iter(ahead(program.graph, use.node, late)), None)
    if first is None:
        return None
    span, begun = node_span(program, first), node_span(program, use.node)
    message = f"`{name}` is read at {line_of(span)}, where the receive that {line_of(begun)} begins may not be complete"
    notes = ((begun, "this operation may not be complete"), (span, f"`{name}` is read here"))
    return Refusal(Reason.PENDING, message, notes)


def begun_again(program: Program, use: Use) -> str:
    """What is said of a local request that is given to a call which begins another operation next, on each way."""
    graph, request, operations = program.graph, request_of(use.call, use.op, True), names_of(program).operations
    if use.op.blocking or use.op.persistent or request is None or program.variables[request].is_global:
        return ""
    begins, marks = set[int](), set[int]()
    for node in graph.nodes:
        action, op = node.action, operations.get(node.number)
        if not isinstance(action, ins.CallInstr) or node.frame != graph.nodes[use.node].frame:
            continue
        if any(isinstance(x, ast.VarRef) and x.var == request for x in within(action.call)):
            marks.add(node.number)
            if op is not None and op.kind in BEGINS and request_of(action.call, op, True) == request:
                begins.add(node.number)
    next_ones = {n for n in marks if reached(graph, use.node, [n], marks - {n})}
    if not next_ones or not next_ones <= begins - {use.node}:
        return ""
    name, line = program.variables[request].name, line_of(node_span(program, min(next_ones)))
    return f"; its request, `{name}`, is given to {line} before anything completes it"


def silent_receive(judge: Judge, use: Use, n: int) -> Use | None:
    """The receive that always comes right before a send, and brings nothing where its source is MPI_PROC_NULL."""
    graph = judge.program.graph
    nodes = {u.node for u in judge.uses if u.side == "recv" and not u.op.replaces}
    nodes -= {n} - {use.node}  # a call that does both sends first
    before = [m for m in ahead(graph, use.node, nodes) if always_between(judge.program, use.node, m, n)]
    try:
        with judge.regions.budget():
            for u in (u for m in before for u in judge.use_nodes[m]):
                whole = None if u.lo is None or u.length is None else judge.region(u.node, u.lo, u.length, True)
                brought = judge.brought(u)
                if whole is not None and brought is not None and not whole.subtract(brought).is_empty():
                    return u
    except BudgetExceeded:
        judge.regions.context.reset_operations()
    return None


def silent_before(judge: Judge, use: Use, n: int) -> Use | None:
    """The receive on the way from a message to a node that would bring all this reads, were its source a real rank."""
    nodes = {u.node for u in judge.uses if u.side == "recv" and not u.op.replaces and u.node != use.node}
    passed = set(between(judge.program, use.node, n, nodes))
    found = [u for m in ahead(judge.program.graph, use.node, passed) for u in judge.use_nodes[m]]
    perhaps = [u for u in found if u.buffer.peer is not None and judge.null.possible(u.node, u.buffer.peer)]
    if not perhaps or judge.strict:
        return None
    judge.real_sources = True
    try:
        with judge.regions.budget():
            live, _ = judge.live(None, frozenset([n]), frozenset({PADDING, SIGNS}))
            return None if judge.needed(use, live) else perhaps[0]
    except BudgetExceeded:
        judge.regions.context.reset_operations()
        return None
    finally:
        judge.real_sources = False


def nothing_came(
    program: Program, silent: Use, name: str, line: str, does: str = "send"
) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """What is sent once more, or read, where a receive before that is from MPI_PROC_NULL; with notes on its source."""
    why, received = origin(program, silent), node_span(program, silent.node)
    null, notes = "its source may be MPI_PROC_NULL", [(received, "this may receive nothing")]
    if why is not None:
        text, span, named = why
        null = f"{null if named else 'could not show that its source is not MPI_PROC_NULL'} ({text})"
        notes.append((span, "its source comes from here"))
    once_more = " once more" if does == "send" else ""
    message = f"{line} may {does} what `{name}` holds{once_more}, where {line_of(received)} receives nothing: {null}"
    return message, tuple(notes)


def received_meanwhile(program: Program, buffer: Buffer, use: Use) -> tuple[tuple[Span, str], ...]:
    """The first receive into what a send that is not complete there may still have to send, as a note."""
    if use.op.blocking or use.op.request is None:
        return ()
    others = [u.node for u in buffer.uses if u.side == "recv" and u.node != use.node and u.object == use.object]
    late = request_pending_at(names_of(program), use.node, use.op, others)
    what = "received into here, where this send may not be complete"
    return tuple((node_span(program, n), what) for n in sorted(late)[:1])


def sent_twice(program: Program, use: Use, name: str, line: str) -> str:
    """What is said of a send of rows that may send one once more, with nothing written to it until then."""
    nest, graph, symbols = program.nest, program.graph, program.values.symbols
    accesses, block = program.values.accesses, graph.nodes[use.node].block
    moving = symbols.scope(symbols.resolve(use.row)) if use.row is not None else frozenset()
    writes = {graph.nodes[m].block for m in accesses.nodes(use.object) if accesses.touches(m, (use.object,), "W")}
    for loop in nest.chain(block) if use.row is not None else ():
        first = graph.blocks[nest.loops[loop].header][:1]
        span = loop_around(program, first[0]) if first else None
        if loop not in moving and span is not None and writes.isdisjoint(nest.loops[loop].blocks):
            again = f"`{name}` may be sent again in a later turn of the loop in {line_of(span)}"
            return f"{again}, in which nothing is written to its rows"
    return f"could not show that {line} sends no `{name}` {TWICE}{in_steps(program, use)}"


def in_steps(program: Program, use: Use) -> str:
    """What is said of a row that is named by a loop which goes on by no constant number of rows; '' of others."""
    symbols, nest, graph = program.values.symbols, program.nest, program.graph
    row = None if use.row is None else symbols.resolve(use.row)
    for loop in nest.chain(graph.nodes[use.node].block) if row is not None else ():
        count, first = symbols.count(loop), graph.blocks[nest.loops[loop].header][:1]
        span = loop_around(program, first[0]) if first else None
        if span is not None and row is not None and count in row.symbols() and row.coefficient(count) == 0:
            return f"; each turn of the loop in {line_of(span)} goes on by a number of rows that is no constant"
    return ""
