"""Which accesses decide that a use stays: each candidate is tried as if it were the only reader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from islpy import Set

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast, within
from opi_xform.memory.poly import number
from opi_xform.ownership.explain.called import called_back, called_from, of_another_choice
from opi_xform.ownership.explain.other_memory import elsewhere_of
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.earlier import only_earlier
from opi_xform.ownership.explain.reaching.in_common import meets
from opi_xform.ownership.explain.reaching.roots import on_no_root
from opi_xform.ownership.explain.reaching.touching import supposed
from opi_xform.ownership.explain.reaching.turns import of_another_row, own_turns, row_turns
from opi_xform.ownership.explain.reaching.ways import ahead, each_turn, in_turn
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Place, Program, Use
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import Expressions, function_expressions, in_same_words, spelling
from opi_xform.ownership.model.names import leaves, names_of, operands
from opi_xform.ownership.model.roots import variables_in
from opi_xform.ownership.procnull.counted import counting
from opi_xform.regions.sets import BudgetExceeded

EXCHANGED = "they change places here"  # as a note
SHOWN = 3  # nodes that are told
TRIES = 8  # candidates tried for one message, each by itself
_Asked = Callable[[Mapping[int, Set], Set], bool]
"""Whether bytes that are not there are needed: of the live regions after the sites and births, and at the start."""


def readers_after(judge: Judge, use: Use) -> tuple[int, ...]:
    """Nodes whose reads need bytes that are gone after the use; the nearest few, the first one surely.

    After a send, what reads the data goes before what sends it again: packing anew would not be enough there.  So it is
    not where something is written before it is read, and nothing before it is sent.  A call of MPI that reads it sends
    it again, too.  After a receive, what reads no more than a status says has come goes
    last.  What stands in the other arm of a branch goes after what the call's own process comes to anyway.
    """
    candidates = nearest(judge, use, ahead(judge.program.graph, use.node, readers_of(judge)))
    counted = {n for n in candidates if use.side == "recv" and counting(judge.program, use, n) is not None}
    excluded = excluded_after(judge, use)
    deeper = {n for n in candidates if supposed(judge.program, n, use.object)}
    less_sure = branches_of(judge.program).less_sure
    unsure = {n: (n in deeper, n in counted, *less_sure(use.node, n)) for n in candidates}
    chosen = {n for n in candidates if of_another_choice(judge.program, use.node, n)}
    candidates.sort(key=lambda n: (never_run(judge.program, n), excluded(n), n in chosen, *unsure[n]))
    found = _deciding(judge, candidates, lambda live, _: judge.needed(use, live))
    found = tuple(n for n in found if n not in deeper | chosen) or tuple(n for n in found if n not in deeper) or found
    found = tuple(n for n in found if n not in counted) or found
    found = tuple(n for n in found if not excluded(n)) or found[:1]
    if use.side == "send":
        calls = judge.use_nodes.keys() | names_of(judge.program).operations.keys()
        if calls.issuperset(found):
            others = [n for n in candidates if n not in calls and n not in deeper | chosen and not excluded(n)]
            found = (*_read_for_sure(judge, use, others), *found)[:2]
        found = tuple(sorted(found, key=calls.__contains__))
        if found and found[0] not in calls and written_between(judge, use, found[0]):  # it may be what came meanwhile
            again = [n for n in candidates if n in judge.use_nodes and not excluded(n)]
            again = [n for n in again if not written_between(judge, use, n)][:1]
            if again and _needs(judge, again, lambda live, _: judge.needed(use, live)):
                found = (*again, *found)[:2]
        return found
    if len(found) > 1 and use.length is not None and use.length.constant is None:
        return tuple(sorted(found, key=lambda n: _brought_by_any(judge, use, n)))
    return found


def _read_for_sure(judge: Judge, use: Use, nodes: list[int]) -> list[int]:
    """The nearest of some nodes that decides, where it reads bytes of the message and nothing is written before."""
    for n in (n for n in nodes[:TRIES] if not never_run(judge.program, n)):
        decides = _needs(judge, [n], lambda live, _: judge.needed(use, live))
        if decides and meets(judge, use, n) and not written_between(judge, use, n):
            return [n]
    return []


def never_run(program: Program, n: int) -> bool:
    """No process runs a node, as far as the tests around it and what calls pass tell: others are told before it."""
    return branches_of(program).never(program.graph.nodes[n].block) or elsewhere_of(program).never_called(n)


def excluded_after(judge: Judge, use: Use) -> Callable[[int], bool]:
    """Whether no process comes from a message's call to a node with the same memory: others are told before it."""
    program, own = judge.program, own_turns(judge.program, use)
    excluded = branches_of(program).excluded

    def found(n: int) -> bool:
        turns = own.intersection(program.nest.chain(program.graph.nodes[n].block))  # after them it may be of any turn
        sends = [u for u in judge.use_nodes.get(n, ()) if u.side == use.side]
        if (turns and not in_turn(program, use.node, n, turns)) or on_no_root(program, use.node, n, use.object):
            return True
        if n not in judge.use_nodes and of_another_row(program, use, n):
            return True
        return excluded(use.node, n, turns | row_turns(program, use, sends)) or only_earlier(program, use.node, n)

    return found


