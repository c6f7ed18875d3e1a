"""Which functions a call through a pointer may reach.

A pointer to a function holds the address of some function whose address is taken (C 6.3.2.1, 6.3.2.3).  In a whole
program that calls nothing unknown, and nothing that hands out pointers to functions, those are functions of its own; of
these, the ones that take such arguments (6.5.2.2).  Few programs have many, so no points-to analysis is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type
from opi_xform.program.effects import FunctionEffect

_HANDS_OUT = frozenset({"dlsym", "dlvsym", "dlfunc"})
"""Library functions whose results may be pointers to functions of other code."""

_COMPILERS = ("_mm_", "_mm256_", "_mm512_", "__builtin_ia32_")
"""Vector functions of the compiler's headers: unknown in what they move, but they bring in no functions."""

_HANDLERS = frozenset({"signal", "bsd_signal", "sysv_signal", "sigset", "sigaction"})
_AS_HANDLER = (["int"], ["int", "pointer", "pointer"])
"""What hands out handlers of signals that other code set, and what handlers take (POSIX, sigaction)."""


class PointerCalls:
    """taken: functions whose address is taken.  called: those that are called by name.

    complete: main is among the files, so nothing outside them brings pointers in.
    """

    def __init__(
        self,
        functions: Mapping[str, ast.Function],
        effects: Mapping[str, FunctionEffect],
        taken: Collection[str],
        called: Collection[str],
        complete: bool,
    ) -> None:
        self.functions = functions
        self.taken = tuple(sorted(taken))
        self.known = (
            complete
            and all(name in functions for name in taken)
            and not any(function.refused for function in functions.values())  # what is in there is not known
            and all(
                name in functions
                or (name in effects and name not in _HANDS_OUT)
                or name.rpartition(":")[2].startswith(_COMPILERS)
                for name in called
            )
        )
        self.handlers = not _HANDLERS.isdisjoint(called)

    def targets(self, instr: ins.CallInstr) -> tuple[str, ...]:
        """All functions that the call may reach; none when that is not known."""
        if not self.known or (self.handlers and [_kind(a.type) for a in instr.call.args] in _AS_HANDLER):
            return ()
        return tuple(name for name in self.taken if self.takes(name, instr))

    def takes(self, name: str, instr: ins.CallInstr) -> bool:
        function = self.functions[name]
        given = [_kind(a.type) for a in instr.call.args]
        wanted = [_kind(function.variables[key].type) for key in function.params]
        return given[: len(wanted)] == wanted and (len(given) == len(wanted) or function.type.variadic)


def _kind(type_: Type) -> str:
    """What must agree between an argument and a parameter; lengths of integers are not compared."""
    return "pointer" if type_.kind in ("array", "function") else type_.kind
