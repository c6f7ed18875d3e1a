"""Functions that only compute: a number made of their arguments, and of nothing else.

A call that recursion leaves out of the program graph gives up all that it can reach.  One of a function that reaches
nothing (``gcd(y, x % y)``) is an operation on its arguments, like any other of C's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.types import Type


class Plain:
    """Which functions of a program only compute.  ``lowered``: gives the body of one."""

    def __init__(
        self,
        functions: Mapping[str, ast.Function],
        lowered: Callable[[str], ins.Lowered | None],
        effects: Mapping[str, FunctionEffect],
    ) -> None:
        self.functions = functions
        self.lowered = lowered
        self.effects = effects
        self.known: dict[str, bool] = {}

    def computes(self, name: str) -> bool:
        """The function and all that it calls only compute."""
        found = self.known.get(name)
        if found is None:
            seen: set[str] = set()
            work = [name]
            found = True
            while work and found:
                at = work.pop()
                if at not in seen:
                    seen.add(at)
                    called = self.calls(at)
                    found = called is not None
                    work.extend(called or ())
            self.known.update(dict.fromkeys(seen if found else (name,), found))
        return found

    def calls(self, name: str) -> list[str] | None:
        """The functions of the program that a function calls; None when it does more than compute."""
        body = self.lowered(name)
        if body is None or body.refused:
            return None
        function = self.functions[name]
        own = {key: v for key, v in function.variables.items() if not v.is_global}
        if not all(_number(own[key].type) for key in function.params if key in own):
            return None
        out: list[str] = []
        for block in body.blocks:
            for instr in block:
                operands: tuple[ins.Operand, ...]
                match instr:
                    case ins.Define(target=target, value=value, type=type_) if _number(type_):
                        operands = (value, target)
                    case ins.Birth(var=key):
                        operands = (ins.Var(key),)
                    case ins.Branch(cond=value) | ins.SwitchOn(value=value):
                        operands = (value,)
                    case ins.ReturnInstr(value=value):
                        operands = () if value is None else (value,)
                    case ins.CallInstr(callee=ins.AddrFunc(key=callee), args=args, call=call):
                        effect = self.effects.get(callee)
                        if callee in self.functions:
                            out.append(callee)
                        elif effect is None or not effect.pure or not _number(call.type):
                            return None
                        operands = args
                    case _:
                        return None
                if not all(_computed(operand, own) for operand in operands):
                    return None
        return out


def _number(type_: Type) -> bool:
    return type_.kind in ("int", "float") and not type_.volatile and not type_.atomic


def _computed(operand: ins.Operand, own: Mapping[str, ast.Variable]) -> bool:
    """Made of numbers and of the function's own variables."""
    work = [operand]
    while work:
        item = work.pop()
        if isinstance(item, ins.Var):
            if item.key not in own or not _number(own[item.key].type):
                return False
        elif isinstance(item, ins.Op):
            work.extend(item.args)
        elif isinstance(item, ins.Nondet):
            if not item.reason.startswith("floating"):
                return False
        elif not isinstance(item, (ins.Const, ins.Temp)):
            return False
    return True
