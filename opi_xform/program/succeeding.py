"""Calls of MPI that come back only without an error, and the variables in which that is kept.

By default an error of a message ends the program: what the call returns is MPI_SUCCESS, which is 0 in every MPI.  So
``if (MPI_Send(…) != MPI_SUCCESS) return 1;`` goes one way, also through ``rc`` and through functions that hand the
result on.  This is so where the program has nothing that lets errors return: no call of an error handler's, and no
function that nobody knows.  Errors of files return by themselves, so a completion counts where there are none of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.operands import operands_of, parts_of
from opi_xform.ir.walk import within, within_statement
from opi_xform.program.fixed import number, temporary
from opi_xform.program.lowerings import Lowerings

_MESSAGES = ("send", "recv", "sendrecv", "collective", "probe")
_ROUNDS = 8  # functions that hand on what others return


def succeeding(
    functions: Mapping[str, ast.Function], variables: Mapping[str, ast.Variable], effects: Mapping[str, FunctionEffect]
) -> frozenset[str]:
    """Functions of the library that return 0, if they return; of a program with a main."""
    names = {e.name for e in _everywhere(functions, variables) if isinstance(e, ast.FuncRef)} - functions.keys()
    found = {name: effects.get(name) for name in names}
    known = [effect for effect in found.values() if effect is not None]
    if len(known) < len(found) or any(one.errors or one.lets_errors_return or one.user for one in known):
        return frozenset()
    others = any(one.mpi.kind == "io" if one.mpi is not None else _calls_back(one) for one in known)
    return frozenset(
        one.name
        for one in known
        if one.mpi is not None and (one.mpi.kind in _MESSAGES or (one.mpi.kind == "complete" and not others))
    )


def _calls_back(effect: FunctionEffect) -> bool:
    """A function of the MPI that is given functions: what these return may be the result of a completion."""
    return bool(effect.calls) and effect.source.startswith("mpi")


def _everywhere(functions: Mapping[str, ast.Function], variables: Mapping[str, ast.Variable]) -> Iterable[ast.Expr]:
    for function in functions.values():
        yield from within_statement(function.body, function.variables)
        for v in function.variables.values():
            if v.init is not None:
                yield from within(v.init)
    for v in variables.values():
        if v.init is not None:
            yield from within(v.init)


class Succeeding:
    """What is 0 in each function, since nothing but the results of such calls is kept there."""

    def __init__(self, running: Iterable[str], lowerings: Lowerings, library: frozenset[str]) -> None:
        self.calls = set(library)
        self.lowerings = lowerings
        for _ in range(_ROUNDS if library else 0):
            more = {name for name in running if name not in self.calls and self.returns_nothing_else(name)}
            if not more:
                break
            self.calls |= more

    def returns_nothing_else(self, name: str) -> bool:
        """A function of the program of which each result is 0, and that calls something for it."""
        body = self.lowerings.get(name)
        if body is None or body.refused or body.function.type.elem is None or body.function.type.elem.kind != "int":
            return False
        results = [i.value for block in body.blocks for i in block if isinstance(i, ins.ReturnInstr)]
        if not any(self.counts(i) for block in body.blocks for i in block):
            return False
        zero = self.zeros(body)
        return bool(results) and all(value is not None and number(value, zero) == 0 for value in results)

    def counts(self, instr: ins.Instr) -> bool:
        return (
            isinstance(instr, ins.CallInstr)
            and isinstance(instr.callee, ins.AddrFunc)
            and instr.callee.key in self.calls
            and instr.target is not None
        )

    def zeros(self, body: ins.Lowered) -> dict[str, int]:
        """The temporaries and local variables of a function that are 0 wherever they are read, as ``fixed`` has it."""
        instrs = [i for block in body.blocks for i in block]
        targets = [i.target for i in instrs if isinstance(i, ins.CallInstr) and self.counts(i)]
        temps = {temporary(t.number) for t in targets if t is not None}
        if not temps:
            return {}
        given: dict[str, list[ins.Operand]] = {}
        other: set[str] = set()  # set in other ways, too
        for instr in instrs:
            if isinstance(instr, ins.Define):
                given.setdefault(_key(instr.target), []).append(instr.value)
            elif isinstance(instr, (ins.Load, ins.CallInstr)) and instr.target is not None and not self.counts(instr):
                other.add(_key(instr.target))
            for operand in operands_of(instr):
                other.update(part.key for part in parts_of(operand) if isinstance(part, ins.AddrVar))
        known = {key for key in given if key not in other and (key[:1] == "%" or _is_plain(body.function, key))}
        zero = dict.fromkeys(sorted((known | temps) - other), 0)
        while True:  # what is set from one that is not 0 is none, either
            wrong = [key for key in zero if any(number(value, zero) != 0 for value in given.get(key, ()))]
            if not wrong:
                return zero
            for key in wrong:
                del zero[key]


def _key(target: ins.Var | ins.Temp) -> str:
    return target.key if isinstance(target, ins.Var) else temporary(target.number)


def _is_plain(function: ast.Function, key: str) -> bool:
    v = function.variables.get(key)
    return v is not None and v.kind == "local" and v.type.kind == "int" and not v.type.volatile and not v.type.atomic
