"""What the bodies of all functions tell a program graph, whichever of them it copies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from opi_xform.effects.model import FunctionEffect
from opi_xform.graph.cycles import cycles
from opi_xform.program.addressed import Addressed
from opi_xform.program.handed_out import HandedOut
from opi_xform.program.lowerings import Lowerings
from opi_xform.program.out_parameters import OutParameters
from opi_xform.program.plain import Plain
from opi_xform.program.pointers import PointerCalls
from opi_xform.program.succeeding import Succeeding


class Bodies:
    """Of the functions ``running``, which may run; several graphs of one program share it."""

    def __init__(
        self,
        running: Sequence[str],
        lowerings: Lowerings,
        effects: Mapping[str, FunctionEffect],
        pointers: PointerCalls,
        initialised: Collection[str],
        succeeding: frozenset[str],
    ) -> None:
        self.succeeding = Succeeding(running, lowerings, succeeding)
        self.setting = OutParameters(running, lowerings.get, effects, lowerings.globals, initialised)
        self.handed_out = HandedOut(running, lowerings.get, effects)
        self.addressed = Addressed(running, lowerings.get, lowerings.globals, self.setting.variables)
        self.plain = Plain(lowerings.functions, lowerings.get, effects)
        self.cycles = cycles(running, lowerings.get, pointers.targets)