def nearest(judge: Judge, use: Use, nodes: Iterable[int]) -> list[int]:
    """In the order of a walk: what is in a message's own loops goes before what is behind them."""
    nest, graph = judge.program.nest, judge.program.graph
    around = {*nest.chain(graph.nodes[use.node].block)}
    return sorted(nodes, key=lambda n: -len(around.intersection(nest.chain(graph.nodes[n].block))))


def _brought_by_any(judge: Judge, use: Use, n: int) -> bool:
    """All that a node needs comes with a message of one element: it is harmless but for an empty one."""
    assert use.length is not None
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    try:
        with judge.regions.budget():
            live = judge.here(use, judge.live(None, frozenset([n]), assumed)[0].get(use.node, judge.regions.none))
            brought = judge.brought(use)
            one = judge.regions.compare(">=", use.length, number(1))
            return brought is not None and live.subtract(brought).intersect(one).is_empty()
    except BudgetExceeded:
        judge.regions.context.reset_operations()
        return False


def readers_of_first_contents(judge: Judge) -> tuple[int, ...]:
    """Nodes whose reads need what the buffer held before it was first written."""
    return _deciding(judge, sorted(readers_of(judge)), judge.reads_initial)


def readers_of_no_contents(judge: Judge) -> tuple[int, ...]:
    """Nodes that read the buffer where nobody may have written to it."""
    return _deciding(judge, sorted(readers_of(judge)), lambda live, _: judge.reads_unwritten(live))


def unwritten(judge: Judge, without: Collection[int]) -> bool:
    """The buffer is read where nobody may have written to it.  without: nodes that do not count."""
    if not judge.unwritten or not without:
        return judge.unwritten
    others = sorted(readers_of(judge) - set(without))
    return _needs(judge, others, lambda live, _: judge.reads_unwritten(live))


def touches_beyond(judge: Judge, use: Use, most: int = SHOWN) -> tuple[int, ...]:
    """Nodes after a receive that may touch the buffer beyond what it makes room for, nearest first."""
    nodes = ahead(judge.program.graph, use.node, {*judge.accesses, *judge.use_nodes})
    covered = judge.message(use)
    found: list[int] = []
    try:
        with judge.regions.budget():
            for n in nodes if covered is not None else ():
                if any(not r.subtract(covered).is_empty() for r in _regions(judge, n)):
                    found.append(n)
                if len(found) == most:
                    break
    except BudgetExceeded:
        judge.regions.context.reset_operations()
    return tuple(found or nodes[:SHOWN])


def told_beyond(judge: Judge, use: Use) -> tuple[int, ...]:
    """Those that are told of them: where there are any, none that no process comes to after the receive.

    What touches as much as the message has may touch more in another turn, where the message has another length.
    """
    nodes, excluded = touches_beyond(judge, use, TRIES), excluded_after(judge, use)
    found = [n for n in nodes if not excluded(n)]
    if not found:
        graph, around = judge.program.graph, judge.program.nest.chain(judge.program.graph.nodes[use.node].block)
        others = ahead(graph, use.node, {*judge.accesses, *judge.use_nodes})
        found = [n for n in others if not excluded(n) and not in_turn(judge.program, use.node, n, around)]
    return tuple(found or nodes)[:SHOWN]


def _regions(judge: Judge, n: int) -> Iterator[Set]:
    """What a node may touch of the object, where it runs."""
    for place in (*judge.accesses.get(n, ()), *judge.use_nodes.get(n, ())):
        region = judge.region(n, place.lo, place.length, False)
        if region is not None:
            yield judge.under(n, region)


def readers_of(judge: Judge) -> set[int]:
    """Nodes that read the object, sends of it included."""
    sends = {u.node for u in judge.uses if u.side == "send"}
    return sends.union(n for n, found in judge.accesses.items() if any(a.kind == "R" for a in found))


