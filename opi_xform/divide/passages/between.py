"""What travels in passages of one object is dead where they begin and where they end.

Of the object only those bytes are looked at that travel, where these are the same ones throughout the program: what
happens to others says nothing of them, and there are fewer cases.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

from islpy import Set

from opi_xform.memory.poly import Poly
from opi_xform.ownership.liveness.buffer_events import PADDING, SIGNS, Assumed
from opi_xform.ownership.liveness.failures import FAILURES
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Place, Program, Use
from opi_xform.record import dataclass
from opi_xform.regions.live import Transfer
from opi_xform.regions.sets import BudgetExceeded


@dataclass(frozen=True, slots=True)
class Stretch:
    """A passage in one copy of its function.

    enter: the last node of its first mark; leave: that of its last one.  begin, end: bytes of the object that travel.
    bytes: the message counts bytes, not elements.
    """

    frame: int
    enter: int
    leave: int
    use: Use
    begin: Poly
    end: Poly
    bytes: bool


class Between(Judge):
    """Whether what travels is dead where passages of one object begin and where they end.

    rests: on what that rests; None where it is not so.
    """

    def __init__(self, program: Program, buffer: Buffer, o: int, strict: bool, stretches: Sequence[Stretch]) -> None:
        self.stretches = stretches
        self.asked = tuple(n for one in stretches for n in (one.enter, one.leave))
        self.rests: tuple[str, ...] | None = None
        super().__init__(program, buffer, o, strict)

    def liveness(self) -> None:
        for assumed in self.attempts():
            for self.told in (False, True):
                if self.shown(assumed):
                    self.rests = (*sorted(assumed), *self.messages())
                    return
                if not self.bounded:
                    break  # all that is known has been told

    def shown(self, assumed: Assumed) -> bool:
        """It is so on what is assumed, as far as the integer sets come to an end."""
        try:
            with self.regions.budget():
                found, _ = self.live(None, assumed=assumed)
                return all(self.dead(found, one) for one in self.stretches)
        except BudgetExceeded:
            self.regions.context.reset_operations()
            return False

    def queries(self) -> Sequence[int]:
        return self.asked

    def bytes(self) -> Set | None:
        """What travels, where that is the same place throughout the program."""
        ends = [p for one in self.stretches for p in (one.begin, one.end)]
        if any(self.symbols.scope(p) for p in ends):
            return None
        return reduce(Set.union, (self.regions.interval(one.begin, one.end) for one in self.stretches))

    def events(
        self,
        converted: Collection[Place] | None,
        only: Collection[int] | None,
        assumed: Assumed,
        renewed: Collection[int] = (),
    ) -> dict[int, list[Transfer]]:
        """Of these bytes alone: what is read elsewhere is nothing to them."""
        found, mine = super().events(converted, only, assumed, renewed), self.bytes()
        if mine is None:
            return found
        out: dict[int, list[Transfer]] = {}
        for n, transfers in found.items():
            for one in transfers:
                use = None if one.use is None else one.use.intersect(mine).coalesce()
                use = None if use is None or use.is_empty() else use
                kill = None if one.kill is None or one.kill.intersect(mine).is_empty() else one.kill
                if use is not None or kill is not None:
                    out.setdefault(n, []).append(Transfer(kill, use))
        return out

    def attempts(self) -> list[Assumed]:
        """What may be assumed, nothing first."""
        offered = [] if self.strict else [SIGNS, *([PADDING] if self.padded else [])]
        return [frozenset(), *(frozenset((one,)) for one in offered)]

    def dead(self, found: Mapping[int, Set], one: Stretch) -> bool:
        region = self.regions.interval(one.begin, one.end)
        for n in (one.enter, one.leave):
            live = found.get(n)
            if live is None or not self.under(one.enter, live.intersect(region)).is_empty():
                return False
        return True

    def messages(self) -> tuple[str, ...]:
        """What is assumed of the messages that come into the object."""
        if not any(u.side == "recv" for u in self.uses):
            return ()
        return ("A1", *(("A2",) if self.a2 else ()), *((FAILURES,) if self.failures.handled else ()))
