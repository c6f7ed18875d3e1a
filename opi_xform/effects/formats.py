"""What a format has a library function do with the arguments after it.

``%n`` writes through an argument, ``%p`` makes text of an address, and reads one back; ``%m`` of scanf stores the
address of new memory.  None of these stands in a table: it depends on the text.  A literal is believed, and so is a
``const`` array or pointer that one is the first value of.  Any other text may hold all of them: a variable, a
parameter, what a catalogue of messages returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir import instr as ins

WITH_ADDRESSES = "a format with %p"
_CONVERSION = re.compile(r"%[^a-zA-Z%\[]*(?P<length>(?:wf?[0-9]+|[hljztLqm])*)(?P<what>[diouxXeEfFgGaAbBcCsSpnm%\[])")
"""A conversion as printf and scanf have it; before its length stand flags, widths, precisions and ``1$``."""


def unread(
    call: ins.CallInstr, effect: FunctionEffect | None, *variables: Mapping[str, ast.Variable]
) -> ins.Escape | None:
    """Arguments with which anything may happen, as far as the format tells; None: nothing that the table has not."""
    found = effect.format if effect is not None else None
    if found is None or found.first >= len(call.args) or found.arg >= len(call.args):
        return None
    assert effect is not None
    texts = _texts(call.call.args[found.arg], variables)
    moving = set() if texts is None else {what for text in texts for what in _moving(text, found.scans)}
    if texts is not None and not moving:
        return None
    last = found.first + 1 if found.listed else len(call.args)
    given = zip(call.args[found.first : last], call.call.args[found.first : last], strict=True)
    values = tuple(v for v, e in given if e.type.holds_address and not isinstance(v, ins.AddrString | ins.Const))
    what = "a format that is not known" if texts is None else "a format with %n, %m or %p"
    what = WITH_ADDRESSES if moving == {"p"} and not found.scans else what
    if not values:
        return None
    brief = not (found.scans or found.listed)  # what a va_list leads to is not in hand, nor what scanf stores
    return ins.Escape(call.span, call.stmt, f"argument of `{effect.name}` with {what}", values, brief)


def as_addresses(
    call: ins.CallInstr, effect: FunctionEffect | None, *variables: Mapping[str, ast.Variable]
) -> frozenset[int]:
    """Arguments that a function prints the address of, by ``%p``, and reads nothing of what they lead to."""
    found = effect.format if effect is not None else None
    if found is None or found.scans or found.listed or found.arg >= len(call.args):
        return frozenset()
    texts = _texts(call.call.args[found.arg], variables)
    kinds = _kinds(texts[0]) if texts is not None and len(texts) == 1 else ""
    return frozenset(i for i, what in enumerate(kinds, found.first) if what == "p" and i < len(call.args))


def _kinds(text: str) -> str:
    """The conversion of each argument after a format that prints; none where they are not counted one by one."""
    out, at = "", 0
    while (at := text.find("%", at)) >= 0:
        conversion = _CONVERSION.match(text, at)
        if conversion is None or not {"$", "*", "m"}.isdisjoint(conversion.group()):
            return ""
        out += conversion["what"].replace("%", "")
        at = conversion.end()
    return out


def harmless(format_: ast.Expr, *variables: Mapping[str, ast.Variable]) -> bool:
    """A format for printing is known, and has nothing written or moved but text."""
    texts = _texts(format_, variables)
    return texts is not None and not any(_moves(text, False) for text in texts)


_SIZES = {"": 4, "hh": 1, "h": 2, "l": 8, "ll": 8, "q": 8, "L": 8, "j": 8, "z": 8, "t": 8}
_FLOATING = {"": 4, "l": 8, "L": 16}


def scanned(call: ins.CallInstr, effect: FunctionEffect, *variables: Mapping[str, ast.Variable]) -> dict[int, int]:
    """How many bytes each argument after a format gets at most, in a function of the kind of ``scanf``.

    Only those of which format and argument agree: an argument of another type counts as one of which nothing is known.
    """
    found = effect.format
    if found is None or not found.scans or found.listed or found.arg >= len(call.args):
        return {}
    texts = _texts(call.call.args[found.arg], variables)
    if texts is None or len(texts) != 1:
        return {}
    out: dict[int, int] = {}
    for i, size in enumerate(_sizes(texts[0]), found.first):
        elem = call.call.args[i].type.elem if i < len(call.args) else None
        if size is not None and elem is not None and (elem.size == size or elem.size == 1):
            out[i] = size
    return out


def _sizes(text: str) -> list[int | None]:
    """Bytes that each conversion of scanf stores; None: any number.  An empty list where the text is not understood."""
    out: list[int | None] = []
    at = 0
    while (at := text.find("%", at)) >= 0:
        conversion = _CONVERSION.match(text, at)
        if conversion is None or "$" in conversion.group():
            return []
        what, length = conversion["what"], conversion["length"]
        width = int("".join(re.findall(r"\d", text[at : conversion.start("length")])) or 0)
        at = conversion.end()
        if what == "[":
            close = text.find("]", at + (2 if text[at : at + 2] == "^]" else text[at : at + 1] == "]"))
            if close < 0:
                return []
            at = close + 1
        if what == "%" or "*" in conversion.group():
            continue
        if what in "diouxXn":
            out.append(_SIZES.get(length))
        elif what in "eEfFgGaA":
            out.append(_FLOATING.get(length))
        elif what in "cs[" and not length and (width or what == "c"):
            out.append(width + 1 if what != "c" else width or 1)
        else:
            out.append(None)
    return out


def _moves(text: str, scans: bool) -> bool:
    return any(True for _ in _moving(text, scans))


def _moving(text: str, scans: bool) -> Iterator[str]:
    """Conversions of a format that write other than the function's table says, or move an address; '' for others that
    C does not have.
    """
    at = 0
    while (at := text.find("%", at)) >= 0:
        conversion = _CONVERSION.match(text, at)
        if conversion is None:
            yield ""  # not a format as C has it, or one that the program has given a meaning
            return
        what, length = conversion["what"], conversion["length"]
        if what == "p" or (what == "n" and not scans):
            yield what
        elif scans and "m" in length:
            yield "m"
        at = conversion.end()


def _texts(format_: ast.Expr, variables: tuple[Mapping[str, ast.Variable], ...]) -> list[str] | None:
    """What the format may be, and nothing else; None: it may be any text."""
    out: list[str] = []
    work = [format_]
    while work:
        match work.pop():
            case ast.StringLit(text=text):
                if text is None:
                    return None
                out.append(text)
            case ast.Conditional(then=then, other=other):
                work += (then, other)
            case ast.Cast(operand=inner) | ast.MacroConst(operand=ast.Expr() as inner):
                work.append(inner)
            case ast.VarRef(var=key):
                variable = next((known[key] for known in variables if key in known), None)
                init = variable.init if variable is not None and _fixed(variable) else None
                if not isinstance(init, ast.StringLit):
                    return None
                work.append(init)
            case _:
                return None
    return out


def _fixed(variable: ast.Variable) -> bool:
    """It never holds anything but its first value (C 6.7.3): ``const char f[] = "..."``, ``char *const f = "..."``."""
    type_ = variable.type
    if type_.volatile:
        return False
    return type_.const or (type_.is_array and type_.elem is not None and type_.elem.const)
