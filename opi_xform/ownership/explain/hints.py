"""The smallest change of the source that would let a site convert, where one is known."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast
from opi_xform.ownership.allocation.null_tests import GOES_ON, always_set, body_for_want, uncertain_test
from opi_xform.ownership.allocation.repeated import steady
from opi_xform.ownership.explain.called import called_from, node_span, only_where
from opi_xform.ownership.explain.choosing.argument import further_in
from opi_xform.ownership.explain.culprits import readers_of, readers_of_first_contents
from opi_xform.ownership.explain.datatypes import SURELY_WRITTEN, counted_anew
from opi_xform.ownership.explain.movable import movable
from opi_xform.ownership.explain.reaching.packed import begins_late
from opi_xform.ownership.explain.reasons import contents_refusal, written
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.plan import Advice
from opi_xform.regions.sets import BudgetExceeded

ENDING = "ending with an error (`exit(1)`, `MPI_Abort`) and no MPI_Finalize"


def with_hint(refusal: Refusal, judge: Judge, use: Use, readers: tuple[int, ...]) -> Refusal:
    """The refusal of a use for what is read after it; the change was tried on the analysis first."""
    hint = _hint(refusal.reason, judge, use, readers)
    if refusal.message.endswith(SURELY_WRITTEN):
        why = _partly_written(judge, readers[0]) or _count_brought(judge.program, use)
        refusal = replace(refusal, message=refusal.message + why)
    if hint is None and refusal.reason is Reason.NULL_SOURCE and (source := _floating(use)):
        more = f"{source} is a floating number, whose value is not followed: an `int` would be"
        return replace(refusal, message=f"{refusal.message}; {more}")
    return replace(refusal, hint=hint) if hint else refusal


def _count_brought(program: Program, use: Use) -> str:
    """The count of a message is a variable that came by another one: the loops that write may go by other numbers."""
    count = None if use.buffer.count is None else use.call.args[use.buffer.count]
    if not isinstance(count, ast.VarRef):
        return ""
    for n in sorted(names_of(program).operations):
        action = program.graph.nodes[n].action
        if not isinstance(action, ins.CallInstr):
            continue
        callee = action.call.callee
        effect = program.effects.get(callee.name) if isinstance(callee, ast.FuncRef) else None
        recv = None if effect is None or effect.mpi is None else effect.mpi.recv
        given = None if recv is None else uncast(action.call.args[recv.buf])
        if isinstance(given, ast.AddrOf) and isinstance(given.operand, ast.VarRef) and given.operand.var == count.var:
            return f": how many it sends, `{spelling(count)}`, comes by a message at {line_of(node_span(program, n))}"
    return ""


def _partly_written(judge: Judge, sent: int) -> str:
    """Where the one line that writes a message's elements does so under a condition, in words; or from where on."""
    program, nodes = judge.program, judge.program.graph.nodes
    stores = [n for n, found in sorted(judge.accesses.items()) if any(a.kind == "W" for a in found)]
    written = {(span.file, span.line): n for n in stores for span in (node_span(program, n),)}
    if len(written) == 1 and isinstance(nodes[stores[0]].action, ins.Store):
        where = only_where(program, stores[0])
        if where:
            return f": {line_of(node_span(program, stores[0]))} writes it only {where}"
    packs = [n for n in stores if isinstance(nodes[n].action, ins.Store) and nodes[n].frame == nodes[sent].frame]
    packs = [n for n in packs if n < sent] or packs
    return begins_late(program, packs[-1]) if packs else ""


def first_contents(judge: Judge, place: Place) -> Refusal:
    """Why the first contents of an object count for a site of its buffer."""
    mine = [u for u in judge.uses if u.place == place]
    own = {u.node for u in mine if u.side == "send"}
    refusal = contents_refusal(judge.program, judge.buffer, judge.o, readers_of_first_contents(judge), place)
    counts = [(u, u.buffer.count) for u in mine]
    known = all(k is not None and u.length is not None and _steady(judge.program, u, k) for u, k in counts)
    if refusal.hint and not (known and _defined(judge, own)):
        return replace(refusal, hint=None)
    return refusal


def _steady(program: Program, use: Use, index: int) -> bool:
    """An argument of the call is the same wherever it is written once more."""
    return steady(program, program.graph.nodes[use.node].frame, use.call.args[index])