def _deciding(judge: Judge, candidates: Iterable[int], asked: _Asked) -> tuple[int, ...]:
    """The nearest few of the candidates that decide, two at most; where none is found, the nearest."""
    every = list(candidates)
    out: list[int] = []
    for n in every[:TRIES]:
        if _needs(judge, [n], asked):
            out.append(n)
        if len(out) == 2:
            break
    if not out and len(every) > TRIES:
        out.extend(_first(judge, every, asked))
    return tuple(out or every[:1])


def _first(judge: Judge, candidates: list[int], asked: _Asked) -> list[int]:
    """The first that decides, where the nearest do not: what several read is needed as soon as one of them reads it."""
    few, many = TRIES, len(candidates)
    if not _needs(judge, candidates, asked):
        return []
    while many - few > 1:
        middle = (few + many) // 2
        if _needs(judge, candidates[:middle], asked):
            many = middle
        else:
            few = middle
    found = candidates[many - 1 : many]
    return found if _needs(judge, found, asked) else []


def _needs(judge: Judge, nodes: list[int], asked: _Asked) -> bool:
    """Bytes that are gone are needed if these nodes are all that reads; False where that takes too long to tell."""
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    try:
        with judge.regions.budget():
            found, at_entry = judge.live(None, frozenset(nodes), assumed)
            return asked(found, at_entry)
    except BudgetExceeded:
        judge.regions.context.reset_operations()
        return False


def written_between(judge: Judge, use: Use, n: int) -> bool:
    """Every way from a use to a node passes what writes the buffer, or receives into it, other than before the use."""
    program, graph, nest = judge.program, judge.program.graph, judge.program.nest
    start, end = graph.nodes[use.node].block, graph.nodes[n].block
    around = {*nest.chain(end)}
    turns = around.intersection(nest.chain(start))
    own = [loop for loop in nest.chain(end) if loop not in turns][-1:]
    head = nest.loops[own[0]].header if own else end
    earlier = nest.dominates(head, start) if head != start else n < use.node  # it comes in another turn alone
    writes = {m for m, found in judge.accesses.items() if any(a.kind == "W" for a in found)}
    received = {m: [u for u in uses if u.side == "recv"] for m, uses in judge.use_nodes.items()}
    writes |= {m for m, uses in received.items() if any(not _of_other_row(program, use, u) for u in uses)}
    for m in ahead(graph, use.node, writes - {use.node, n}):
        here = graph.nodes[m].block
        outer = [loop for loop in nest.chain(here) if loop not in around][-1:]
        block = nest.loops[outer[0]].header if outer else here
        behind = not nest.dominates(block, start) if block != start else m > use.node and not outer
        behind = behind or (earlier and turns.issubset(nest.chain(block)))
        if on_no_root(program, use.node, m, use.object, True) or (outer and not each_turn(nest, here, outer[0])):
            continue
        if behind and (nest.dominates(block, end) if block != end else m < n and not outer):
            return True
    return False


def _of_other_row(program: Program, use: Use, other: Use) -> bool:
    """A message's row has another number than that of a use, as the program computes both: it is told to be another."""
    symbols = program.values.symbols
    rows = [None if u.row is None else symbols.resolve(u.row) for u in (use, other)]
    known = [row for row in rows if row is not None and not symbols.scope(row)]
    return len(known) == len(rows) and known[0] != known[1]


def writes_beside(judge: Judge, use: Use, n: int) -> int | None:
    """The nearest node that always runs before a message, in its turn, and writes beside it what another may read."""
    graph, nest, block = judge.program.graph, judge.program.nest, judge.program.graph.nodes[use.node].block
    around = {*nest.chain(block)}
    if use.lo is None or use.length is None:
        return None
    assumed: frozenset[str] = frozenset() if judge.strict else frozenset({PADDING, SIGNS})
    try:
        with judge.regions.budget():
            sent = judge.region(use.node, use.lo, use.length, True)
            live = judge.here(use, judge.live(None, frozenset([n]), assumed)[0].get(use.node, judge.regions.none))
            for m in sorted(judge.accesses, reverse=True):
                here = graph.nodes[m].block
                always = m < use.node if here == block else nest.dominates(here, block)
                if sent is None or not always or not around.issuperset(nest.chain(here)):
                    continue
                for a in (a for a in judge.accesses[m] if a.kind == "W" and a.lo is not None and a.length is not None):
                    region = judge.region(m, a.lo, a.length, True) if a.lo is not None else None
                    if region is None or region.is_empty() or not region.intersect(sent).is_empty():
                        continue
                    if not live.intersect(region).is_empty():
                        return m
    except BudgetExceeded:
        judge.regions.context.reset_operations()
    return None


