"""Whether the program ends on every way from a place: what a test for want of memory must come to.

The ways are followed with the integers that are known on them, so that `return -1`, and a caller that ends the program
when it gets -1, are seen as one.  An end is a call that never returns, or `return` from main with another number than
0. One in good order is none: a program that calls MPI_Finalize first, or whose code is 0, has told what it had to tell.
A code that is not known (``exit(status)``) may be 0, and one that is known has 8 bits.  A function that is given to
``atexit`` may do anything at an end; a loop that goes on for ever is none.  Where it is known what the ways must not
come to (``Past``), an end in good order is one, too: nothing but the way there is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

from opi_xform.graph.graph import MAIN, Bind, Lost, Unbind
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key, functions_called
from opi_xform.ir.comparisons import NEGATED
from opi_xform.ir.span import Span
from opi_xform.memory.values import Comparison
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.names import leaves, operands
from opi_xform.record import dataclass

Name = tuple[int, str | int]  # frame (-1: a global), variable or temporary
_State = tuple[int, int, bool, tuple[tuple[Name, int], ...]]
"""A block, the node after which its ways begin (-1: its start), whether comparisons are told, and what is known."""
_START: _State = (-1, -1, False, ())
_BUDGET = 4000  # nodes
ELSEWHERE = frozenset({"longjmp", "siglongjmp", "_longjmp", "__longjmp_chk", "pthread_exit", "thrd_exit"})
"""They never return, and the program goes on."""
_ANOTHER = frozenset({"execl", "execlp", "execle", "execv", "execvp", "execvpe", "execve", "execveat", "fexecve"})
"""Another program goes on in this one's place."""
_AT_ENDS = frozenset({"atexit", "on_exit", "at_quick_exit", "__cxa_atexit", "__cxa_at_quick_exit"})
_EXITS = frozenset({"exit", "_exit", "_Exit", "quick_exit"})
_ORDERLY = frozenset({"MPI_Finalize", "PMPI_Finalize", "MPI_Session_finalize", "PMPI_Session_finalize"})
NO_END = ELSEWHERE | _EXITS | _ORDERLY
"""After these the program goes on, or has ended in an order of its own."""
_OPS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge, "+": add, "-": sub, "*": mul}
NOTHING: Mapping[Comparison, bool] = {}


@dataclass(frozen=True, slots=True)
class Past:
    """What ways must not come to (``avoided``), and where another begins of which the same is asked (``anew``)."""

    avoided: frozenset[int]
    anew: frozenset[int]


def ends(
    program: Program,
    addressed: Collection[str],
    block: int,
    known: Mapping[Name, int],
    behind: int = -1,
    told: Mapping[Comparison, bool] = NOTHING,
    bodies: Collection[Span] = (),
    past: Past | None = None,
) -> bool:
    """Whether every way from the start of a block ends the program; known: numbers that variables have there.

    addressed: variables that may change through pointers.  behind: a node of the block after which the ways begin, in
    place of its start.  told: what comparisons of values find on the ways, until a loop is gone round: from then on its
    values are others.  bodies: text that is supposed to end it.  past: what the ways must not come to; an end in good
    order counts then.
    """
    return ways_to_end(program, addressed, block, known, behind, told, bodies, past) is not None


def ways_to_end(
    program: Program,
    addressed: Collection[str],
    block: int,
    known: Mapping[Name, int],
    behind: int = -1,
    told: Mapping[Comparison, bool] = NOTHING,
    bodies: Collection[Span] = (),
    past: Past | None = None,
) -> frozenset[tuple[int, int]] | None:
    """Where every way ends the program (``ends``): each block on the ways, with one before it (-1: it is the first).

    None: one may not end it.
    """
    graph = program.graph
    if _does_more(program):
        return None
    work = [(block, behind, dict(known), told, _START)]
    from_: dict[_State, set[_State]] = {}
    ended: set[_State] = set()
    steps = 0
    while work:
        block, behind, found, told, before = work.pop()
        nodes = graph.blocks[block]
        state = (block, behind, bool(told), tuple(sorted(found.items(), key=str)))
        known_before = from_.setdefault(state, set())
        been = bool(known_before)
        known_before.add(before)
        if been:
            continue
        if behind >= 0:
            nodes = nodes[nodes.index(behind) + 1 :]
        steps += len(nodes) + 1
        if steps > _BUDGET:
            return None
        following = _through(program, addressed, block, nodes, found, told, bodies, past)
        if following is None:
            return None
        if not following:
            ended.add(state)
        # where any end will do, nothing is counted from turn to turn of a loop
        again = found if past is None else {k: v for k, v in known.items() if found.get(k) == v}
        ways = ((b, found, told) if b > block else (b, again, NOTHING) for b in following)
        work.extend((b, -1, dict(numbers), what, state) for b, numbers, what in ways)
    found_ways = frozenset((b[0], s[0]) for s, before_it in from_.items() for b in before_it)
    return found_ways if _all_come_to(ended, from_) else None


def _all_come_to(ended: set[_State], from_: Mapping[_State, set[_State]]) -> bool:
    """Every state of the ways has a way to an end: none goes round for ever."""
    found, work = set(ended), list(ended)
    while work:
        new = from_.get(work.pop(), set()) - found
        found |= new
        work.extend(new)
    return found.issuperset(from_)


@once
def _does_more(program: Program) -> bool:
    """Functions of the program may run when it ends: what registers them is called, or its address is taken."""
    nodes = (*program.graph.nodes, *program.graph.background.nodes)
    if not _AT_ENDS.isdisjoint(
        name for key in program.graph.passed for name in functions_called(program.functions[key])
    ):
        return True
    said = (leaf for node in nodes for _, operand in operands(node) for leaf in leaves(operand))
    return any(isinstance(leaf, ins.AddrFunc) and leaf.key in _AT_ENDS for leaf in said)