def _defined(judge: Judge, without: set[int]) -> bool:
    """Without these reads the first contents do not matter."""
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    try:
        return not judge.reads_initial(*judge.live(None, readers_of(judge) - without, assumed))
    except BudgetExceeded:
        return False


def ending(
    program: Program,
    buffer: Buffer,
    tests: Collection[int],
    known: Collection[int],
    addressed: Collection[str],
    unmoved: Collection[int],
) -> Advice | None:
    """With which change none of the tests would be uncertain: the program ends before some of them, where they would
    find NULL.  None where that would not do, or where such a pointer may be NULL with all being well.
    """
    ended: dict[int, None] = {}
    bodies: dict[Span, Span] = {}  # with the test of each
    while True:
        found = uncertain_test(program, buffer, tests, known, addressed, unmoved, ended, bodies)
        if found is None and bodies:
            inside = tuple(bodies.values())
            return Advice("within", f"{ENDING} in the `if` at {lines_of(inside)}", inside)
        if found is None:
            spans = tuple(dict.fromkeys(node_span(program, n) for n in ended))
            return Advice("end", f"{ENDING} wherever it is NULL at {lines_of(spans)}", spans)
        n, why = found
        if why != GOES_ON:
            return None
        body = None if ended or always_set(program, n) else body_for_want(program, n)
        if body is not None and body not in bodies:
            bodies[body] = node_span(program, n)
            continue
        if bodies:
            return None
        span = node_span(program, n)
        same = [node.number for node in program.graph.nodes if node_span(program, node.number) == span]
        if span.macro is not None or not all(always_set(program, m) for m in same):
            return None
        ended.update(dict.fromkeys(same))


def waited(program: Program, hint: Advice) -> frozenset[tuple[int, int]]:
    """Operations and nodes before which they are complete where a hint to wait is followed."""
    operation, before = hint.spans[0], hint.spans[-1]
    begun = [node.number for node in program.graph.nodes if node_span(program, node.number) == operation]
    ahead = [node.number for node in program.graph.nodes if node_span(program, node.number) == before]
    frame = {n: program.graph.nodes[n].frame for n in (*begun, *ahead)}
    if operation == before:
        return frozenset((n, n) for n in begun)
    return frozenset((n, at) for n in begun for at in ahead if frame[n] == frame[at])


def told(refusal: Refusal, other: Refusal | None, shared: bool) -> Refusal:
    """The hint put into words.  other: the reason that is left when somebody follows it.  shared: other buffers come to
    the call as well.  Where the same reason is left, or one for what would be moved, it is not known what else there
    is: nothing is advised then.
    """
    assert refusal.hint is not None
    again = other is not None and (other.message == refusal.message or _of_moved(refusal, other))
    if (other is None and shared) or again:
        return replace(refusal, hint=None)
    if other is None:
        message = f"{refusal.message}; {refusal.hint.words} would let it convert"
        return replace(refusal, message=message, hint=None, advice=refusal.hint)
    rest = other.message.partition("; ")[0]
    return replace(refusal, message=f"{refusal.message}; {refusal.hint.words} would not be enough: {rest}", hint=None)


def _of_moved(refusal: Refusal, other: Refusal) -> bool:
    """What is left is that a second name is used where the read stands which would be moved."""
    read = {(span.file, span.line) for span, _ in refusal.notes}
    used = [(s.file, s.line) for s, what in other.notes if what.endswith("used here")]
    return other.reason is Reason.OLD_ADDRESS and not read.isdisjoint(used)


