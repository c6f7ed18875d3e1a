"""From what the checks found to sentences."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ownership.allocation.filled import filling
from opi_xform.ownership.explain.called import (
    called_around,
    called_from,
    chosen_by_pointer,
    made_at,
    node_span,
    only_where,
)
from opi_xform.ownership.explain.choosing.argument import begins_behind, further_in, row_of_arrays
from opi_xform.ownership.explain.choosing.places import at_another_place, block_of
from opi_xform.ownership.explain.culprits import EXCHANGED, product_in_index, unknown_place, why_beside, why_unknown
from opi_xform.ownership.explain.datatypes import (
    NOT_BROUGHT,
    SURELY_WRITTEN,
    counted_anew,
    of_one_piece,
    of_unknown_length,
    unknown_length,
    unsigned_count,
    wrapping_index,
)
from opi_xform.ownership.explain.later import (
    by_another_call,
    in_other_arm,
    longer_next_turn,
    next_turn,
    not_reached,
    nothing_came,
    received_meanwhile,
    sent_twice,
    set_elsewhere,
    written_meanwhile,
)
from opi_xform.ownership.explain.other_memory import elsewhere_of
from opi_xform.ownership.explain.other_pointers import (
    by_another_function,
    member_in,
    set_through,
    times_as_much,
    words_at,
)
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.roots import at_root, of_a_root, on_no_root
from opi_xform.ownership.explain.reaching.turns import own_turns
from opi_xform.ownership.explain.reaching.ways import between
from opi_xform.ownership.liveness.failures import failures_of
from opi_xform.ownership.liveness.findings import Finding
from opi_xform.ownership.liveness.longest import shorter
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.names import leaves, names_of
from opi_xform.ownership.model.plan import Advice
from opi_xform.ownership.model.roots import base_of, is_set_inside, leftmost
from opi_xform.ownership.procnull.counted import counting, counting_again, counting_some
from opi_xform.ownership.procnull.origins import origin

ROWS = "[…]"  # behind the name of a table of pointers, of which each is a buffer
BUFFER_HERE = "is a message's buffer here"
SENT_HERE, SENT_AGAIN = "is sent here", "is sent again here"
LIES_IN = "the message lies in"
COMES = "how much comes is told at"
WRITES = 3  # places that are told
_NEEDED = frozenset((Reason.OLD_BYTES, Reason.READ_LATER))  # for them bytes are read, or sent, that are gone
_VERBS = {"read": "reads", "used": "uses", "written": "writes"}


def liveness_refusal(
    program: Program,
    buffer: Buffer,
    use: Use,
    finding: Finding,
    readers: tuple[int, ...],
    shared: bool | None = True,
    least: int | None = None,
    silent: Use | None = None,
    anew: bool = False,
    between: bool = False,
) -> Refusal:
    """Why bytes are still needed after a use, with the reads that need them.

    shared: the first is of the message's bytes; False: of none of them; None: it is not known.  least: of so many
    elements or more the receive would bring all that is needed.  silent: a receive before the first one that may bring
    nothing.  anew: all of the message is written before the first reads anything of it.  between:
    something of the buffer is.
    """
    assert finding.reason is not None  # that of a finding that is not ok
    looked_at = failures_of(program).how_looked_at(use) if use.side == "recv" or use.op.replaces else ""
    nothing = finding.reason is Reason.NULL_SOURCE
    failing = looked_at and (nothing or finding.reason is Reason.READ_LATER)
    if failing or (use.side == "recv" and nothing and not readers):
        where, handler = failures_of(program).where, "an error handler that returns may be set"
        handler = handler if where is None else f"{line_of(where)} lets errors return"
        message = f"the receive may fail and bring nothing: {handler}"
        reason = Reason.NULL_SOURCE if use.side == "recv" else Reason.READ_LATER
        set_here = () if where is None else ((where, "an error handler that returns may be set here"),)
        return Refusal(reason, message + (f", and {looked_at}" if looked_at else ""), set_here)
    if not readers:
        return Refusal(finding.reason, f"bytes of `{buffer.name}` may still be needed after the call")
    sites = {u.node: u for u in buffer.uses}
    first, reason = readers[0], finding.reason
    name = _named_at(program, use, first, buffer)
    if reason is Reason.READ_LATER and (swapped := _swapped_refusal(program, buffer, use, first, name)) is not None:
        return swapped
    room = reason is Reason.CAPACITY
    notes = _read_notes(program, buffer, use, readers[:3], sites, "used" if room else "read")
    line = line_of(node_span(program, first))
    if use.op.replaces:
        does = "may touch bytes" if room else "may read bytes"
        beyond = "beyond those that this call makes room for" if room else "that this call does not bring"
        message = f"{line} {does} of `{name}` {beyond}"
        unknown, made = unknown_length(program, use)
        if unknown:
            message, notes = f"{message}: {unknown}", (*notes, *made)
        reason = Reason.READ_LATER if use.side == "send" else reason
    elif use.side == "send":
        resent = first in sites
        reason = Reason.OLD_BYTES if resent else Reason.READ_LATER
        if resent:
            message = f"not all bytes of `{name}` that {line} sends{SURELY_WRITTEN}"
            turn = next_turn(program, buffer, use, first, name)
            anew_by = counted_anew(program, sites[first])
            if silent is None and anew_by:
                message = f"could not show that {line} sends only what is written after this send"
                message += f": it computes its count anew, by `{anew_by}`"
                message += "; a variable that is set to it once would show which bytes these are"
                notes = (*notes, *written(program, use, name, until=first))
            elif silent is not None:
                message, more = nothing_came(program, silent, name, line)
                notes = (*notes[:1], *more)
            elif buffer.carrier.rows and first == use.node and not written(program, use, name, True):
                message = sent_twice(program, use, name, line)
            elif turn:
                message = turn
            elif called_again := by_another_call(program, use, first, name):
                message, notes = called_again
            elif not written_meanwhile(program, buffer, use, first):
                again = "is" if shared else "may be"
                place = further_in(use, sites[first])
                message = f"`{name}` {again} sent again at {line}{place}, and nothing is written to it until then"
            else:
                notes = (*notes, *written(program, use, name, until=first))
                if place := further_in(use, sites[first]):  # what is sent there is mostly what this call leaves
                    message = f"`{name}` is sent again at {line}{place}, and not all bytes of that{SURELY_WRITTEN}"
        else:
            pointer = chosen_by_pointer(program, first)
            verb = "is" if shared and pointer is None else "may be"
            turn, call = in_other_arm(program, use.node, first), elsewhere_of(program).next_call(use.node, first)
            message = f"`{name}` {'may be' if turn else verb} read at {line} {turn or 'after the send'}{call}"
            said = message, f"{line} counts as reading `{name}`"
            message = of_a_root(program, use, first, _callee(program, first), said)
            if between and pointer is None:
                message = f"could not show that all that {line} reads of `{name}` is written or comes after this send"
                notes = (*notes, *written(program, use, name, until=first))
            if shared is False and pointer is None:
                message = f"{line} may read bytes of `{name}` beside the message after the send"
                if anew:
                    message = f"could not show that {line} reads only those bytes of `{name}` that are written"
                    message += f" before it{why_beside(program, use, buffer.name, first)}"
                    notes = (*notes, *received_meanwhile(program, buffer, use))
            if pointer is not None:
                span, name = pointer
                message += f", where {line_of(span)} calls `{name}` through a pointer"
                notes = (*notes, (span, f"this may be a call of `{name}`"))
    elif reason is Reason.NULL_SOURCE:
        why = origin(program, use)
        source = UNSPELLED if use.buffer.peer is None else spelling(use.call.args[use.buffer.peer])
        source = "the source" if source == UNSPELLED else f"the source, `{source}`,"
        message = f"could not show that {source} is not MPI_PROC_NULL, and {line} reads `{name}` then too"
        if why is not None:
            text, span, named = why
            null = "the source may be" if named else "could not show that the source is not"
            message = f"{null} MPI_PROC_NULL ({text}), and {line} reads `{name}` then too"
            notes = (*notes, (span, "the source comes from here"))
        if (told := counting(program, use, first) or counting_again(program, use, first)) is not None:
            much = f"could not show that {line} reads nothing of `{name}` then: {COMES}"
            message = f"{message.rpartition(', and ')[0]}, and {much} {line_of(node_span(program, told))}"
            notes = (*notes, (node_span(program, told), "how much has come is told here"))
    elif room:
        does = f"{line} may touch bytes of `{name}` beyond those the receive makes room for"
        if first in sites and sites[first].call is use.call:
            does = f"this receive may bring more of `{name}` another time than it makes room for now"
        message = _if_least(use, least, does)
    else:
        packed = any(program.values.accesses.touches(n, (use.object,), "W") for n in buffer.touches)
        reason = Reason.READ_LATER if packed else Reason.OLD_BYTES
        message = _if_least(use, least, f"{line} may read bytes of `{name}`{NOT_BROUGHT}")
        if least is None and unknown_place(program, use, first):
            message = f"could not show that {line} reads only those bytes of `{name}` that this receive brings"
            does = "send" if _only_sends(program, first) else "read"
            # that another call begins where this message ends, or so many times as far in, tells that there is more
            others = (u.call.args[u.argument] for u in buffer.uses if u.node != use.node)
            beside = any(times_as_much(use, e) or begins_behind(use, e) for e in others)
            inside = use.lo is not None and use.lo.constant != 0
            if inside or beside or row_of_arrays(use.call.args[use.argument]):
                message = f"{LIES_IN} `{name}`, and {line} may {does} bytes there{NOT_BROUGHT}"
            else:
                unsure = why_unknown(program, use, first) or wrapping_index(program, use, first)
                message += unsure or product_in_index(program, first)
        unknown, made = unknown_length(program, use)
        some = counting_some(program, first) if use.op.status is None else None  # that of a nonblocking one
        if unknown and least is None and use.lo is not None and use.lo.constant != 0 and of_one_piece(program, use):
            message = f"{LIES_IN} `{name}`, and {line} may read bytes there{NOT_BROUGHT}"
        elif unknown:
            message, notes = f"{message}: {unknown}", (*notes, *made)
        elif least is None and some is not None:
            counted = node_span(program, some)
            message = f"could not show that the count which {line_of(counted)} tells is that of this receive"
            message += f": {line} reads no more of `{name}`"
            notes = (*notes, (counted, "how much has come is told here"))
        elif least is None and message.endswith(NOT_BROUGHT) and (brought := unsigned_count(program, use, first)):
            message = f"could not show that {line} reads no more of `{name}` than {brought}"
        elif least is None and message.endswith(NOT_BROUGHT) and (most := shorter(program, use)) is not None:
            message += f": no message that can come has more than {most} bytes"
        elif least is None and message.startswith(line) and message.endswith(NOT_BROUGHT) and of_unknown_length(use):
            message = f"could not show that {line} reads only those bytes of `{name}` that this receive brings"
        if first in sites and least is None:
            message = longer_next_turn(program, use, sites[first], name) or message
    if silent is not None and first not in sites and not use.op.replaces:
        message, more = nothing_came(program, silent, name, line, "read")
        notes = (*notes[:1], *more)
    does = "reads" if use.side == "recv" or first not in sites else "sends"
    key = other_variable(program, use, first)
    elsewhere = not_reached(program, use, first, f"which {does} `{name}`") if reason in _NEEDED else ""
    message = elsewhere or set_elsewhere(program, use, first, key, name) or message
    other = _other_name(program, use, first, name)
    if other and key is None:
        notes = (*set_through(program, use), *notes)
    also = other and f"`{name}`" in message and f"`{other}`" not in message and COMES not in message
    return Refusal(reason, message + (f", as `{other}`" if also else ""), notes)


def _if_least(use: Use, least: int | None, message: str) -> str:
    """What may be so where a count is not as large as it would have to be."""
    if least is None or use.buffer.count is None:
        return message
    count = "the count" if (said := spelling(use.call.args[use.buffer.count])) == UNSPELLED else f"`{said}`"
    return f"could not show that {count} is at least {least}; where it is not, {message}"


def named_in(use: Use) -> str:
    """The variable that names the buffer in the call, or what stands there."""
    return spelling(_base(use))


def _base(use: Use) -> ast.Expr:
    return leftmost(use.call.args[use.argument])


def _swapped_refusal(program: Program, buffer: Buffer, use: Use, n: int, name: str) -> Refusal | None:
    """Where what is needed after a use is what another pointer has when the two have changed places, at a node."""
    swap = next((swap for swap in buffer.swaps if n == swap.start or n in swap.nodes), None)
    if swap is None or use.op.replaces:
        return None
    span, other = node_span(program, n), program.variables[swap.other].name
    what = "what this call sends" if use.side == "send" else "bytes that this receive does not bring"
    message = f"`{name}` changes places with `{other}` at {line_of(span)}, and {what} may be read by that name then"
    return Refusal(Reason.READ_LATER, message, ((span, EXCHANGED),))


def _named_at(program: Program, use: Use, n: int, buffer: Buffer) -> str:
    """The buffer's name where a node runs: that of the call, where its function, or one that this calls, is around."""
    e = _base(use)
    own = isinstance(e, ast.VarRef) and program.variables[e.var].is_global
    here = called_from(program, n, use.node) is not None
    name = name_at(program, buffer, use) if own or here else block_of(program, use) or buffer.name
    return member_in(program, buffer, n, name)


