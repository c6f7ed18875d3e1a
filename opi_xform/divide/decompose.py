"""A place in a buffer, as written, taken apart: which part it lies in, and what is left of it.

``d * n + i`` is part ``d`` and in it ``i``, when a part has ``n`` elements.  Only what is worth exactly a multiple of a
part's size is taken out, by what the analysis knows of its value where it is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.walk import children
from opi_xform.memory.poly import ONE, ZERO, Poly, number
from opi_xform.ownership.model.inequalities import divided

Value = Callable[[ast.Expr], Poly | None]


@dataclass(slots=True)
class Taken:
    """What was taken out of a sum: the part's number, as a number and as multiples of expressions; and the rest.

    rest: terms with their signs, as text.  touched: something was taken out.
    """

    constant: int = 0
    multiples: list[tuple[int, ast.Expr]] = field(default_factory=list)
    rest: list[tuple[int, str]] = field(default_factory=list)
    touched: bool = False


class Unspellable(Exception):
    """Some of the text that is needed is written by a macro."""


def pairs(e: ast.Expr, operand: ins.Operand) -> dict[int, ins.Operand]:
    """Which operand each expression in ``e`` became, by the expression's id, as far as they have one shape."""
    out: dict[int, ins.Operand] = {}
    stack = [(e, operand)]
    while stack:
        e, operand = stack.pop()
        out[id(e)] = operand
        match e:
            case ast.Cast():
                cast = isinstance(operand, ins.Op) and operand.op == "cast"
                stack.append((e.operand, operand.args[0] if cast and isinstance(operand, ins.Op) else operand))
            case ast.Binary(op=op) if isinstance(operand, ins.Op) and operand.op == op and len(operand.args) == 2:
                stack.append((e.left, operand.args[0]))
                stack.append((e.right, operand.args[1]))
            case ast.Unary(op="+"):
                stack.append((e.operand, operand))
            case ast.Unary(op="-") if isinstance(operand, ins.Op) and operand.op == "neg":
                stack.append((e.operand, operand.args[0]))
            case _:
                pass
    return out


def value_of(e: ast.Expr, known: Mapping[int, Poly]) -> Poly | None:
    """What an expression is worth."""
    while isinstance(e, ast.Cast) and id(e) not in known:
        e = e.operand
    if isinstance(e, ast.IntLit):
        return number(e.value)
    if isinstance(e, ast.SizeOf) and e.value is not None:
        return number(e.value)
    return known.get(id(e))


def sum_of(e: ast.Expr, value: Value) -> list[tuple[int, ast.Expr]]:
    """The terms of a sum with their signs, in order."""
    out: list[tuple[int, ast.Expr]] = []
    stack = [(1, e)]
    while stack:
        sign, e = stack.pop()
        e = uncast(e, value)
        if isinstance(e, ast.Binary) and e.op in ("+", "-") and not e.type.is_pointer:
            stack.append((sign if e.op == "+" else -sign, e.right))
            stack.append((sign, e.left))
        else:
            out.append((sign, e))
    return out


def factors_of(e: ast.Expr, value: Value) -> list[ast.Expr]:
    """The factors of a product, in order."""
    out: list[ast.Expr] = []
    stack = [e]
    while stack:
        e = uncast(stack.pop(), value)
        if isinstance(e, ast.Binary) and e.op == "*":
            stack += [e.right, e.left]
        else:
            out.append(e)
    return out


def uncast(e: ast.Expr, value: Value) -> ast.Expr:
    """The expression without conversions that leave its value alone."""
    while isinstance(e, ast.Cast):
        inner = value(e.operand)
        if inner is None or inner != value(e):
            break
        e = e.operand
    return e


def take_all(
    terms: Sequence[tuple[int, ast.Expr]],
    size: Poly,
    value: Value,
    text: Callable[[ast.Expr], str],
    written: bool = False,
) -> Taken | None:
    """Takes multiples of ``size`` out of a sum; None when there are none.  Raises Unspellable.

    written: as it stands there, not as what it is worth in one call of the function; numbers that are subtracted are
    divided, too, as where parts and elements are counted from 1 on.
    """
    total = Taken()
    for sign, e in terms:
        one = take(e, sign, size, value, text, written)
        total.constant += one.constant
        total.multiples += one.multiples
        total.rest += one.rest
        total.touched = total.touched or one.touched
    return total if total.touched else None


