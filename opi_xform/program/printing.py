"""Functions of the program that print what they are given, as ``printf`` does: ``void fail(const char *format, ...)``.

Nobody follows a ``va_list``: what is behind the last parameter counts as given away, and as if unknown code had it.
Most such functions hand the list to ``vfprintf`` and do nothing else with it.  Then the text tells what happens to the
arguments, as it does in a call of ``printf`` (``formats.py``): they are read, and no address moves.  That holds when

- the list is used by ``va_start``, ``va_copy``, ``va_end``, and by functions that print such lists: the library's, or
  the program's own of which the same holds.  ``va_arg`` is none of these;
- the format is a parameter that is never set and whose address is not taken, passed on as it is;
- each call of the function, by its name, has a format that is known and moves no address, or passes no addresses.

The arguments still count as given away (``Escape``), so nothing is said of when they are read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from opi_xform.effects.formats import harmless
from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import called_key
from opi_xform.ir.operands import assigned, operands_of, parts_of
from opi_xform.program.lowerings import Lowerings
from opi_xform.record import dataclass

_HANDLES = {"__builtin_va_start": (0,), "__builtin_va_copy": (0, 1), "__builtin_va_end": (0,)}
"""What may be done with a list besides printing it, and which arguments are lists."""


@dataclass(frozen=True, slots=True)
class _Printer:
    """format: the parameter that is the format.  given: the parameter that is the list; -1: what ``...`` stands for."""

    format: int
    given: int


@dataclass(frozen=True, slots=True)
class _Use:
    """A list is handed to a function with a format, which are ``printer`` there.

    format, given: the parameters of the one that calls; -1: something else.
    """

    callee: str
    printer: _Printer
    format: int
    given: int


def printing(lowerings: Lowerings, effects: Mapping[str, FunctionEffect], taken: Collection[str]) -> frozenset[str]:
    """Those of a program with a main.  taken: functions that may be called other than by their names."""
    if not any(f.type.variadic and name not in taken for name, f in lowerings.functions.items()):
        return frozenset()
    variables = lowerings.globals
    bodies = {name: lowered for name in lowerings.functions if (lowered := lowerings.get(name)) is not None}
    shapes = {name: _shape(lowered, bodies, effects) for name, lowered in bodies.items() if name not in taken}
    found = {name: shape for name, shape in shapes.items() if shape is not None and not bodies[name].refused}
    callers: dict[str, list[tuple[str, ins.CallInstr]]] = {}
    for name, lowered in bodies.items():
        for call in _calls(lowered):
            if isinstance(call.callee, ins.AddrFunc):
                callers.setdefault(call.callee.key, []).append((name, call))
    while True:  # no walk along calls: what is wrong depends on callers and on those called
        wrong = {
            name
            for name, (printer, uses) in found.items()
            if not all(use.callee not in bodies or _printer(found, use.callee) == use.printer for use in uses)
            or not all(
                _gives(printer, call, bodies[caller], len(bodies[name].function.params), variables)
                if printer.given < 0
                else caller in found  # it prints every list that it hands on, with its own format
                for caller, call in callers.get(name, ())
            )
        }
        if not wrong:
            return frozenset(found)
        for name in wrong:
            del found[name]


def told(printers: Collection[str], function: str, effect: FunctionEffect | None) -> bool:
    """A library function that is called in one of them prints a list: each call of it says what."""
    how = effect.format if effect is not None else None
    return function in printers and how is not None and how.listed and not how.scans


def _printer(found: Mapping[str, tuple[_Printer, list[_Use]]], name: str) -> _Printer | None:
    return found[name][0] if name in found else None


def _gives(
    printer: _Printer, call: ins.CallInstr, caller: ins.Lowered, params: int, variables: Mapping[str, ast.Variable]
) -> bool:
    """What a call gives a function with ``...`` is printed, and no address moves."""
    if len(call.args) < params:
        return False
    if not any(a.type.holds_address for a in call.call.args[params:]):
        return True
    return harmless(call.call.args[printer.format], variables, caller.function.variables)


def _shape(
    body: ins.Lowered, bodies: Mapping[str, ins.Lowered], effects: Mapping[str, FunctionEffect]
) -> tuple[_Printer, list[_Use]] | None:
    """What a function prints, and the calls that do, if it does nothing else with lists."""
    params = body.function.params
    lists = {
        part.key
        for call in _calls(body)
        if isinstance(call.callee, ins.AddrFunc) and call.callee.key in _HANDLES
        for i in _HANDLES[call.callee.key]
        for part in (parts_of(call.args[i]) if i < len(call.args) else ())
        if isinstance(part, (ins.AddrVar, ins.Var))
    }
    lists |= {p for p in params if "va_list" in body.function.variables[p].type.spelling}
    uses: list[_Use] = []
    right: set[tuple[int, int]] = set()  # (call, argument): where lists may be
    for call in _calls(body):
        name = called_key(call)
        places = _HANDLES.get(name, ())
        how = _consumes(name, call, bodies, effects)
        if how is not None:
            places = (how.given,)
            format_, given = (_key(call.args[i]) for i in (how.format, how.given))
            at, of = (params.index(key) if key in params else -1 for key in (format_, given))
            uses.append(_Use(name, how, at, of))
        right.update((id(call), i) for i in places if i < len(call.args) and _key(call.args[i]) in lists)
    formats = {use.format for use in uses}
    if len(formats) != 1 or -1 in formats or _otherwise(body, lists, right):
        return None
    (format_at,) = formats
    of = next((i for i, p in enumerate(params) if p in lists), -1)
    if (of >= 0) == body.function.type.variadic or any(use.given not in (-1, of) for use in uses):
        return None
    if params[format_at] in assigned(body) or _named(body, params[format_at]):
        return None
    return _Printer(format_at, of), uses


def _consumes(
    name: str, call: ins.CallInstr, bodies: Mapping[str, ins.Lowered], effects: Mapping[str, FunctionEffect]
) -> _Printer | None:
    """Where a function that may print a list has its format and the list."""
    if name in bodies:
        function = bodies[name].function
        types = [function.variables[p].type for p in function.params]
        lists = [i for i, type_ in enumerate(types) if "va_list" in type_.spelling]
        texts = [i for i, type_ in enumerate(types) if type_.is_pointer and type_.pointee == "char" and i not in lists]
        known = len(lists) == len(texts) == 1 and len(call.args) == len(types)
        return _Printer(texts[0], lists[0]) if known else None
    found = effects[name].format if name in effects else None
    if found is None or found.scans or not found.listed or max(found.arg, found.first) >= len(call.args):
        return None
    return _Printer(found.arg, found.first)


def _otherwise(body: ins.Lowered, lists: Collection[str], right: Collection[tuple[int, int]]) -> bool:
    """Something else is done with a list."""
    for block in body.blocks:
        for instr in block:
            first = 1 if isinstance(instr, ins.CallInstr) else 0  # the function that is called
            for i, operand in enumerate(operands_of(instr), -first):
                if first and (id(instr), i) in right:
                    continue
                if any(isinstance(p, (ins.AddrVar, ins.Var)) and p.key in lists for p in parts_of(operand)):
                    return True
    return False


def _named(body: ins.Lowered, key: str) -> bool:
    """The address of a variable is taken."""
    return any(
        isinstance(part, ins.AddrVar) and part.key == key
        for block in body.blocks
        for instr in block
        for operand in operands_of(instr)
        for part in parts_of(operand)
    )


def _key(operand: ins.Operand) -> str | None:
    return operand.key if isinstance(operand, (ins.Var, ins.AddrVar)) else None


def _calls(body: ins.Lowered) -> Iterator[ins.CallInstr]:
    return (instr for block in body.blocks for instr in block if isinstance(instr, ins.CallInstr))