def _other_name(program: Program, use: Use, n: int, name: str) -> str:
    """The other variable of the call's function, or of all, by which a node reads a buffer that the call names, or what
    a function names that has no such variable; ''.
    """
    if not name.isidentifier() or named_in(use) != name:
        return ""
    key = other_variable(program, use, n)
    return by_another_function(program, use, n) if key is None else program.variables[key].name


def other_variable(program: Program, use: Use, n: int) -> str | None:
    """The same, by its key; None for none."""
    node = program.graph.nodes[n]
    match node.action:
        case ins.Load(address=read) | ins.CopyBytes(source=read) if node.frame == program.graph.nodes[use.node].frame:
            found = {leaf.key for leaf in leaves(read) if isinstance(leaf, ins.Var)}
        case ins.CallInstr(args=args) as call if node.frame == program.graph.nodes[use.node].frame:
            effect = names_of(program).effect(call)
            given = [args[r.arg] for r in effect.reads if r.arg < len(args)] if effect and not effect.mpi else []
            found = {leaf.key for read in given for leaf in leaves(read) if isinstance(leaf, ins.Var)}
        case _:
            return None
    pointers = [key for key in found if program.variables[key].type.is_pointer]
    return pointers[0] if len(pointers) == 1 and program.variables[pointers[0]].name != named_in(use) else None