def take_start(
    terms: Sequence[tuple[int, ast.Expr]],
    begins: Sequence[Poly | None],
    value: Value,
    text: Callable[[ast.Expr], str],
) -> Taken | None:
    """Takes those terms out of a sum that are together where a part begins, the last such; None when none are."""
    parts = [(sign * own, e) for sign, whole in terms for own, e in sum_of(whole, value)]
    usable = [i for i, (sign, e) in enumerate(parts) if sign > 0 and pure(e) and value(e) is not None][:MOST_TERMS]
    for number_ in range(len(begins) - 1, 0, -1):
        begin = begins[number_]
        for chosen in range(1, 1 << len(usable)):
            out = {i for k, i in enumerate(usable) if chosen >> k & 1}
            if begin is not None and sum_value([parts[i][1] for i in out], value) == begin:
                rest = [(sign, term_text(e, text)) for i, (sign, e) in enumerate(parts) if i not in out]
                return Taken(number_, [], rest, True)
    return None


MOST_TERMS = 6  # of which all subsets are tried


def sum_value(terms: Sequence[ast.Expr], value: Value) -> Poly:
    out = ZERO
    for e in terms:
        worth = value(e)
        assert worth is not None
        out = out + worth
    return out


def spelt(wanted: Poly, args: Sequence[ast.Expr], known: Mapping[int, Poly], text: Callable[[ast.Expr], str]) -> str:
    """A number of elements in the words of an allocation's arguments.  Raises Unspellable."""
    names: dict[int, str] = {}
    stack = list(args)
    while stack:
        e = stack.pop()
        worth = value_of(e, known)
        if worth is not None and worth.single is not None and pure(e):
            names.setdefault(worth.single, factor_text(e, text))
        stack.extend(children(e))
    terms = []
    for monomial, c in wanted.terms:
        if any(s not in names for s in monomial):
            raise Unspellable
        words = [names[s] for s in monomial]
        if len(words) > 1:
            words[0] = f"(size_t){words[0]}"
        terms.append((1 if c > 0 else -1, " * ".join([str(abs(c)), *words] if abs(c) != 1 or not words else words)))
    return joined(sorted(terms, key=lambda term: -term[0]))


def take(
    e: ast.Expr, sign: int, size: Poly, value: Value, text: Callable[[ast.Expr], str], written: bool = False
) -> Taken:
    """Takes multiples of ``size`` out of ``sign * e``.  Raises Unspellable."""
    out = Taken()
    for own, term in sum_of(e, value):
        _take_term(out, sign * own, term, size, value, text, written)
    return out


def _take_term(
    out: Taken, sign: int, term: ast.Expr, size: Poly, value: Value, text: Callable[[ast.Expr], str], written: bool
) -> None:
    worth, factors = value(term), factors_of(term, value)
    if written and sign > 0 and len(factors) > 1 and pure(term) and _take_product(out, factors, size, value, text):
        return
    times = None if worth is None or sign < 0 or not pure(term) else divided(worth, size)
    known = None if times is None else times.constant
    if known is not None and (known > 0 or (known == 0 and not isinstance(term, (ast.IntLit, ast.VarRef)))):
        out.constant += known
        out.touched = True
        return
    number_, whole = (None if worth is None else worth.constant), size.constant
    if sign > 0 and isinstance(term, ast.IntLit) and number_ is not None and whole and number_ > whole:
        out.constant += number_ // whole
        out.rest.append((1, str(number_ % whole)))
        out.touched = True
        return
    if written and sign < 0 and isinstance(term, ast.IntLit) and number_ is not None and whole and number_ >= whole:
        out.constant -= number_ // whole
        if number_ % whole:
            out.rest.append((-1, str(number_ % whole)))
        out.touched = True
        return
    if sign > 0 and len(factors) > 1 and pure(term) and _take_product(out, factors, size, value, text):
        return
    out.rest.append((sign, term_text(term, text)))


