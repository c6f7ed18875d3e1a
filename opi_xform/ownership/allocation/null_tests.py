"""Tests of a pointer against NULL: they must find the same when its buffer has been given away, or was not made yet.

Where the program has surely set the pointer to memory, the test finds some, and OPI_Alloc comes before it.  Where it
may be NULL in the program, no call may be put in that decides it.  What becomes of a test's value is not followed; one
that is returned, or kept as it is, is a choice, and so a test like one in an `if` (``ir/lowering/truths.py``).

That malloc returned memory is not known by itself: a program may have a way of its own for when there is none (a
smaller buffer, a file, an error code), and OPI_Alloc ends the job there.  It is known where the program itself ends for
want of memory, before the test or at it, and where it has read or written the memory; and where it ends on every way
from a malloc that returned none: `p = some ? malloc(n) : NULL; if (!p && some) exit(1);`.

Nor does it matter where OPI_Malloc stands for malloc, and tells of no memory as malloc does.  Then a test right behind
it finds what it found.  Where it finds NULL the program ends, in good order or not, or allocates once more; until then
it comes to nothing else that brings memory, and does what it did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.endings import Name, Past, come_by, ends, found_by, stands_in, told_at
from opi_xform.ownership.spelling.mentions import plain
from opi_xform.values.unset.nullable import may_be_null

GOES_ON = "where it could not be shown that the program ends in failure for want of memory"


def uncertain_test(
    program: Program,
    buffer: Buffer,
    tests: Iterable[int],
    known: Collection[int],
    addressed: Collection[str],
    unmoved: Collection[int] = (),
    ended: Collection[int] = (),
    bodies: Collection[Span] = (),
    past: Past | None = None,
) -> tuple[int, str] | None:
    """The first test that may find NULL in the program, and why that matters.

    known: those that do the same whatever they find.  addressed: variables that may change through pointers.
    unmoved: those that find NULL where the program has it, but for want of memory: there the job has ended.
    ended: those before which the program is supposed to end where they find NULL.  bodies: text that is supposed to
    end it.  past: what the ways must not come to on which OPI_Malloc has found no memory; None: it stands nowhere.
    """
    unproved: dict[int, frozenset[int]] = {}  # by object: what one comes to before it is known that there is memory
    for n in sorted(tests):
        if n in known or n in ended or gives_up(program, buffer, n, addressed, n in unmoved):
            continue
        if past is not None and n in unmoved and gives_up(program, buffer, n, addressed, True, past):
            continue
        if n not in unmoved and not _certain(program, buffer, n):
            return n, "where it need not have been allocated"
        if not _proved(program, buffer, n, addressed, unproved, unmoved, ended, bodies, past):
            return n, GOES_ON
    return None


def can_be_told(call: ast.Call) -> bool:
    """OPI_Malloc fails where this call of an allocator does, and leaves what that leaves.

    The product of calloc must not come to less than it is: one factor is an int, and the other one is constant.
    """
    name = called_name(call)
    factors = [plain(e) for e in call.args]
    fixed = [isinstance(e, ast.SizeOf) or (isinstance(e, ast.IntLit) and 0 <= e.value < 1 << 31) for e in factors]
    few = [known or (e.type.size or 8) <= 4 for e, known in zip(factors, fixed, strict=True)]
    return name == "malloc" or (name == "calloc" and any(fixed) and all(few))


def always_set(program: Program, n: int) -> bool:
    """A pointer that is compared there is known, and NULL only for want of memory."""
    found, tested = program.values.operands.get(n, ()), _tested(program, n, False)
    return (
        bool(tested) and tested == _tested(program, n, True) and not any(may_be_null(program.values, v) for v in found)
    )


def _certain(program: Program, buffer: Buffer, n: int) -> bool:
    """The pointer was set to memory, and nothing else can be in it.

    Where it is surely NULL, an acquire may come to stand before the test, for what stands after it.
    """
    if not isinstance(program.graph.nodes[n].action, ins.Branch):
        return False
    symbols = program.values.symbols
    found = program.values.operands.get(n, ())
    bases = [symbols.base(v) for v in found]
    if not any(base is not None for base in bases):
        return False
    if any(may_be_null(program.values, v) for v in found):
        return False
    table = program.values.objects.table
    return not any(
        base in buffer.objects and (table[base].kind == "family" or symbols.resolve(symbols.offset(v)).constant is None)
        for base, v in zip(bases, found, strict=True)
        if base is not None
    )


def body_for_want(program: Program, n: int) -> Span | None:
    """What the `if` with a test does, where it is done only when malloc was called and has returned none."""
    graph, action = program.graph, program.graph.nodes[n].action
    condition, following = program.values.conditions.get(n), graph.succs[graph.nodes[n].block]
    if not isinstance(action, ins.Branch) or action.stmt < 0 or condition is None or len(following) != 2:
        return None
    frames = [f.number for f in graph.frames if f.function == graph.frames[graph.nodes[n].frame].function]
    stmt = graph.lowered[graph.frames[frames[0]].function].stmts[action.stmt].stmt
    if len(frames) > 1 or not isinstance(stmt, ast.If):
        return None
    body = stmt.then.span
    inside = (m for m in graph.nodes if m.frame == frames[0] and isinstance(m.action, ins.Instr))
    block = min(
        (m.block for m in inside if isinstance(m.action, ins.Instr) and stands_in(m.action.span, body)), default=-1
    )
    if block < 0:
        return None
    entered = come_by(program, block)
    told = {found: held for _, found, held in entered}
    if following[0 if condition.op == "==" else 1] not in [b for b, _, _ in entered]:
        return None
    objects = [program.values.objects.table[o] for o in _tested(program, n, True)]
    calls = [m for o in objects for m in o.nodes]
    for m in calls:
        for b, found, held in come_by(program, graph.nodes[m].block):
            if found_by(told, found) is not held and not program.nest.dominates(b, block):
                return None
    return body if calls else None


def _tested(program: Program, n: int, absent: bool) -> set[int]:
    """The objects that a test compares with NULL.  absent: also one whose pointer is NULL on some of the ways."""
    symbols, found = program.values.symbols, program.values.operands.get(n, ())
    bases = (symbols.base(symbols.not_null(v) if absent else v) for v in found)
    return {base for base in bases if base is not None}


def _proved(
    program: Program,
    buffer: Buffer,
    n: int,
    addressed: Collection[str],
    unproved: dict[int, frozenset[int]],
    unmoved: Collection[int],
    ended: Collection[int],
    bodies: Collection[Span],
    past: Past | None,
) -> bool:
    """Wherever the pointer comes from, it is known at the test that malloc returned memory.

    unmoved: where it is NULL there, the program has it so; but of what it comes from something must be known.
    """
    absent = n in unmoved
    table, tested = program.values.objects.table, _tested(program, n, absent)
    if absent and not tested:  # what is compared there is not known: it may be any of them
        return all(ends_without(program, addressed, o, bodies) for o in buffer.objects)
    for base in sorted(tested):
        if table[base].kind not in ("heap", "family"):
            continue
        if base not in unproved:
            without = ends_without(program, addressed, base, bodies)
            shown = () if without else _unproved(program, buffer, base, addressed, ended, unmoved, past)
            unproved[base] = frozenset(shown)
        if n in unproved[base]:
            return False
    return True


def ends_without(program: Program, addressed: Collection[str], o: int, bodies: Collection[Span] = ()) -> bool:
    """Where malloc returns no memory for an object the program ends, whatever it does until then.

    bodies: text that is supposed to end it.
    """
    graph, info = program.graph, program.values.objects.table[o]
    for n in info.nodes:
        node = graph.nodes[n]
        call = node.action
        if not isinstance(call, ins.CallInstr) or not isinstance(call.callee, ins.AddrFunc) or call.target is None:
            return False
        effect = program.effects.get(call.callee.key)
        if effect is None or effect.allocates is None or effect.allocates.into is not None:
            return False
        known: dict[Name, int] = {(node.frame, call.target.number): 0}
        if not ends(program, addressed, node.block, known, n, told_at(program, node.block), bodies):
            return False
    return info.kind == "heap" and bool(info.nodes)


def _unproved(
    program: Program,
    buffer: Buffer,
    o: int,
    addressed: Collection[str],
    ended: Collection[int],
    unmoved: Collection[int],
    past: Past | None,
) -> frozenset[int]:
    """The nodes that can be reached from where the object is allocated with nothing on the way that shows that there is
    memory: a test without which the program ends, a load or a store through the pointer.

    Of several buffers that one object stands for (a family), an access shows nothing about the others.
    """
    graph, values = program.graph, program.values
    info = values.objects.table[o]
    heaps = [values.objects.table[h] for h in info.members] if info.kind == "family" else [info]
    sources = [n for heap in heaps for n in heap.nodes]

    def shown(n: int) -> bool:
        action = graph.nodes[n].action
        if isinstance(action, (ins.Load, ins.Store)):
            return info.kind == "heap" and values.accesses.touches(n, (o,)) and not values.accesses.touches_other(n, o)
        if n in ended or not isinstance(action, ins.Branch):
            return n in ended
        quietly = past is not None and n in unmoved and gives_up(program, buffer, n, addressed, True, past)
        return quietly or gives_up(program, buffer, n, addressed)

    seen: set[int] = set()
    work = [(graph.nodes[n].block, n) for n in sources]  # what comes behind node n in its block; -1: the whole block
    entered: set[int] = set()
    while work:
        block, behind = work.pop()
        nodes = graph.blocks[block]
        for n in nodes[nodes.index(behind) + 1 :] if behind >= 0 else nodes:
            seen.add(n)
            if shown(n):
                break
        else:
            fresh = [t for t in graph.succs[block] if t not in entered]
            entered.update(fresh)
            work.extend((t, -1) for t in fresh)
    return frozenset(seen)


def gives_up(
    program: Program,
    buffer: Buffer,
    n: int,
    addressed: Collection[str],
    absent: bool = False,
    past: Past | None = None,
) -> bool:
    """The buffer is held at the test, and where there is none the program ends.

    absent: it need not be held there; where the pointer is NULL, it is so in the program, too.  past: what it must not
    come to until then, where it may end in good order.
    """
    if _tested(program, n, absent).isdisjoint(buffer.objects):
        return False
    node = program.graph.nodes[n]
    condition = program.values.conditions.get(n)
    following = program.graph.succs[node.block]
    if condition is None or condition.op not in ("==", "!=") or len(following) != 2:
        return False
    assert isinstance(node.action, ins.Branch)
    arm = following[0 if condition.op == "==" else 1]
    return ends(program, addressed, arm, _null(program, node.frame, node.action.cond, addressed), past=past)


def _null(program: Program, frame: int, cond: ins.Operand, addressed: Collection[str]) -> dict[Name, int]:
    """The variable that was compared is NULL on that way."""
    args = cond.args if isinstance(cond, ins.Op) and cond.op in ("==", "!=", "not") else (cond,)
    for item in args:
        if isinstance(item, ins.Temp):
            return {(frame, item.number): 0}
        if isinstance(item, ins.Var) and item.key not in addressed:
            return {(-1 if program.variables[item.key].is_global else frame, item.key): 0}
    return {}
