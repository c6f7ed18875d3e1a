"""Where OPI_Free goes: after the last use, before a receive, and where a local carrier's scope is left."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.codes import Reason
from opi_xform.graph.statements import Level
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.ast import Variable
from opi_xform.ir.span import Span
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.pointers.outside import undeclared
from opi_xform.ownership.explain.reaching.branches import branches_of
from opi_xform.ownership.explain.reaching.ways import in_turn
from opi_xform.ownership.explain.reasons import filled_at
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.placement.lost import lost
from opi_xform.ownership.placement.renewal import Renewal
from opi_xform.ownership.placement.situation import Situation, State, Unplaceable
from opi_xform.ownership.placement.states import (
    ALLOC,
    BIRTH,
    DEALLOC,
    HELD,
    IRECV,
    MADE,
    MAYALLOC,
    NEEDS_BUFFER,
    NONE,
    PENDING,
    RAW,
    RAWBIRTH,
    RECV,
    SENDS,
    TOUCH,
    Event,
    Insertion,
    Places,
    needed,
    solve,
)

ROUNDS = 400
_LIFE = frozenset({*SENDS, RECV, IRECV, BIRTH, RAWBIRTH, DEALLOC, MADE, ALLOC, MAYALLOC})


class Releases:
    """The frees of one buffer.  now: what is chosen so far; renewed: where it gets new memory, to make room."""

    def __init__(self, now: Situation, renewed: Sequence[Renewal] = ()) -> None:
        self.now = now
        self.renewed = renewed
        self.program, self.buffer, self.flow, self.graph = now.program, now.buffer, now.flow, now.graph

    # --- frees after the last use ------------------------------------------------------------------------------------

    def free_after_last_use(self) -> None:
        state = self.now.solve()
        needs = [needed(self.flow, v, self.now.events.by_node, self.now.insertions) for v in self.now.views]
        judged: dict[Insertion, int] = {}
        for event in self.now.events.all:
            if event.kind != TOUCH:
                continue
            chosen = self.last_use(event, state, needs, judged)
            if chosen is not None and chosen not in self.now.insertions:
                self.now.insertions.append(chosen)
                state = self.now.solve()
                needs = [needed(self.flow, v, self.now.events.by_node, self.now.insertions) for v in self.now.views]
                judged.clear()

    def last_use(
        self, event: Event, before: State, needs: list[Mapping[int, bool]], judged: dict[Insertion, int]
    ) -> Insertion | None:
        """OPI_Free after the outermost statement around a touch after which the buffer is dead.

        ``judged``: what is held where the candidates seen so far would free it; 0 for those that cannot be.
        """
        fallback: Insertion | None = None
        for level in self.now.anchors.controls(event.node):
            if self.now.has_site(level, _LIFE):
                continue
            candidate = self.now.insertion(event, level, "after", "free")
            if candidate is None:
                continue
            if candidate in self.now.insertions:
                return None
            held = judged.get(candidate)
            if held is None:
                held = judged[candidate] = self.held_at(candidate, before, needs)
            if not held & HELD:
                continue
            if not held & (NONE | RAW):
                return candidate
            if fallback is None and not isinstance(self.flow.info(level).stmt, (ast.If, ast.Switch)):
                fallback = candidate
        return fallback

    def held_at(self, candidate: Insertion, before: State, needs: list[Mapping[int, bool]]) -> int:
        if not self.dead_after(candidate, needs):
            return 0
        after = self.now.solve([*self.now.insertions, candidate])
        return 0 if self.now.worse(before, after) else after.insertions.get(candidate, 0)

    def dead_after(self, candidate: Insertion, needs: list[Mapping[int, bool]]) -> bool:
        for side, need in zip(self.now.views, needs, strict=True):
            for (_, v), found in Places(self.flow, side, [candidate]).on.items():
                if need[v] and any(side.concerns(row) for _, _, row in found):
                    return False
        return True

    # --- frees that make room --------------------------------------------------------------------------------------

    def renew(self) -> list[Insertion]:
        """OPI_Free before the statements that want new memory; that they have it, ``acquire`` sees to."""
        for one in self.renewed:
            levels = [(frame, one.stmt) for frame in self.flow.frames_of[one.function]]
            inside = ((e, x) for e in self.now.events.all for x in levels if self.now.within(e.node, x))
            found = next(inside, None)
            lifted = one.function in self.now.lifts.by_function  # it may be called for another buffer
            candidate = None if found is None or lifted else self.now.insertion(*found, "before", "free")
            if candidate is None:
                raise self.now.fail(f"`{self.buffer.name}` cannot get new memory where it is packed anew")
            self.now.insertions.append(candidate)
        return list(self.now.insertions)

    def doing_something(self, renewing: Sequence[Insertion]) -> list[Insertion]:
        """The calls without those of ``renew`` that only ever find NULL, as after another OPI_Free."""
        met = self.now.solve().insertions if renewing else {}
        return [i for i in self.now.insertions if i not in renewing or met.get(i, HELD) & ~NONE]

    # --- releases --------------------------------------------------------------------------------------------------

    def free_before_receives(self) -> None:
        """OPI_Free (of NULL it does nothing) before each receive that may meet a buffer."""
        done: set[Event] = set()
        for _ in range(ROUNDS):
            state = self.now.solve()
            held = sorted(state.held_receives() - done, key=lambda e: e.node)
            if not held:
                return
            done.add(held[0])
            self.free_before(held[0], state)
        raise self.now.fail("the calls that free the buffer cannot be placed")

    def free_before(self, event: Event, state: State) -> None:
        """OPI_Free before the innermost statement around a receive before which that is possible.

        An OPI_Alloc where the pointer is NULL gives memory, but not what was in it: it hides no need for that.
        """
        wanted = ""
        needs = [needed(self.flow, v, self.now.events.by_node, self.now.insertions) for v in self.now.views]
        for level in map(self.now.anchors.outermost_init, self.flow.levels(event.node)):
            candidate = self.now.insertion(event, level, "before", "free")
            if candidate is None:
                continue
            if candidate in self.now.insertions and not state.events[event] & HELD:
                return  # put there for another copy; what is left is an OPI_Itake under way
            trial = self.now.solve([*self.now.insertions, candidate])
            without = [e for e in trial.problems() if e not in state.problems()]
            if not trial.events.get(event, 0) & HELD and not without and self.dead_after(candidate, needs):
                self.now.insertions.append(candidate)
                return
            if without and not wanted:
                wanted = self.too_early(event, level, without)
        what = "the buffer still has its memory before this call, and no place was found at which that could be freed"
        raise self.now.fail(what + wanted, event.node)

    def too_early(self, event: Event, level: Level, without: Sequence[Event]) -> str:
        """That events would miss the buffer of a receive, if it were freed before a statement around that.

        What comes before the receive in its own process goes first.  Anything else misses it where this does not run.
        """
        graph, nest, branches = self.graph, self.program.nest, branches_of(self.program)
        home = nest.chain(graph.nodes[event.node].block)
        around = [k for k in home if not any(self.now.within(n, level) for n in graph.blocks[nest.loops[k].header])]

        def comes_before(other: Event) -> bool:
            first = in_turn(self.program, other.node, event.node, around)
            return first and not branches.excluded(event.node, other.node)

        left = min(without, key=lambda e: not comes_before(e))
        before, line = line_of(self.flow.info(level).stmt.span), line_of(node_span(self.program, left.node))
        does = "sends" if any(u.node == left.node for u in self.buffer.uses if u.side == "send") else "uses"
        if not comes_before(left):
            return f": not before {before}, as {line} {does} the same memory where this call does not run"
        return f": before {before} it would be too early, as {line} {does} the same memory"

    def free_what_would_be_lost(self, lazy: Collection[Level]) -> None:
        """OPI_Free before the pointer is set where it may hold memory of which the program knows nothing.

        lazy: ``if (!buf) buf = malloc(n);``, which finds in the transformed program what is there.
        """
        if self.buffer.carrier.kind != "pointer":
            return
        asked = {e.node for e in self.now.events.all if any(self.flow.inside(level, e.node) for level in lazy)}
        swapped = {n for swap in self.buffer.swaps for n in (swap.start, swap.nodes[1])}
        for _ in range(ROUNDS):
            found = lost(self.flow, self.now.views, self.now.events.by_node, self.now.insertions, swapped, asked)
            if not found:
                return
            event = min(found, key=lambda e: e.node)
            if not any(self.frees_before(event, level, swapped, asked) for level in self.flow.levels(event.node)):
                name, where = self.buffer.name, line_of(node_span(self.program, event.node))
                message = f"where {where} sets `{name}`, it may have memory of which the program knows nothing"
                message += ", and no place was found at which that could be freed"
                raise self.now.fail(undeclared(self.program, self.buffer) or message, event.node)
        raise self.now.fail("the calls that free the buffer cannot be placed")

    def frees_before(self, event: Event, level: Level, swapped: Collection[int], asked: Collection[int]) -> bool:
        """Puts OPI_Free before a statement, if then nothing is lost at the event, and nobody needs what it frees."""
        candidate = self.now.insertion(event, level, "before", "free")
        if candidate is None or candidate in self.now.insertions:
            return False
        chosen = [*self.now.insertions, candidate]
        needs = [needed(self.flow, v, self.now.events.by_node, self.now.insertions) for v in self.now.views]
        if self.now.worse(self.now.solve(), self.now.solve(chosen)) or not self.dead_after(candidate, needs):
            return False
        if event in lost(self.flow, self.now.views, self.now.events.by_node, chosen, swapped, asked):
            return False
        self.now.insertions.append(candidate)
        return True

    def free_at_scope_end(self, variable: Variable) -> None:
        """A local carrier leaves nothing behind on any way out of the block that declares it."""
        function = variable.function
        if function not in self.flow.frames_of:
            return
        block = self.now.anchors.declaring_block(function, variable.key)
        if block is None:
            raise self.now.fail("the buffer's declaration is not understood")
        frame = self.flow.frames_of[function][0]
        end = Insertion(function, block, "leave", "free", self.buffer.name)
        bits, needs = self.ways_out(variable, block)
        for stmt, (held, need) in sorted(bits.items()):
            if not held & (HELD | PENDING):
                continue
            if need:
                raise self.gone(self.flow.info((frame, stmt)).stmt.span)
            level = (frame, stmt)
            if self.now.anchors.return_touches(level, [e.node for e in self.now.events.all if e.kind in NEEDS_BUFFER]):
                self.now.insertions.append(Insertion(function, stmt, "return", "free", self.buffer.name))
            elif self.now.anchors.usable(level, "before"):
                self.now.insertions.append(Insertion(function, stmt, "before", "free", self.buffer.name))
            else:
                raise self.now.fail("nothing can be inserted before a return")
        if needs & (HELD | PENDING):
            self.now.insertions.append(end)

    def ways_out(self, variable: Variable, block: int) -> tuple[dict[int, tuple[int, bool]], int]:
        """State and need at each return in a variable's block, and the state on all other ways out of the block.

        A return before the declaration is none: the variable is not there, and what is held is of an earlier call.
        """
        function = variable.function
        returns: dict[int, tuple[int, bool]] = {}
        other = 0
        for side in self.now.views:
            solution = solve(self.flow, side, self.now.events.by_node, self.now.insertions, self.now.initial)
            need = needed(self.flow, side, self.now.events.by_node, self.now.insertions)
            for frame in self.flow.frames_of[function]:
                level = (frame, block)
                for n in self.flow.by_frame[frame]:
                    if not isinstance(self.graph.nodes[n].action, ins.ReturnInstr) or not self.flow.inside(level, n):
                        continue
                    stmt = self.flow.stmt[n]
                    written = self.flow.info((frame, stmt)).stmt.span
                    if written.file == variable.span.file and written.begin < variable.span.begin:
                        continue
                    bits, wanted = returns.get(stmt, (0, False))
                    later = any(need[t] for t in side.succs[n])
                    returns[stmt] = (bits | solution.after[n], wanted or later)
                for u, v in side.leaving.get(level, ()):
                    state = solution.at_end((u, v))
                    other |= state
                    if not state & (HELD | PENDING):
                        continue
                    if need[v]:
                        raise self.gone(node_span(self.program, u) if u < len(self.graph.nodes) else None)
                    if u < len(self.graph.nodes):
                        self.now.held_leaving.add(u)
        return returns, other

    def gone(self, left: Span | None) -> Unplaceable:
        """What the buffer holds is needed where its pointer's life has ended."""
        name, notes, where = self.buffer.name, list[tuple[Span, str]](), "goes out of scope"
        if left is not None:
            notes.append((left, f"`{name}` goes out of scope here"))
            where += f" at {line_of(left)}"
        message = f"`{name}` {where}, and what it points to is used after that"
        made = next(filter(None, (filled_at(self.program, o) for o in self.buffer.objects)), None)
        if made is not None:
            message += f"; {made[0]} gives it contents before a message does"
            notes += made[1]
        return Unplaceable(Reason.NO_ANCHOR, message, tuple(notes))

    def leftover(self, variable: Variable, block: int) -> bool:
        """Something may be held where the variable goes out of scope.

        Of an array no receive is under way there, which would write into memory that is gone: that is looked at for
        every carrier (``calls/pending_requests.py``), where loops are known to run.  A pointer leaves memory behind.
        """
        returns, other = self.ways_out(variable, block)
        left = HELD if self.buffer.carrier.kind == "array" else HELD | PENDING
        return any(state & left for state in (other, *(s for s, _ in returns.values())))