def name_at(program: Program, buffer: Buffer, use: Use) -> str:
    """The buffer's name in the function of a call: that of a parameter, or of a variable that has got what another
    function's variable, by which the buffer goes, is given.
    """
    e, carrier = _base(use), buffer.carrier
    if not isinstance(e, ast.VarRef):
        own = isinstance(e, ast.Member) and not isinstance(e.base, ast.Deref)  # of one of several structs, say
        several = program.values.objects.table[use.object].kind == "family" and not buffer.name.endswith(ROWS)
        return spelling(e) if own and several else buffer.name
    function = program.functions[program.graph.frames[program.graph.nodes[use.node].frame].function]
    if e.var not in function.params:
        variable, member = program.variables.get(carrier.variable), program.members.get(carrier.variable)
        foreign = variable is not None and variable.function not in ("", function.key)
        if member is not None:  # a table goes by the first name that the program has for it
            here = {spelling(base_of(place)) for key, place in member.exprs if key == function.key}
            foreign = spelling(e) in here and buffer.name.removesuffix(ROWS) not in here
        if variable is not None and variable.function == function.key and variable.key != e.var:
            return spelling(e)  # another name of the same function
        if variable is not None and member is None and variable.is_global and not buffer.swaps:
            return spelling(e) if program.variables[e.var].is_global else buffer.name
        if not foreign or program.variables[e.var].is_global or is_set_inside(function, e.var):
            return buffer.name
    return spelling(e) + (ROWS if carrier.rows and buffer.name.endswith(ROWS) else "")