def least_count(judge: Judge, use: Use, converted: Collection[Place] | None = None) -> int | None:
    """If a receive were known to be of so many elements or more, it would bring all that is needed of its buffer.

    converted: sites that convert; it is asked for what is touched then, and not only read.
    """
    if use.length is None or use.side != "recv" or use.length.constant is not None or use.op.replaces:
        return None
    try:
        with judge.regions.budget():
            live = judge.here(use, judge.live(converted)[0].get(use.node, judge.regions.none))
            brought = judge.brought(use)
            for least in (0, 1) if brought is not None else ():
                enough = judge.regions.compare(">=", use.length, number(least))
                if live.subtract(brought).intersect(enough).is_empty():
                    return least
    except BudgetExceeded:
        judge.regions.context.reset_operations()
    return None


def same_words(written: Expressions, program: Program, use: Use, n: int) -> bool:
    """A load names the place of a message as the call does: `a[first[i]]`, of each turn as `&a[first[i]]` was."""
    node, e = program.graph.nodes[n], uncast(use.call.args[use.argument])
    read = written.of(program.graph.frames[node.frame].function, node.action)
    return isinstance(node.action, ins.Load) and isinstance(e, ast.AddrOf) and in_same_words(read, e.operand)


def place_in_words(written: Expressions, program: Program, use: Use, n: int) -> bool:
    """A load of the call's function names a place as the call does: `a[k]` and `a[k][j]`, where that is `a[k]`."""
    node, e = program.graph.nodes[n], uncast(use.call.args[use.argument])
    if not isinstance(node.action, ins.Load) or node.frame != program.graph.nodes[use.node].frame:
        return False
    e = e.operand if isinstance(e, ast.AddrOf) else e
    read = written.of(program.graph.frames[node.frame].function, node.action)
    while isinstance(read, ast.Index):
        if in_same_words(read, e):
            return True
        read = read.base
    return False


def own_words_first(
    written: Expressions, program: Program, use: Use, nodes: Iterable[int], among: Iterable[int]
) -> list[int]:
    """Nodes, first those that read in the message's own turn what the call names; among: which these may be."""
    names, frames, frame = names_of(program), program.graph.nodes, program.graph.nodes[use.node].frame
    around = program.nest.chain(frames[use.node].block)
    plain = {n for n in among if place_in_words(written, program, use, n) and in_turn(program, use.node, n, around)}
    if not plain:
        return list(nodes)
    lines = {(span.file, span.line) for span in map(names.span, plain)}
    line = {n: (span.file, span.line) for n in nodes for span in (names.span(n),)}
    return sorted(line, key=lambda n: (n not in plain, line[n] not in lines, frames[n].frame != frame))


def together(written: Expressions, program: Program, use: Use, reads: list[tuple[Span, int]]) -> list[tuple[Span, int]]:
    """Reads that are told; next to one by the words of the call none of the other arm of an `if`."""
    first, around = reads[0][1], program.nest.chain(program.graph.nodes[use.node].block)
    if len(reads) > 1 and place_in_words(written, program, use, first):
        n = reads[1][1]
        if not in_turn(program, first, n, around) and not in_turn(program, n, first, around):
            return reads[:1]
    return reads


def why_beside(program: Program, use: Use, name: str, n: int) -> str:
    """Why what a node reads may lie beside the message that is written before, in words; '' for what is not known.

    Pointers of several structs may count as one, with the allocations of all: those that ``name`` is set to are told.
    """
    info = program.values.objects.table[use.object]
    heaps = (program.values.objects.table[m] for m in info.members or (use.object,))
    nodes = {m: names_of(program).span(m) for heap in heaps for m in heap.nodes}
    mine = [span for m, span in nodes.items() if _set_to(program, name, m, span)]
    made = dict.fromkeys(mine or nodes.values())
    if len({(span.file, span.line) for span in made}) > 1:
        return f": {lines_of(made)} allocate it, perhaps with more than the message has"
    index = unknown_index(program, use, n)
    return f": what `{index}` is there is not known" if index else ""


def _set_to(program: Program, name: str, n: int, span: Span) -> bool:
    """What is written so is set to what a call allocates, by an assignment around it."""
    function = program.functions[program.graph.frames[program.graph.nodes[n].frame].function]
    sets = (e for e in function_expressions(function) if isinstance(e, ast.Assign) and spelling(e.target) == name)
    return any(e.value.span.file == span.file and e.span.begin <= span.begin < e.span.end for e in sets)