def _hint(reason: Reason, judge: Judge, use: Use, readers: tuple[int, ...]) -> Advice | None:
    if not readers or use.op.replaces:
        return None
    if reason is Reason.NULL_SOURCE and use.side == "recv" and _guarded_alone(judge, use):
        return Advice("guard", "a test of the source against MPI_PROC_NULL around the call")
    if not _enough(judge, use, readers):
        return None
    program, reader = judge.program, readers[0]
    spans = tuple(node_span(program, n) for n in readers)
    line = lines_of(spans)
    sends = [u for u in judge.uses if u.node == reader]
    if use.side == "recv":
        if reason is Reason.NULL_SOURCE and not judge.failures.looked_at(use):
            if use.buffer.peer is None or not _steady(program, use, use.buffer.peer) or not _signed(use):
                return None
            return Advice("guard", f"a test of the source against MPI_PROC_NULL around {line}", spans)
        return None  # that a read of less is of what was received would have to be shown, too
    if sends:
        if any(u.op.replaces for u in sends):
            return None  # what comes there would be missing
        if any(counted_anew(program, u) for u in sends):
            return None  # what is sent there may be no more than what is written before
        own = [any(u.place == use.place for u in judge.use_nodes.get(n, ())) for n in readers]
        if any(own):
            if judge.buffer.carrier.rows and not written(program, use, "", True):
                return None  # each is sent once: which of them a turn means is what is not known
            if not all(own):
                return None  # neither packing here nor another buffer there would do
            count = use.buffer.count
            packed = use.length is not None and count is not None and _steady(program, use, count)
            return Advice("pack", "packing all of it anew for each turn") if packed else None
        if any(further_in(use, u) for n in readers for u in judge.use_nodes.get(n, ())):
            return None  # it would be filled from this one after the send
        return Advice("other", f"another buffer at {line}", spans)
    here = {called_from(program, n, use.node) for n in readers}
    at = next(iter(here))
    if len(here) == 1 and at is not None and _straight_behind(judge, use, at) and not _older(judge, readers):
        what = "read" if at == reader else "call"
        span = node_span(program, at)
        return Advice("move", f"moving the {what} at {line_of(span)} before the send", (span,))
    return None


def _guarded_alone(judge: Judge, use: Use) -> bool:
    """A receive that does nothing from MPI_PROC_NULL may as well not be called then, and is real where it is."""
    op, status = use.op, use.op.status
    if op.kind != "recv" or not op.blocking or judge.initial or judge.failures.looked_at(use):
        return False
    if judge.unwritten:  # after the test there would be memory without contents, or none
        return False
    if status is None or use.buffer.peer is None or not _signed(use):
        return False
    source, e = use.call.args[use.buffer.peer], use.call.args[status]
    e = uncast(e)
    return isinstance(source, ast.VarRef) and isinstance(e, ast.IntLit)  # MPI_STATUS_IGNORE


def _signed(use: Use) -> bool:
    """The source is a number that may be negative: MPI_PROC_NULL is, and a test of an unsigned one shows nothing."""
    source = _source(use)
    return source is not None and source.type.signed and source.type.kind == "int"


def _floating(use: Use) -> str:
    """The floating number that a call has for its source, in words; '' where it has none."""
    source = _source(use)
    if source is None or source.type.kind != "float":
        return ""
    name = spelling(source)
    return "the source" if name == UNSPELLED else f"`{name}`"


def _source(use: Use) -> ast.Expr | None:
    return None if use.buffer.peer is None else uncast(use.call.args[use.buffer.peer])


def _enough(judge: Judge, use: Use, without: tuple[int, ...]) -> bool:
    """Without these reads nothing is needed after the use."""
    others = readers_of(judge) - set(without)
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    try:
        found, at_entry = judge.live(None, others, assumed)
        with judge.regions.budget():
            return not judge.needed(use, found) and not judge.reads_initial(found, at_entry)
    except BudgetExceeded:
        return False


def _older(judge: Judge, readers: Collection[int]) -> bool:
    """They may read what the buffer holds since before it was written, so wherever they stand."""
    try:
        found, at_entry = judge.live(None, readers)
        with judge.regions.budget():
            return judge.reads_initial(found, at_entry) or judge.reads_unwritten(found)
    except BudgetExceeded:
        return True


def _straight_behind(judge: Judge, use: Use, reader: int) -> bool:
    """The read comes after the send in the same function, in the same turn, and nothing writes the buffer between."""
    graph, nest = judge.program.graph, judge.program.nest
    block, other = graph.nodes[use.node].block, graph.nodes[reader].block
    if not nest.dominates(block, other):
        return False
    around = nest.chain(block)
    if (block == other and reader < use.node) or nest.chain(other)[len(nest.chain(other)) - len(around) :] != around:
        return False
    behind = [n for n, found in judge.accesses.items() if any(a.kind == "W" for a in found)]
    between = [n for n in behind if use.node < n < reader]
    if between or any(use.node < n < reader for n in judge.use_nodes):
        return False
    writers = {n for n in (called_from(judge.program, n, use.node) for n in behind) if n is not None}
    return movable(judge.program, use, reader, writers)