def _read_notes(
    program: Program, buffer: Buffer, use: Use, readers: tuple[int, ...], sites: Mapping[int, Use], verb: str
) -> tuple[tuple[Span, str], ...]:
    """Where bytes are read, each with the call that leads there."""
    notes: dict[tuple[Span, str], None] = {}
    for n in readers:
        told = _named_at(program, use, n, buffer)
        told = _other_name(program, use, n, told) or told
        again = use.side == "send" and any(u.node == n and u.side == "send" for u in buffer.uses)
        does = f"`{told}` {SENT_AGAIN}" if again else _reads(program, n, use.object, n in sites, told, verb)
        notes[node_span(program, n), does] = None
        call = called_around(program, n, use.node)
        if call is not None and call != n:
            notes[node_span(program, call), "called from here"] = None
    return tuple(notes)


def written(
    program: Program, use: Use, name: str, turn: bool = False, until: int | None = None
) -> tuple[tuple[Span, str], ...]:
    """Where something is written into the buffer of a send that is sent once more.

    turn: in a loop around the send.  until: between the send and this node.
    """
    accesses, nest, graph = program.values.accesses, program.nest, program.graph
    nodes = [n for n in sorted(accesses.nodes(use.object)) if accesses.touches(n, (use.object,), "W")]
    nodes = [n for n in nodes if not at_another_place(program, use, n)]
    if until is not None:
        turns, excluded = own_turns(program, use), branches_of(program).excluded
        nodes = between(program, use.node, until, nodes, turns)
        nodes = [n for n in nodes if not excluded(use.node, n, turns)]
        nodes = [n for n in nodes if not on_no_root(program, use.node, n, use.object, True)]
    if turn:
        around = {*nest.chain(graph.nodes[use.node].block)}
        nodes = [n for n in nodes if not around.isdisjoint(nest.chain(graph.nodes[n].block))]
    nodes = [n for n in nodes if called_from(program, n, use.node) is not None] or nodes  # what its own function does
    notes: dict[tuple[Span, str], None] = {}
    unsure: dict[tuple[Span, str], None] = {}  # of calls that may as well write other memory
    for n in nodes:
        action = graph.nodes[n].action
        plain = (
            isinstance(action, ins.Store) and not action.type.is_pointer and not accesses.touches_other(n, use.object)
        )
        stores = isinstance(action, ins.CopyBytes) or plain
        known = isinstance(action, ins.CallInstr) and names_of(program).effect(action) is not None
        if stores or (known and _callee(program, n)):
            under = "" if turn else only_where(program, n, True, until)
            said = _reads(program, n, use.object, False, name, "written")
            own = stores or any(a.object == use.object and a.kind == "W" for a in accesses.placed(n))
            (notes if own else unsure)[node_span(program, n), said + (under and f", {under}")] = None
    return tuple(notes or unsure)[:WRITES]


