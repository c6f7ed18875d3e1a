"""A carrier as a function writes it that gets its address: ``(*b)``, where the parameter ``double *b`` is lifted."""

from __future__ import annotations

from opi_xform.graph.statements import Flow, Level
from opi_xform.ir import instr as ins
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.traced import traced
from opi_xform.ownership.spelling.mentions import Texts
from opi_xform.ownership.spelling.scopes import means_variable


class Lifts:
    """The lifted parameters of one buffer, by function."""

    def __init__(self, program: Program, flow: Flow, buffer: Buffer, texts: Texts) -> None:
        self.program = program
        self.flow = flow
        self.buffer = buffer
        self.texts = texts
        self.by_function = {program.variables[key].function: key for key in sorted(buffer.lifted) if self.stands(key)}

    def stands(self, key: str) -> bool:
        """The parameter is this carrier's address in every copy of its function, and can be followed.

        Where one call passes one carrier and another call another, what is put in would be for all of them.
        """
        variable, carrier = self.program.variables[key], self.buffer.carrier
        elem = variable.type.elem
        if carrier.rows or elem is None or elem.kind == "void":
            return False
        function, left_out = self.program.functions[variable.function], self.program.left_out
        # text that is left out has an #error, or nobody compiles it
        if not means_variable(self.program, function, variable, self.texts, left_out):
            return False
        for frame in self.flow.frames_of[variable.function]:
            passed, named = traced(self.program, ins.Var(key), frame)
            if named != carrier.variable or not self.buffer.lifted.issuperset(passed):
                return False
        return True

    def text(self, level: Level) -> str | None:
        """The carrier as written at a statement of a function with such a parameter."""
        key = self.by_function.get(self.flow.lowered(level[0]).function.key)
        return None if key is None else f"(*{self.program.variables[key].name})"
