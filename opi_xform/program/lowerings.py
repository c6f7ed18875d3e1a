"""The functions of a program as instructions."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.effects.fortran_lists import told_apart
from opi_xform.effects.model import Effects
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.lowering.statements import lower


class Lowerings:
    """Functions of the whole program, lowered on first use."""

    def __init__(
        self, functions: Mapping[str, ast.Function], globals_: Mapping[str, ast.Variable], effects: Effects
    ) -> None:
        self.functions = functions
        self.globals = globals_
        self.effects = effects
        self.done: dict[str, ins.Lowered] = {}

    def get(self, key: str) -> ins.Lowered | None:
        if key not in self.functions:
            return None
        if key not in self.done:
            self.done[key] = told_apart(lower(self.functions[key], self.globals), self.effects)
        return self.done[key]