def contents_refusal(program: Program, buffer: Buffer, o: int, readers: tuple[int, ...], place: Place) -> Refusal:
    """Why the first contents of an object of a buffer count for one of its sites."""
    sites = {u.node for u in buffer.uses}
    writer, made = _first_contents(program, o)
    if place in {u.place for u in buffer.uses if u.node in readers and u.side == "send"}:
        message = f"this call sends bytes of `{buffer.name}` that nothing but {writer} surely writes"
        return Refusal(Reason.OLD_BYTES, message, made, Advice("write", "writing all of them before"))
    names = [words_at(program, buffer, n) for n in readers]
    notes = tuple(
        (node_span(program, n), _reads(program, n, o, n in sites, name)) for n, name in zip(readers, names, strict=True)
    )
    where = f" at {line_of(notes[0][0])}" if notes else ""
    other = f", as `{names[0]}`," if names and names[0] != buffer.name else ""
    message = f"bytes of `{buffer.name}` are read{where}{other} that nothing but {writer} surely writes"
    if all(u.object != o for u in buffer.uses if u.place == place):
        what = f"bytes are read{where} that nothing but {writer} surely writes"
        message = f"`{buffer.name}` also names other memory, of which {what}"
    return Refusal(Reason.FIRST_CONTENTS, message, (*notes, *made))


