"""Whether the pattern tables allow a site: asked of each that liveness lets convert.

For each thing that is needed of the buffer's bytes (a read, a send) the table of the site's side runs backward over the
paths that lead on from the site.  What excludes a path is read off the comparisons on it: those that always held at the
site, and those that always hold where the bytes are needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.dataflow.lattice import TupleLattice
from opi_xform.dataflow.solver import solve
from opi_xform.dataflow.table import Sets, shipped_table
from opi_xform.dataflow.view import ListGraph, View
from opi_xform.ir.span import Span
from opi_xform.memory.poly import Poly, number, symbol
from opi_xform.once import once
from opi_xform.ownership.explain.called import loop_around, node_span, only_where
from opi_xform.ownership.liveness.broadcasts import broadcasts_of
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Refusal, Use
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.patterns.happenings import Happening, Happenings, block_order
from opi_xform.ownership.patterns.outcomes import Bound, Bounds, Outcomes
from opi_xform.ownership.patterns.paths import Paths, Way
from opi_xform.ownership.procnull.sources import destination

State = tuple[int, ...]
_ZERO = number(0)
_PARTS = ("here", "earlier")
"""What is known of the turns of the loops around a need: they are those in which it runs, or earlier ones."""


class Question:
    """One site and one need, as a dataflow problem.  States: sets of the table's, by ``_PARTS``.

    Of several needs: the question that is answered "allowed" only where that is so of each of them.
    Nothing that holds at one of them is used, and a write counts only if it does for all.
    """

    def __init__(self, patterns: Patterns, site: Happening, needs: Sequence[Happening]) -> None:
        self.patterns = patterns
        self.happenings, self.outcomes, self.program = patterns.happenings, patterns.outcomes, patterns.program
        self.site, need = site, needs[0]
        self.needs = {id(h) for h in needs}
        self.kinds = list({(h.lo, h.length, h.row): h for h in needs}.values())
        self.told: dict[tuple[int, int], list[tuple[str, bool]]] = {}
        assert site.use is not None
        self.receives = site.kind == "recv"
        self.table = shipped_table("receive-pattern" if self.receives else "send-pattern")
        self.harm = sum(self.table.states.values()) & ~self.table.allows
        self.lattice = TupleLattice(Sets(self.table), _PARTS)
        graph, nest = self.program.graph, self.program.nest
        self.begin, end = graph.nodes[site.node].block, graph.nodes[need.node].block
        self.ends = {graph.nodes[h.node].block for h in needs}
        alone = len(needs) == 1
        self.around = frozenset(nest.chain(end)) if alone else frozenset()
        self.at_site = self.outcomes.around(self.begin)
        self.at_need = patterns.at_need(need, end) if alone else {}
        self.steady = {p: b for p, b in self.at_site.items() if not self.outcomes.symbols.scope(p)}
        self.paths = patterns.paths(frozenset(i for b in (self.begin, *self.ends) for i in nest.chain(b)))
        self.known_at: tuple[dict[Poly, Bound], dict[Poly, Bound]] = (dict(self.at_need), {})
        for of, bound in self.at_need.items():
            if not self.outcomes.symbols.scope(of):
                self.known_at[1][of] = bound
        self.nodes: list[tuple[int, int]] = []  # block, and a phase (``graph``)
        self.ways: dict[tuple[int, int], list[Way]] = {}

    # --- the paths from the site -----------------------------------------------------------------------------------

    def view(self) -> View:
        """The paths, in the direction of the table; those of one site and of the same open loops are found once."""
        key = (self.site.node, self.site.kind, self.paths.opened)
        found = self.patterns.views.get(key)
        if found is None:
            found = self.patterns.views[key] = (self.table.view(self.graph()), self.nodes, self.ways)
        view, self.nodes, self.ways = found
        return view

    def graph(self) -> ListGraph:
        """The paths on from the site that what held there does not exclude.

        Phases: -1 is the rest of the site's block, 0 the same turn of all loops around the site; i + 1 where of these
        loop i has turned last, so that it is not in its first turn.
        """
        mine = set(self.program.nest.chain(self.begin))
        number: dict[tuple[int, int], int] = {(self.begin, -1): 0}
        self.nodes = [(self.begin, -1)]
        succs: list[list[int]] = []
        for i, (block, phase) in enumerate(self.nodes):
            found: list[int] = []
            for way in self.paths.ways(block):
                if self.excluded_by_site(way, phase):
                    continue
                if way.to < 0:
                    continue
                turned = [i for i in way.turned if i in mine]
                to = (way.to, turned[-1] + 1 if turned else max(phase, 0))
                at = number.get(to)
                if at is None:
                    at = number[to] = len(self.nodes)
                    self.nodes.append(to)
                found.append(at)
                self.ways.setdefault((i, at), []).append(way)
            succs.append(found)
        return ListGraph.of(succs)

    def excluded_by_site(self, way: Way, phase: int) -> bool:
        """What an edge says does not go together with what held at the site."""
        known = self.at_site
        if phase > 0:
            count = symbol(self.outcomes.symbols.count(phase - 1))
            then = self.at_site.get(count)
            known = {**self.steady, count: Bound(count, lo=1 + max(0, then.lo if then is not None else 0))}
        return any(self.outcomes.impossible(b, known) for b in self.outcomes.of_edge(way.source, way.first))

    def open_after(self) -> bool:
        """The table does not allow what leads on from the site."""
        if self.excluded([b for b in self.steady.values() if b.of in self.known_at[1]], True):
            return False  # it is needed on other ranks than the site's, say
        view = self.view()
        if not any(block in self.ends for block, _ in self.nodes):
            return False
        solution = solve(view, self)
        here, earlier = solution.after[0]
        return bool((here | earlier) & self.harm)

    # --- the dataflow problem --------------------------------------------------------------------------------------

    def boundary(self, node: int) -> State:
        del node
        return (0, self.table.start)

    def transfer(self, node: int, state: State) -> State:
        here, earlier = state
        for event, need in reversed(self.events(*self.nodes[node])):
            step = self.table.steps[event]
            if need:
                here, earlier = step[here | earlier], 0
            else:
                here, earlier = step[here], step[earlier]
        return here, earlier

    def events(self, block: int, phase: int) -> list[tuple[str, bool]]:
        """The table's events at a node, and whether each is a need."""
        found = self.told.get((block, phase))
        if found is None:
            found = self.told[block, phase] = self.events_at(block, phase)
        return found

    def events_at(self, block: int, phase: int) -> list[tuple[str, bool]]:
        loop = self.paths.closed(block)
        if loop >= 0:
            known = (self.steady, self.known_at[1])  # of no loop's turns: it held at the site, or does at the need
            return [(_least([self.patterns.loop_event(loop, need, known) for need in self.kinds]), False)]
        out = []
        brings = self.site if self.receives else None
        for h in self.patterns.after(self.site) if phase < 0 else self.patterns.by_block.get(block, ()):
            if id(h) in self.needs:
                out.append((self.happenings.event(h, h, brings), True))
            elif not h.needs:
                h = self.surely(h)
                out.append((_least([self.happenings.event(h, need, brings) for need in self.kinds]), False))
        return out

    def surely(self, h: Happening) -> Happening:
        """A broadcast writes all of its buffer on every rank but its root, which the site's is not."""
        found = self.patterns.broadcasts.get(h.node) if h.kind == "write" else None
        if found is None or not found.brings:
            return h
        at_root = self.outcomes.bound(found.away, "==")
        return replace(h, certain=True) if self.outcomes.impossible(at_root, self.steady) else h

    def transfer_edge(self, source: int, target: int, state: State) -> State:
        here = earlier = 0
        for way in self.ways[source, target]:
            a, b = self.along(way, state)
            here, earlier = here | a, earlier | b
        return here, earlier

    def along(self, way: Way, state: State) -> State:
        here, earlier = state
        if not self.around.isdisjoint(way.turned):
            here, earlier = 0, here | earlier
        said = self.outcomes.of_edge(way.source, way.first)
        if here & self.harm and (self.excluded(said, False) or self.never(way, False)):
            here &= ~self.harm
        if earlier & self.harm and (self.excluded(said, True) or self.never(way, True)):
            earlier &= ~self.harm
        return here, earlier

    def excluded(self, said: Sequence[Bound], earlier: bool) -> bool:
        """What the edge says does not go together with what holds at the need."""
        known = self.known_at[earlier]
        return any(self.outcomes.impossible(bound, known) for bound in said)

    def never(self, way: Way, earlier: bool) -> bool:
        """What holds at the need does not hold on this way: in the first turn of a loop, or of what comes from here."""
        nest = self.program.nest
        began = {i for i in nest.chain(way.to) if i in self.around and i not in way.turned}
        began = {i for i in began if way.source not in nest.loops[i].blocks}
        counts = {self.outcomes.symbols.count(i): _ZERO for i in began}
        for bound in self.known_at[earlier].values():
            if counts and not counts.keys().isdisjoint(bound.of.symbols()):
                new = self.outcomes.replaced(bound, counts)
                if self.outcomes.impossible(new, {}):
                    return True
            merged = self.outcomes.merged(way.source, way.first, bound)
            if merged is not None and self.outcomes.impossible(merged, {}):
                return True
        return False


