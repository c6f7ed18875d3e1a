"""The functions of a program as instructions."""

from __future__ import annotations

from collections.abc import Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.lower import lower


class Lowerings:
    """Functions of the whole program, lowered on first use."""

    def __init__(self, functions: Mapping[str, ast.Function], globals_: Mapping[str, ast.Variable]) -> None:
        self.functions = functions
        self.globals = globals_
        self.done: dict[str, ins.Lowered] = {}

    def get(self, key: str) -> ins.Lowered | None:
        if key not in self.functions:
            return None
        if key not in self.done:
            self.done[key] = lower(self.functions[key], self.globals)
        return self.done[key]