def unwritten_refusal(program: Program, buffer: Buffer, readers: tuple[int, ...]) -> Refusal:
    """Why memory of its own would not do, where the program reads what nothing brings and nobody writes."""
    sites = {u.node for u in buffer.uses}
    name = next((named_in(u) for u in buffer.uses if u.node in readers[:1]), buffer.name)
    name = buffer.name if name == UNSPELLED or buffer.name.endswith(ROWS) else name
    o = buffer.objects[0]
    notes = tuple((node_span(program, n), _reads(program, n, o, n in sites, name)) for n in readers)
    does = "sends" if sites & set(readers[:1]) else "reads"
    where = f"{line_of(notes[0][0])} {does} it" if notes else "it is read"
    message = f"could not show that something has come into `{name}` or been written to it wherever {where}"
    notes += next((written(program, u, name) for u in buffer.uses if named_in(u) == name), ())
    if "->" in name or "." in name:  # of which struct
        notes += tuple((span, "the memory that is read there comes from here") for span in made_at(program, buffer)[:1])
    if name != buffer.name and "->" not in name:  # another variable, and not the same one by a pointer to its struct
        message += f"; the same text of the program names it and `{buffer.name}`"
    return Refusal(Reason.UNPAIRED, message, notes)


def _first_contents(program: Program, o: int) -> tuple[str, tuple[tuple[Span, str], ...]]:
    """What gives an object its first contents, in words and as a note."""
    if (filled := filled_at(program, o)) is not None:
        return filled
    variable = program.variables.get(program.values.objects.table[o].variable or "")
    if variable is None:
        return "what made it", ()
    if variable.init is not None:
        return f"its initialiser at {line_of(variable.span)}", ((variable.span, "initialised here"),)
    return "the program's start, which fills static memory with zeros,", ((variable.span, "declared here"),)


def filled_at(program: Program, o: int) -> tuple[str, tuple[tuple[Span, str], ...]] | None:
    """The call that allocates an object and gives it contents, in words and as a note; None for none."""
    table = program.values.objects.table
    info = table[o]
    heaps = [table[h] for h in info.members] if info.kind == "family" else [info]
    for n, filled in ((n, bool(filling(program, heap.number))) for heap in heaps for n in heap.nodes):
        action = program.graph.nodes[n].action
        frame = program.graph.frames[program.graph.nodes[n].frame]
        if filled and frame.call >= 0:
            span, what = node_span(program, frame.call), f"`{program.functions[frame.function].name}`"
            return f"{what} at {line_of(span)}", ((span, f"{what} writes it here"),)
        if not isinstance(action, ins.CallInstr) or not isinstance(action.callee, ins.AddrFunc):
            continue
        effect = program.effects.get(action.callee.key)
        spec = None if effect is None else effect.allocates
        if spec is not None and (spec.zeroed or spec.contents or spec.copies_from is not None):
            span, what = node_span(program, n), f"`{action.callee.key}`"
            return f"{what} at {line_of(span)}", ((span, f"{what} writes it here"),)
    return None


def _reads(program: Program, node: int, o: int, site: bool, name: str, verb: str = "read") -> str:
    action = program.graph.nodes[node].action
    if site and isinstance(action, ins.CallInstr):
        return f"`{name}` {SENT_HERE if _only_sends(program, node) else BUFFER_HERE}"
    called = _callee(program, node)
    if called:
        root = ", at its root" if verb != "used" and at_root(program, node, o, verb == "written") else ""
        return f"`{called}` {_VERBS[verb]} `{name}` here{root}"
    if verb == "used" and isinstance(action, (ins.Load, ins.Store)):
        verb = "written" if isinstance(action, ins.Store) else "read"
    return f"`{name}` is {verb} here"


def _only_sends(program: Program, node: int) -> bool:
    operation = names_of(program).operations.get(node)
    return operation is not None and operation.send is not None and operation.recv is None


def _callee(program: Program, node: int) -> str:
    """The function that a node calls by its name; '' for none."""
    action = program.graph.nodes[node].action
    if not isinstance(action, ins.CallInstr) or not isinstance(action.call.callee, ast.FuncRef):
        return ""
    key = action.call.callee.name  # of a static function, with the path of its file
    return program.functions[key].name if key in program.functions else key
