"""Functions that only set a pointer through a parameter: ``void init(int n, double **p) { *p = malloc(n); }``.

In the program graph ``init(n, &b)`` is what ``b = init(n, b)`` would be: the parameter stands for the pointer itself,
it is given the pointer's value, and what it holds in the end is put back.  Nobody else looks at the pointer in between:
its address is given to such functions only, the function names it nowhere, and it calls library functions only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import operands_of, parts_of, zero_constant
from opi_xform.program.addressed import plain_pointer
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class OutParameter:
    """The function with the parameter ``index``, of the variable ``key``, standing for what it points to.

    names: the variables that it names.
    """

    index: int
    key: str
    body: ins.Lowered
    names: frozenset[str]


def out_parameter(
    body: ins.Lowered,
    lowered: Callable[[str], ins.Lowered | None],
    effects: Mapping[str, FunctionEffect],
    results: bool = False,
) -> OutParameter | None:
    """The parameter through which a function sets a pointer, where it does nothing else with it; None: there is none,
    or more than one.

    results: of functions that return a number, too.
    """
    function = body.function
    if body.refused or function.type.variadic or function.type.elem is None:
        return None
    if function.type.elem.kind != "void" and not (results and function.type.elem.kind in ("int", "float")):
        return None
    found = [i for i, key in enumerate(function.params) if _pointer_to_pointer(function.variables[key])]
    if len(found) != 1:
        return None
    key = function.params[found[0]]
    if not _only_sets(body, effects):
        return None
    blocks = []
    stores = 0
    for instrs in body.blocks:
        block: list[ins.Instr] = []
        for instr in instrs:
            new = _through(instr, key, function.variables[key])
            if new is None or not _harmless(new, lowered, effects):
                return None
            stores += isinstance(instr, ins.Store) and new is not instr
            block.append(new)
        blocks.append(tuple(block))
    if not stores:
        return None
    names: set[str] = set()
    for new in (instr for block in blocks for instr in block):
        names.update(x.key for o in operands_of(new) for x in parts_of(o) if isinstance(x, ins.Var))
        if isinstance(new, ins.Define) and isinstance(new.target, ins.Var):
            names.add(new.target.key)
    return OutParameter(found[0], key, replace(body, blocks=tuple(blocks)), frozenset(names))


class OutParameters:
    """Which calls of a program set a variable through such a parameter."""

    def __init__(
        self,
        functions: Iterable[str],
        lowered: Callable[[str], ins.Lowered | None],
        effects: Mapping[str, FunctionEffect],
        variables: Mapping[str, ast.Variable],
        initialised: Collection[str],
    ) -> None:
        """functions: all that may run.  initialised: variables that initialisers of static storage name."""
        self.lowered = lowered
        self.effects = effects
        self.known: dict[str, OutParameter | None] = {}
        taken: Counter[str] = Counter(initialised)
        passed: Counter[str] = Counter()
        for name in functions:
            body = lowered(name)
            for instr in () if body is None else (i for block in body.blocks for i in block):
                operands = operands_of(instr)
                taken.update(x.key for o in operands for x in parts_of(o) if isinstance(x, ins.AddrVar))
                if isinstance(instr, ins.CallInstr) and (found := self.of(instr)) is not None:
                    passed.update(x.key for x in (instr.args[found.index],) if isinstance(x, ins.AddrVar))
        known = {key: v for key, v in variables.items() if v.is_global}
        for name in functions:
            body = lowered(name)
            known.update({} if body is None else body.function.variables)
        self.variables = {
            key for key, n in passed.items() if taken[key] == n and key in known and plain_pointer(known[key])
        }

    def of(self, call: ins.CallInstr) -> OutParameter | None:
        """What a call's function does, where it sets a pointer through a parameter."""
        if not isinstance(call.callee, ins.AddrFunc):
            return None
        name = call.callee.key
        if name not in self.known:
            body = self.lowered(name)
            self.known[name] = None if body is None else out_parameter(body, self.lowered, self.effects)
        found = self.known[name]
        return found if found is not None and len(call.args) == len(found.body.function.params) else None

    def set_by(self, call: ins.CallInstr) -> tuple[OutParameter, str] | None:
        """The function, and the variable that it sets; nobody else has the variable's address."""
        found = self.of(call)
        argument = call.args[found.index] if found is not None else None
        if found is None or not isinstance(argument, ins.AddrVar) or argument.key not in self.variables:
            return None
        return None if argument.key in found.names else (found, argument.key)


