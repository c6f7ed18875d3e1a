"""What several graphs of one program share: each follows some of its functions."""

from __future__ import annotations

from functools import cached_property

from opi_xform.effects.model import Effects
from opi_xform.graph.bodies import Bodies
from opi_xform.graph.whole import Whole, called_back, initialised
from opi_xform.ir.calls import functions_called
from opi_xform.ir.typed import floats_apart
from opi_xform.program.keeping import hidden
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.pointers import HANDS_OUT, PointerCalls


class Around:
    """complete: nothing outside the files given calls in."""

    def __init__(self, whole: Whole, effects: Effects, complete: bool) -> None:
        self.whole = whole
        self.effects = effects
        self.lowerings = Lowerings(whole.functions, {k: v for k, v in whole.variables.items() if v.is_global}, effects)
        called = {name for f in whole.functions.values() for name in functions_called(f)}
        self.looks_up = not HANDS_OUT.isdisjoint(called)  # what has a name for the linker may be found by it
        self.pointers = PointerCalls(
            whole.functions, effects, whole.taken, called, complete, whole.variables, whole.records
        )

    @cached_property
    def bodies(self) -> Bodies:
        running = sorted(self.whole.functions)
        none = frozenset[str]()
        return Bodies(running, self.lowerings, self.effects, self.pointers, initialised(self.whole), none)

    @cached_property
    def called_back(self) -> list[str]:
        return called_back(self.whole)

    @cached_property
    def floats_apart(self) -> bool:
        """Stores of floating numbers leave integers and addresses as they are (``ir/typed.py``)."""
        whole = self.whole
        return not whole.loose and floats_apart(whole.functions.values(), whole.variables, whole.records)

    @cached_property
    def hidden(self) -> frozenset[str]:
        return hidden(self.whole.functions, self.effects)