class Patterns:
    """The pattern tables for one object of a buffer."""

    def __init__(self, program: Program, buffer: Buffer, o: int, packed: Collection[Place]) -> None:
        self.program = program
        self.happenings = Happenings(program, buffer, o, packed)
        self.by_block = block_order(program, self.happenings)
        self.outcomes = _outcomes(program)
        self.broadcasts = broadcasts_of(program)
        self.found: dict[frozenset[int], Paths] = {}
        self.views: dict[
            tuple[int, str, frozenset[int]], tuple[View, list[tuple[int, int]], dict[tuple[int, int], list[Way]]]
        ] = {}
        self.needs = [h for found in self.by_block.values() for h in found if h.needs]

    def at_need(self, need: Happening, block: int) -> Bounds:
        """What holds wherever something is needed: of no bytes nothing is, to MPI_PROC_NULL nothing is sent, and of a
        broadcast only its root needs any.
        """
        found = dict(self.outcomes.around(block))
        dest = destination(self.program, need.use) if need.use is not None else None
        broadcast = self.broadcasts.get(need.node) if need.use is None else None
        bounds = list(self.outcomes.positive(need.length))
        if broadcast is not None:
            bounds.append(self.outcomes.bound(broadcast.away, "=="))
        elif dest is not None:
            bounds.append(self.outcomes.bound(dest, ">="))
        for bound in bounds:
            for told in (bound, *self.outcomes.on_its_way(block, bound)):
                known = found.get(told.of)
                found[told.of] = told if known is None else known.and_also(told)
        return found

    def paths(self, opened: frozenset[int]) -> Paths:
        """The program as it is seen with these loops open."""
        found = self.found.get(opened)
        if found is None:
            found = self.found[opened] = Paths(self.program, opened, self.by_block)
        return found

    def after(self, site: Happening) -> list[Happening]:
        """What happens after a site in its block; of a call that sends and receives, the receive as well.

        The site itself is nothing that happens where all that it sends is said to be written.
        """
        graph = self.program.graph
        home = graph.nodes[site.node].block
        block, nodes = self.by_block.get(home, []), graph.blocks[home]
        behind = set(nodes[nodes.index(site.node) + 1 :])
        replaces = site.use is not None and site.use.op.replaces and site.kind == "send"
        now = [h for h in block if replaces and h.node == site.node and h.kind == "recv"]
        return now + [h for h in block if h.node in behind]

    def loop_event(self, loop: int, need: Happening, known: Sequence[Bounds] = ()) -> str:
        """A loop as one event: a write where each turn comes past one, or where it puts things where a counter stands.

        How often it turns is not asked: that is a matter of extent, as it is which bytes each turn writes.
        known: what holds wherever the question comes to; a turn that goes another way is none of its.
        """
        blocks, kinds = self.program.nest.loops[loop].blocks, {}
        for b in sorted(blocks & self.by_block.keys()):
            for h in self.by_block[b]:
                event = "OpenWrite" if h.needs else self.happenings.event(h, need, None)
                if event == "ClosedWrite" and self.happenings.appends(h):
                    return event
                if event != "OpenWrite":
                    kinds[b] = event
        if not kinds or not self.each_turn(loop, kinds.keys(), known):
            return "OpenWrite"
        return min(kinds.values(), key=_STRONGER.index)

    def each_turn(self, loop: int, filled: Collection[int], known: Sequence[Bounds] = ()) -> bool:
        """Every turn of a loop comes to one of the blocks, or past a loop of which each turn does."""
        nest, graph = self.program.nest, self.program.graph
        found = set(filled)
        for inner in sorted({i for b in filled for i in nest.chain(b)}, reverse=True):  # inner loops come first
            info = nest.loops[inner]
            if not info.blocks <= nest.loops[loop].blocks:
                continue
            seen, work = {info.header}, [info.header] if info.header not in found else []
            while work:
                source = work.pop()
                for t in graph.succs[source]:
                    if t in info.blocks and t not in seen and t not in found and not self.ruled_out(source, t, known):
                        seen.add(t)
                        work.append(t)
            if info.header in found or seen.isdisjoint(info.latches):
                found.add(info.header)
        return nest.loops[loop].header in found

    def ruled_out(self, source: int, target: int, known: Sequence[Bounds]) -> bool:
        """Control never goes along an edge while these hold."""
        said = self.outcomes.of_edge(source, target) if any(known) else ()
        return any(self.outcomes.impossible(bound, bounds) for bound in said for bounds in known)

    def disallowed(self, use: Use, without: Collection[int] = ()) -> Happening | None:
        """What is needed after a site though the table of its side does not allow that; None where it agrees.

        without: nodes that need nothing.
        """
        kind = "recv" if use.side == "recv" else "send"
        site = self.happenings.placed(Happening(use.node, kind, use.lo, use.length, use=use))
        needs = [need for need in self.needs if need.node not in without and self.same_row(site, need)]
        if len(needs) > 1 and not Question(self, site, needs).open_after():
            return None
        return next((need for need in needs if Question(self, site, [need]).open_after()), None)

    def packed_where(self, need: Happening) -> tuple[Span, str] | None:
        """The one line that writes the buffer, and under which condition of its loop; None for more lines, or none."""
        writes = [h for found in self.by_block.values() for h in found if h.kind == "write" and h.node != need.node]
        lines = {(span.file, span.line) for span in (node_span(self.program, h.node) for h in writes)}
        under = only_where(self.program, writes[0].node) if len(lines) == 1 else ""
        return (node_span(self.program, writes[0].node), under) if under else None

    def same_row(self, site: Happening, need: Happening) -> bool:
        """Both are of one buffer, however often loops turn; of an array of buffers others are not looked at."""
        if not self.happenings.many:
            return True
        return self.happenings.distance(site.row, need.row) == 0