def _only_sets(body: ins.Lowered, effects: Mapping[str, FunctionEffect]) -> bool:
    """On the ways that return, the function calls what allocates and frees, and nothing else: it prints nothing."""
    ways = returning(body, effects)
    called = [_called(body.blocks[i], effects) for i in sorted(ways)]
    return all(effect is not None and (effect.allocates or effect.frees) for found in called for effect in found)


def returning(body: ins.Lowered, effects: Mapping[str, FunctionEffect]) -> frozenset[int]:
    """The blocks of a function from which a way leads to its end."""
    called = [_called(block, effects) for block in body.blocks]
    goes_on = [not any(effect is not None and effect.noreturn for effect in found) for found in called]
    out = {i for i, succs in enumerate(body.succs) if goes_on[i] and not succs}
    more = out
    while more:
        more = {i for i, succs in enumerate(body.succs) if goes_on[i] and not out.isdisjoint(succs)} - out
        out = out | more
    return frozenset(out)


def _called(block: Iterable[ins.Instr], effects: Mapping[str, FunctionEffect]) -> list[FunctionEffect | None]:
    """What the functions do that a block calls; None for one of the program's own."""
    calls = (instr for instr in block if isinstance(instr, ins.CallInstr))
    return [effects.get(called_key(c)) for c in calls]


def _pointer_to_pointer(variable: ast.Variable) -> bool:
    to = variable.type.elem if variable.type.is_pointer else None
    return to is not None and to.is_pointer and not (to.const or to.volatile or to.atomic or variable.type.volatile)


def _through(instr: ins.Instr, key: str, variable: ast.Variable) -> ins.Instr | None:
    """The instruction with `*p` for `p`; None where it does something else with the parameter."""
    to = variable.type.elem
    assert to is not None
    match instr:
        case (
            ins.Store(address=ins.PtrAdd(base=base, index=index)) | ins.Load(address=ins.PtrAdd(base=base, index=index))
        ):
            if base == ins.Var(key) and zero_constant(index):
                instr = replace(instr, address=base)  # `p[0]` is `*p`
        case _:
            pass
    new = instr
    match instr:
        case ins.Store(address=ins.Var(key=found), value=value, type=type_) if found == key and type_.is_pointer:
            new = ins.Define(instr.span, instr.stmt, ins.Var(key, instr.span), value, to)
        case ins.Load(address=ins.Var(key=found), type=type_, target=target) if found == key and type_.is_pointer:
            return ins.Define(instr.span, instr.stmt, target, ins.Var(key, instr.span), to)
        case ins.Define(target=ins.Var(key=found)) if found == key:
            return None
    operands = (new.value,) if new is not instr and isinstance(new, ins.Define) else operands_of(instr)
    named = any(isinstance(x, (ins.Var, ins.AddrVar)) and x.key == key for o in operands for x in parts_of(o))
    return None if named else new


def _harmless(
    instr: ins.Instr, lowered: Callable[[str], ins.Lowered | None], effects: Mapping[str, FunctionEffect]
) -> bool:
    """No function of the program is called, no message goes, and nothing happens that is not understood."""
    match instr:
        case ins.CallInstr(callee=ins.AddrFunc(key=name)):
            effect = effects.get(name)
            message = effect is not None and effect.mpi is not None and (effect.mpi.send or effect.mpi.recv)
            return lowered(name) is None and effect is not None and not effect.calls and not message
        case ins.CallInstr() | ins.Escape():
            return False
    return True
