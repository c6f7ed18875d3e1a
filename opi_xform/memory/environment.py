"""What variables hold, place by place, without a copy per block.

One mapping holds the state of the place that is being looked at.  Each block keeps what it changed, beside what its
immediate dominator left behind: moving to another block undoes changes up to the nearest common dominator, and does
those below it again.  Where paths merge, only what was changed between the dominator and there can differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.memory.poly import Poly

Cell = tuple[object, ...]  # (object, byte offset), ("t", frame, temp) or ("v", object)
Env = dict[Cell, Poly]
Change = dict[Cell, Poly | None]  # None: the cell is gone


def _last_dominated(idom: Sequence[int]) -> list[int]:
    """By block: the last one of those that it dominates."""
    last = list(range(len(idom)))
    for block in range(len(idom) - 1, 0, -1):
        last[idom[block]] = max(last[idom[block]], last[block])
    return last


class Environment:
    """``now``: the state where the pass is; to be changed through ``put`` and ``drop`` only."""

    def __init__(self, idom: Sequence[int]) -> None:
        self.idom = idom
        self.now: Env = {}
        self.block = -1
        self.depth: dict[int, int] = {}  # of blocks in the tree of dominators
        self.done: dict[int, Change] = {}  # what a block left behind of all that it changed
        self.before: dict[int, Change] = {}  # the same cells, as the dominator left them, as long as it may be undone
        self.last = _last_dominated(idom)
        self.path: list[int] = []  # the dominators of the place, outermost first
        self.old: Change = {}  # what was changed since the block began, as it was then
        self.cells: dict[Cell, Cell] = {}  # equal ones are one: each is changed in many blocks

    def put(self, cell: Cell, value: Poly) -> None:
        if cell not in self.old:
            self.old[self.cells.setdefault(cell, cell)] = self.now.get(cell)
        self.now[cell] = value

    def drop(self, cell: Cell) -> None:
        if cell in self.now:
            if cell not in self.old:
                self.old[self.cells.setdefault(cell, cell)] = self.now[cell]
            del self.now[cell]

    # --- moving --------------------------------------------------------------------------------------------------

    def begin(self, block: int) -> None:
        """``now`` becomes the end of the block's dominator."""
        self.block = block
        self.old = {}
        if block == 0:
            self.depth[0] = 0
            return
        at = self.idom[block]
        self.depth[block] = self.depth[at] + 1
        way: list[int] = []
        while self.path[-1] != at:
            if self.depth[at] > self.depth[self.path[-1]]:
                way.append(at)
                at = self.idom[at]
            else:
                left = self.path.pop()
                self.apply(self.before[left] if self.last[left] > block else self.before.pop(left))
        for b in reversed(way):
            self.apply(self.done[b])
            self.path.append(b)

    def apply(self, change: Change) -> None:
        for cell, value in change.items():
            if value is None:
                self.now.pop(cell, None)
            else:
                self.now[cell] = value

    def end(self) -> None:
        """The block that was begun is over."""
        self.before[self.block] = self.old
        self.done[self.block] = {cell: self.now.get(cell) for cell in self.old}
        self.path.append(self.block)
        self.old = {}

    def close(self) -> None:
        """The pass is over: what is only there to move from block to block goes."""
        self.before.clear()
        self.cells.clear()
        self.now = {}
        self.old = {}
        self.path.clear()

    # --- elsewhere -----------------------------------------------------------------------------------------------

    def __contains__(self, block: int) -> bool:
        """Whether the block is over."""
        return block in self.done

    def changes(self, block: int, above: int) -> Change:
        """What differs at a block's end from what its dominator ``above`` left."""
        way: list[Change] = []
        while block != above:
            way.append(self.done[block])
            if block == 0:
                break
            block = self.idom[block]
        if not way:
            return {}
        out = dict(way.pop())
        for change in reversed(way):
            out.update(change)
        return out

    def at_end(self, block: int, cell: Cell) -> Poly | None:
        """What a cell holds at the end of a block that is over."""
        while True:
            change = self.done[block]
            if cell in change:
                return change[cell]
            if block == 0:
                return None
            block = self.idom[block]