def why_unknown(program: Program, use: Use, n: int) -> str:
    """Why it is not known what a node reads of the memory of a message, in words; '' for what is not known."""
    back = called_back(program, n)
    if back is not None and called_from(program, use.node, n) is None:
        span, library, function = back
        return f": `{library}` at {line_of(span)} calls `{function}`, and for which elements is not known"
    name, anew = set_anew(program, use, n)
    if anew:
        does = "sets" if len({(span.file, span.line) for span in anew}) == 1 else "set"
        return f": {lines_of(anew)} {does} `{name}` anew, to what could not be shown to be other memory"
    index = unknown_index(program, use, n)
    return f": what `{index}` is there is not known" if index else ""


def set_anew(program: Program, use: Use, n: int) -> tuple[str, tuple[Span, ...]]:
    """Where the variable of a call that a node reads by has been set on each way there; () where it is that one yet."""
    e, names, graph = uncast(use.call.args[use.argument]), names_of(program), program.graph
    frame = graph.nodes[use.node].frame
    if not isinstance(e, ast.VarRef) or graph.nodes[n].frame != frame:
        return "", ()
    read = {leaf.key for _, o in operands(graph.nodes[n]) for leaf in leaves(o) if isinstance(leaf, ins.Var)}
    variable = program.variables[e.var]
    o = program.values.objects.variable(-1 if variable.is_global else frame, e.var)
    sets = set(names.defs.get(("v", o, 0), ()))
    if e.var not in read or not sets:
        return "", ()
    found, seen = set[int](), set[int]()
    work = [(graph.nodes[use.node].block, use.node)]
    for block, behind in work:
        here = [m for m in graph.blocks[block] if m > behind and (m == n or m in sets)]
        if here[:1] == [n]:
            return "", ()
        found.update(here[:1])
        fresh = [b for b in graph.succs[block] if b not in seen and not here]
        seen.update(fresh)
        work.extend((b, -1) for b in fresh)
    shown = dict.fromkeys(names.span(m) for m in sorted(found) if names.follows(m, n))
    return variable.name, tuple(shown)


def unknown_index(program: Program, use: Use, n: int) -> str:
    """The variable that says which element a node reads, where nothing is known of its value; '' for none."""
    node = program.graph.nodes[n]
    if not isinstance(node.action, ins.Load):
        return ""
    e = Expressions(program).of(program.graph.frames[node.frame].function, node.action)
    index = uncast(e.index) if isinstance(e, ast.Index) else None
    if index is None or not unknown_place(program, use, n):
        return ""
    if isinstance(index, ast.VarRef):
        return spelling(index)
    frame = program.graph.nodes[n].frame
    if not isinstance(index, ast.Binary) or index.op not in ("+", "-"):
        return ""
    for key in variables_in(index):  # one of those that are added up
        alone = any(isinstance(x, ast.VarRef) and x.var == key for x in (index.left, index.right))
        if alone and comes_from_outside(program, frame, key):
            return program.variables[key].name
    return ""


def comes_from_outside(program: Program, frame: int, key: str) -> bool:
    """A local number is set by a call alone that gets its address: a message brings it, say."""
    o = program.values.objects.variable(-1 if program.variables[key].is_global else frame, key)
    names, nodes = names_of(program), program.graph.nodes
    sets = [d for d in names.defs.get(("v", o, 0), ()) if not isinstance(nodes[d].action, ins.Birth)]
    writes = [a.node for a in names.writes(o)]
    return not sets and any(isinstance(nodes[m].action, ins.CallInstr) for m in writes)


def product_in_index(program: Program, n: int) -> str:
    """What is said of a load of an element whose number is a product, `a[i * w + j]`; '' elsewhere."""
    node = program.graph.nodes[n]
    e = Expressions(program).of(program.graph.frames[node.frame].function, node.action)
    parts = within(e.index) if isinstance(e, ast.Index) else ()
    products = (x for x in parts if isinstance(x, ast.Binary) and x.op == "*")
    found = any(variables_in(x.left) and variables_in(x.right) for x in products)
    return ": the index there is a product of numbers that the program computes" if found else ""


def unknown_place(program: Program, use: Use, n: int) -> bool:
    """Nothing is known of a number that says where a node touches the memory of a message."""
    symbols = program.values.symbols
    places = [a.lo for a in program.values.accesses.at_object(n, use.object) if a.kind == "R"]
    found = ({symbols.table[s].kind for s in symbols.resolve(lo).symbols()} for lo in places if lo is not None)
    return bool(places) and all(kinds - {"count", "row", "object"} for kinds in found)