def _take_product(
    out: Taken, factors: list[ast.Expr], size: Poly, value: Value, text: Callable[[ast.Expr], str]
) -> bool:
    worths = [value(f) for f in factors]
    for i, factor in enumerate(factors):
        others = product([w for k, w in enumerate(worths) if k != i])
        if others is None or worths[i] is None:
            continue
        times = divided(others, size)
        known = None if times is None else times.constant
        if known is not None and known > 0:
            out.multiples.append((known, factor))
            out.touched = True
            return True
    for i, factor in enumerate(factors):
        others = product([w for k, w in enumerate(worths) if k != i])
        inner = None if others is None else divided(size, others)
        if inner is None or len(sum_of(factor, value)) < 2:
            continue
        taken = take(factor, 1, inner, value, text)
        if taken.touched:
            out.constant += taken.constant
            out.multiples += taken.multiples
            out.touched = True
            if taken.rest:
                left = joined(taken.rest)
                left = left if len(taken.rest) == 1 and taken.rest[0][0] > 0 else f"({left})"
                words = [left if k == i else factor_text(f, text) for k, f in enumerate(factors)]
                out.rest.append((1, " * ".join(words)))
            return True
    return False


def product(values: list[Poly | None]) -> Poly | None:
    out = ONE
    for v in values:
        if v is None:
            return None
        out = out * v
    return out


def pure(e: ast.Expr) -> bool:
    """Evaluating it changes nothing, and once is as good as never."""
    stack = [e]
    while stack:
        e = stack.pop()
        if isinstance(e, (ast.Assign, ast.IncDec, ast.Call, ast.Opaque)) or e.type.volatile or e.type.atomic:
            return False
        stack.extend(children(e))
    return True


def calls(e: ast.Expr) -> bool:
    """A function is called in it."""
    stack = [e]
    while stack:
        e = stack.pop()
        if isinstance(e, (ast.Call, ast.Opaque)):
            return True
        stack.extend(children(e))
    return False


def joined(terms: list[tuple[int, str]]) -> str:
    """A sum as text, one without terms as 0."""
    out = ""
    for sign, words in terms:
        if not out:
            out = words if sign > 0 else f"-{words}"
        else:
            out += f" + {words}" if sign > 0 else f" - {words}"
    return out or "0"


_LOOSE = (ast.Conditional, ast.Logical, ast.Assign, ast.Comma)


def term_text(e: ast.Expr, text: Callable[[ast.Expr], str]) -> str:
    """An expression's text, in a sum."""
    loose = isinstance(e, _LOOSE) or (isinstance(e, ast.Binary) and e.op not in ("*", "/", "%"))
    loose = loose or isinstance(e, ast.Unary)
    return f"({text(e)})" if loose else text(e)


def factor_text(e: ast.Expr, text: Callable[[ast.Expr], str]) -> str:
    """An expression's text, in a product."""
    return f"({text(e)})" if isinstance(e, (*_LOOSE, ast.Binary, ast.Unary, ast.Cast)) else text(e)


def number_text(taken: Taken, text: Callable[[ast.Expr], str]) -> str:
    """The part's number as text."""
    terms = [
        (1, term_text(e, text) if times == 1 else f"{times} * {factor_text(e, text)}") for times, e in taken.multiples
    ]
    if len(terms) == 1 and not taken.constant and taken.multiples[0][0] == 1:
        return text(taken.multiples[0][1])
    if taken.constant or not terms:
        terms.append((1 if taken.constant >= 0 else -1, str(abs(taken.constant))))
    return joined(terms)


def number_value(taken: Taken, value: Value) -> Poly:
    """The part's number."""
    out = number(taken.constant)
    for times, e in taken.multiples:
        worth = value(e)
        assert worth is not None
        out = out + worth.scaled(times)
    return out if out.terms else ZERO