_STRONGER = ("Deallocate", "Allocate", "Recv", "ClosedWrite")


def _least(events: Sequence[str]) -> str:
    """What an event is for several needs: a write only where it is one for each."""
    return "OpenWrite" if "OpenWrite" in events else events[0]


@once
def _outcomes(program: Program) -> Outcomes:
    return Outcomes(program)


def disagreement(
    program: Program,
    buffer: Buffer,
    uses: Sequence[Use],
    patterns: Mapping[int, Patterns],
    without: Collection[int] = (),
) -> Refusal | None:
    """Why a site stays that liveness lets convert: a pattern does not allow what leads on from one of its copies.

    without: nodes that need nothing, in what is only tried.
    """
    for u in uses:
        need = patterns[u.object].disallowed(u, without) if without else patterns[u.object].disallowed(u)
        if need is not None:
            span, loop = node_span(program, need.node), loop_around(program, need.node)
            when = ""
            if loop is not None and need.node == u.node:
                when = f", in a later turn of a loop, as that in {line_of(loop)},"
            message = (
                f"could not show that {line_of(span)}{when} does not need what `{buffer.name}` holds: by its live "
                f"bytes it does not, by its pattern of use it may (two analyses disagree)"
            )
            packs = patterns[u.object].packed_where(need)
            if packs is not None:
                where, under = packs
                message = f"could not show that all of `{buffer.name}` that {line_of(span)} needs is written before it"
                message += f": {line_of(where)} writes it only {under} (two analyses disagree)"
                return Refusal(
                    Reason.PATTERN, message, ((where, "written here"), (span, "needed here, by the pattern"))
                )
            return Refusal(Reason.PATTERN, message, ((span, "needed here, by the pattern"),))
    return None
