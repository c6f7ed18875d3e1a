"""What calls do that are told as a whole (``program/summaries.py``): all that their functions may, at any call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opi_xform.program.graph import Bind

if TYPE_CHECKING:
    from opi_xform.memory.calls import Calls


class Summarised:
    """By function: objects that it and all below it may touch, and those that they may write.

    Their own locals are not among them: nobody else has them while they are there.
    """

    def __init__(self, calls: Calls) -> None:
        from opi_xform.memory.modified import writes  # which asks of calls, too

        background = calls.graph.background
        self.frames = {name: background.frame + i for i, name in enumerate(background.functions)}
        mine = {o for (frame, _), o in calls.objects.by_variable.items() if frame >= background.frame}
        self.touching: dict[int, set[int]] = {frame: set() for frame in self.frames.values()}
        self.writing: dict[int, set[int]] = {frame: set() for frame in self.frames.values()}
        self.called: dict[int, dict[int, None]] = {frame: {} for frame in self.frames.values()}
        for node in background.nodes:
            if isinstance(node.action, Bind):
                self.called[node.action.caller][node.frame] = None
            written = writes(calls, node) - mine
            self.writing[node.frame] |= written
            self.touching[node.frame] |= written | (calls.of_node(node) - mine)
        self.known: dict[tuple[str, bool], frozenset[int]] = {}

    @property
    def anything(self) -> frozenset[int]:
        """What any of them may touch."""
        return frozenset().union(*self.touching.values())

    def touched(self, name: str) -> frozenset[int]:
        return self.below(name, False)

    def changed(self, name: str) -> frozenset[int]:
        return self.below(name, True)

    def below(self, name: str, written: bool) -> frozenset[int]:
        if (name, written) not in self.known:
            own = self.writing if written else self.touching
            found: set[int] = set()
            seen: set[int] = set()
            work = [self.frames[name]]
            while work:
                frame = work.pop()
                if frame not in seen:
                    seen.add(frame)
                    found |= own[frame]
                    work += self.called[frame]
            self.known[name, written] = frozenset(found)
        return self.known[name, written]