def told_at(program: Program, block: int) -> dict[Comparison, bool]:
    """What the comparisons have found by which alone a block is come to, back to where ways meet."""
    return {found: held for _, found, held in come_by(program, block)}


def come_by(program: Program, block: int) -> list[tuple[int, Comparison, bool]]:
    """The same, each with the block that is entered by it."""
    graph, values = program.graph, program.values
    out: list[tuple[int, Comparison, bool]] = []
    while len(graph.preds[block]) == 1 and graph.preds[block][0] < block:
        (before,) = graph.preds[block]
        succs, nodes = graph.succs[before], graph.blocks[before]
        found = values.conditions.get(nodes[-1]) if nodes else None
        if found is not None and len(succs) == 2 and succs[0] != succs[1]:
            out.append((block, found, block == succs[0]))
        block = before
    return out


def stands_in(span: Span, text: Span) -> bool:
    return span.file == text.file and text.begin <= span.begin and span.end <= text.end


def found_by(told: Mapping[Comparison, bool], asked: Comparison | None) -> bool | None:
    """What a comparison finds where others have found this."""
    if asked is None:
        return None
    if asked in told:
        return told[asked]
    other = NEGATED.get(asked.op)
    found = None if other is None else told.get(replace(asked, op=other))
    return None if found is None else not found


def _through(
    program: Program,
    addressed: Collection[str],
    block: int,
    nodes: Sequence[int],
    found: dict[Name, int],
    told: Mapping[Comparison, bool],
    bodies: Collection[Span],
    past: Past | None,
) -> tuple[int, ...] | None:
    """The blocks that come next, () where the program ends; None: it may not.  Changes what is known to what it is at
    the end of the block.  nodes: what is left of it."""
    graph = program.graph
    succs = graph.succs[block]
    for n in nodes:
        node = graph.nodes[n]
        frame, action = node.frame, node.action
        if past is not None and n in past.anew:
            return ()
        if past is not None and n in past.avoided:
            return None
        if bodies and isinstance(action, ins.Instr) and any(stands_in(action.span, body) for body in bodies):
            return ()
        match action:
            case ins.Define(target=ins.Var(key=key)):
                value = None if key in addressed else _value(program, found, frame, action.value)
                _set(found, _variable(program, frame, key), value)
            case ins.Define(target=ins.Temp(number=number)):
                _set(found, (frame, number), _value(program, found, frame, action.value))
            case ins.Load(target=target):
                _set(found, (frame, target.number), None)
            case Bind(caller=caller, params=params, args=args):
                for key, given in zip(params, args, strict=False):
                    _set(found, (frame, key), None if key in addressed else _value(program, found, caller, given))
            case Unbind(callee=callee, target=target, value=result):
                if target is not None:
                    code = None if result is None else _value(program, found, callee, result)
                    _set(found, (frame, target.number), code)
            case ins.Birth(var=key):
                _set(found, _variable(program, frame, key), None)
            case ins.Branch(cond=cond) if len(succs) == 2:
                value = _value(program, found, frame, cond)
                if value is None:
                    value = found_by(told, program.values.conditions.get(n))
                if value is not None:
                    return (succs[0 if value else 1],)
            case ins.CallInstr() | Lost():
                call = action if isinstance(action, ins.CallInstr) else action.call
                name = called_key(call)
                if name in graph.background.lowered:
                    return None  # a summary does not say how the program ends, or that it does not
                if name in ELSEWHERE or name in _ANOTHER or (past is None and name in _ORDERLY):
                    return None
                if past is None and name in _EXITS:
                    code = _value(program, found, frame, call.args[0]) if call.args else None
                    if not (code or 0) & 0xFF:
                        return None
                if call.target is not None:
                    _set(found, (frame, call.target.number), None)
                if n not in graph.followed:
                    for known in [k for k in found if k[0] < 0]:
                        del found[known]
                if not succs and n == graph.blocks[block][-1]:
                    return ()  # it never returns
            case ins.ReturnInstr(value=result) if graph.frames[frame].parent < 0:
                code = None if result is None else _value(program, found, frame, result)
                said = past is not None or (code or 0) & 0xFF
                return () if said and graph.frames[frame].function == MAIN else None
            case _:
                pass
    return succs or None


def _variable(program: Program, frame: int, key: str) -> Name:
    return (-1 if program.variables[key].is_global else frame, key)


def _set(found: dict[Name, int], name: Name, value: int | None) -> None:
    found.pop(name, None)
    if value is not None:
        found[name] = value


def _value(program: Program, found: Mapping[Name, int], frame: int, operand: ins.Operand) -> int | None:
    """The number that an operand is, where it is known."""
    match operand:
        case ins.Const(value=value):
            return value
        case ins.Var(key=key) if not program.variables[key].type.volatile:
            return found.get(_variable(program, frame, key))
        case ins.Temp(number=number):
            return found.get((frame, number))
        case ins.Op(op=op, args=args, type=type_):
            values = [_value(program, found, frame, a) for a in args]
            numbers = [v for v in values if v is not None]
            if len(numbers) < len(values):
                return None
            if op == "not":
                return int(not numbers[0])
            if op == "neg":
                return -numbers[0]
            if op == "cast":
                return numbers[0] if type_.kind == "pointer" or type_.holds(numbers[0]) else None
            return int(_OPS[op](*numbers)) if op in _OPS and len(numbers) == 2 and not operand.unsigned else None
        case _:
            return None
