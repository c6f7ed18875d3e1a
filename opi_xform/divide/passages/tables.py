"""Receives in a loop, each into a stretch of one buffer that the program computes, and what is read of them after it.

``for (i = 0; i < n; i++) MPI_Irecv(&buf[at[i]], many[i], …);`` … ``x += buf[at[which] + j];`` is a *table of
messages*: from the loop to the last statement that reads what came, message ``i`` may have a block of its own, row
``i`` of a table.  Here they are only found, by the text; ``divide/passages/table_proof.py`` proves it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields
from itertools import pairwise

from opi_xform.divide.decompose import pure
from opi_xform.divide.mentions import Mention, mentions_of
from opi_xform.divide.passages.called import uncast
from opi_xform.divide.passages.find import (
    beginning,
    elements,
    in_span,
    is_plain,
    name_for,
    once,
    operation,
    same_type,
    waited_for,
    words_of,
)
from opi_xform.divide.size_text import declares_none
from opi_xform.ir import ast
from opi_xform.ir.lowering.truths import plainer
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ir.walk import children, expressions, statements, within
from opi_xform.ownership.buffers.uses import collect
from opi_xform.ownership.model.buffers import Place, Program, Use
from opi_xform.ownership.spelling.mentions import Texts
from opi_xform.record import dataclass

MOST = 3  # rows that are tried for one element
_LEAVES = (ast.Break, ast.Continue, ast.Goto, ast.Return, ast.Label, ast.Switch, ast.OpaqueStmt)
_SIMPLE = (ast.IntLit, ast.VarRef, ast.Member, ast.Index, ast.Deref, ast.Cast, ast.Unary, ast.Binary)
_NUMBERS = frozenset({"int", "long", "unsigned", "unsigned int", "long int", "size_t", "short"})


@dataclass(frozen=True, slots=True)
class Row:
    """Which message an element may be of: that with this number.  begins: where the element's own number names the
    message's start.
    """

    number: ast.Expr
    begins: ast.Expr | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A loop of receives.

    key: the buffer's variable.  place: the site.  message: its statement.  address: its first argument, without casts.
    written: the element that it begins with, and size: how many there are, as they are written there; start and count:
    the same of the loop's ``counter``.  turns: how often the loop runs.  first: the loop, with the block that is there
    for its counter alone; last: the last statement that has to do with what came.  mentions: the elements in between,
    each with the rows that it may be in.  name: of the table; the names of its companions begin with it.
    """

    key: str
    function: str
    place: Place
    message: ast.Stmt
    address: ast.Expr
    written: ast.Expr
    size: ast.Expr
    start: ast.Expr
    count: ast.Expr
    counter: str
    turns: ast.Expr
    first: ast.Stmt
    last: ast.Stmt
    mentions: tuple[tuple[Mention, tuple[Row, ...]], ...]
    name: str


def tables(
    program: Program,
    kept: Collection[tuple[str, int, str]],
    own: Collection[str],
    read: Callable[[str], bytes],
) -> list[Table]:
    """Those of sites that stay, in the order of their calls.  own: files in which something may be put."""
    out: list[Table] = []
    seen: set[Place] = set()
    taken: set[str] = set()
    words: set[str] | None = None
    texts = Texts()
    for use in collect(program):
        if use.place[:3] not in kept or use.place in seen or use.call.span.file not in own:
            continue
        seen.add(use.place)
        if use.side != "recv" or use.op.blocking or use.op.persistent or use.buffer.count is None:
            continue
        begun, info = beginning(use), program.graph.statement(program.graph.nodes[use.node])
        if begun is None or info is None:
            continue
        ref, written, address = begun
        function = program.functions[program.graph.frames[program.graph.nodes[use.node].frame].function]
        var = program.variables[ref.var]
        if not is_plain(var) or not same_type(program, function.key, var, texts):
            continue
        found = loop_of(program, function, info.stmt)
        if found is None or not declares_none(function, read):
            continue
        loop, whole, counter, turns = found.loop, found.whole, found.counter, found.turns
        size = use.call.args[use.buffer.count]
        start, count = (_set_in_turn(function, loop, info.stmt, e) for e in (written, size))
        if not all(_said(program, e, function, counter) for e in (start, count, turns)) or not _names(start, counter):
            continue
        mine = [m for m in mentions_of(program).of(ref.var) if m.function == function.key and m.kind != "size"]
        behind = _behind(program, found.body, whole, use, mine)
        if behind is None or _directives(read(use.call.span.file), whole.span, behind[0].span):
            continue
        last, here = behind
        found_rows = tuple((m, tuple(_rows(program, m, start, counter, loop, function))) for m in here)
        if not all(rows and _alone(program, m) for m, rows in found_rows):
            continue
        words = words_of(program, read) if words is None else words
        name = name_for(var.name, words, taken)
        if name:
            taken.add(name)
            of_message = (use.place, info.stmt, address, written, size, start, count)
            out.append(Table(ref.var, function.key, *of_message, counter, turns, whole, last, found_rows, name))
    return out


# --- the loop ---------------------------------------------------------------------------------------------------------


Loop = ast.For | ast.While | ast.DoWhile


@dataclass(frozen=True, slots=True)
class Turning:
    """``for (i = 0; i < n; i++)`` around a message in each turn: the loop, the block that it stands in, i and n.

    It may be written as ``int i = 0; while (i < n) { …; i++; }``, or ``if (i < n) do { …; i++; } while (i < n);``.
    whole: the loop, with that ``if``, or ``{ int i; for … }``.
    """

    loop: Loop
    whole: ast.Stmt
    body: Sequence[ast.Stmt]
    counter: str
    turns: ast.Expr


def loop_of(program: Program, function: ast.Function, message: ast.Stmt) -> Turning | None:
    """The loop of which a message is in each turn."""
    if any(isinstance(s, ast.Label) for s, _ in statements(function.body)):
        return None  # a jump may lead past a declaration
    above = {id(s): parent for s, parent in statements(function.body)}
    loop = above.get(id(message))
    while loop is not None and (isinstance(loop, ast.Block) or once(loop) is not None):
        loop = above.get(id(loop))
    if not isinstance(loop, (ast.For, ast.While, ast.DoWhile)) or not message.span.editable:
        return None
    whole: ast.Stmt = loop
    block = above.get(id(loop))
    if isinstance(loop, ast.DoWhile):
        asked = block
        if not isinstance(asked, ast.If) or asked.other is not None or not unspanned(asked.cond, loop.cond):
            return None
        whole, block = asked, above.get(id(asked))
    if not whole.span.editable:
        return None
    counting = _counted(function, loop, whole, block)
    if isinstance(block, ast.Block) and counting is not None and _only_for(function, block, counting[0]):
        whole, block = block, above.get(id(block))
    if not isinstance(block, ast.Block) or any(isinstance(s, ast.Case) for s in block.body) or not whole.span.editable:
        return None
    inside = [s for s, _ in statements(loop.body)]
    if any(isinstance(s, _LEAVES) for s in inside):
        return None
    if counting is None:
        return None
    counter, turns = counting
    step = _step(loop)
    inner = (e for whole in expressions(loop.body) if whole is not step for e in within(whole))
    everywhere = (e for whole in expressions(function.body) for e in within(whole))
    if any(_changes(e, counter) for e in inner) or any(_addressed(e, counter) for e in everywhere):
        return None
    initialisers = (v.init for v in function.variables.values() if v.init is not None)
    if any(_addressed(e, counter) or _changes(e, counter) for whole in initialisers for e in within(whole)):
        return None
    return Turning(loop, whole, block.body, counter, turns)


def _only_for(function: ast.Function, block: ast.Block, counter: str) -> bool:
    """``{ int i; for … }``: a block that declares a loop's counter, and has nothing but the loop."""
    if len(block.body) != 2 or not isinstance(block.body[0], ast.DeclStmt):
        return False
    made, init = block.body[0], function.variables[counter].init
    begun = init is None or not isinstance(block.body[1], ast.For)
    return made.variables == (counter,) and not made.sizes and begun


def _begun(loop: Loop, whole: ast.Stmt, block: ast.Stmt | None) -> ast.Stmt | None:
    """What sets the counter first: the head of a ``for``, or the statement before another loop."""
    if isinstance(loop, ast.For):
        return loop.init
    around = block.body if isinstance(block, ast.Block) else ()
    return next((first for first, then in pairwise(around) if then is whole), None)


def _step(loop: Loop) -> ast.Expr | None:
    """What a loop does at the end of each turn."""
    if isinstance(loop, ast.For):
        return loop.step
    last = loop.body.body[-1] if isinstance(loop.body, ast.Block) and loop.body.body else None
    return last.expr if isinstance(last, ast.ExprStmt) else None


def _by_one(step: ast.Expr | None) -> str:
    """The variable to which one is added: ``i++``, ``i += 1``, ``i = i + 1``; '' where that is not so."""
    match step:
        case ast.IncDec(op="++", operand=ast.VarRef(var=key)):
            return key
        case ast.Assign(target=ast.VarRef(var=key), op="+", value=value):
            one = uncast(value)
            return key if isinstance(one, ast.IntLit) and one.value == 1 else ""
        case ast.Assign(target=ast.VarRef(var=key), op="", value=value):
            total = uncast(value)
            parts = [uncast(total.left), uncast(total.right)] if isinstance(total, ast.Binary) else []
            named = [e for e in parts if isinstance(e, ast.VarRef) and e.var == key]
            ones = [e for e in parts if isinstance(e, ast.IntLit) and e.value == 1]
            plus = isinstance(total, ast.Binary) and total.op == "+"
            return key if plus and len(named) == len(ones) == 1 else ""
        case _:
            return ""


def _counted(
    function: ast.Function, loop: Loop, whole: ast.Stmt, block: ast.Stmt | None
) -> tuple[str, ast.Expr] | None:
    """``i`` and ``n`` of ``for (i = 0; i < n; i++)``, where i is a whole number of the function's own."""
    asked = _below(loop.cond)
    if asked is None or not asked[1].span.editable:
        return None
    left, right = asked
    key, var = left.var, function.variables.get(left.var)
    if var is None or var.kind not in ("local", "param") or var.type.kind != "int" or var.type.size not in (4, 8):
        return None
    if right.type.kind != "int" or _names(right, key) or not pure(right):
        return None
    begin: ast.Expr | None = None
    begun = _begun(loop, whole, block)
    if isinstance(begun, ast.DeclStmt) and begun.variables == (key,):
        begin = var.init
    elif isinstance(begun, ast.ExprStmt) and isinstance(begun.expr, ast.Assign) and begun.expr.op == "":
        target = begun.expr.target
        begin = begun.expr.value if isinstance(target, ast.VarRef) and target.var == key else None
    zero = None if begin is None else uncast(begin)
    if not isinstance(zero, ast.IntLit) or zero.value != 0 or _by_one(_step(loop)) != key:
        return None
    return key, right


def _below(cond: ast.Expr | None) -> tuple[ast.VarRef, ast.Expr] | None:
    """``i`` and ``n`` of ``i < n``, ``n > i``, ``i <= n - 1``, ``!(i >= n)``."""
    cond = None if cond is None else plainer(cond)
    if not isinstance(cond, ast.Binary):
        return None
    op, left, right = cond.op, uncast(cond.left), uncast(cond.right)
    if op in (">", ">="):
        op, left, right = op.replace(">", "<"), right, left
    if op == "<=" and isinstance(right, ast.Binary) and right.op == "-" and right.type.signed:
        one, op = uncast(right.right), "<"
        if not isinstance(one, ast.IntLit) or one.value != 1:
            return None
        right = uncast(right.left)
    return (left, right) if op == "<" and isinstance(left, ast.VarRef) else None


def _changes(e: ast.Expr, key: str) -> bool:
    """A variable is set."""
    target = e.target if isinstance(e, ast.Assign) else e.operand if isinstance(e, ast.IncDec) else None
    return isinstance(target, ast.VarRef) and target.var == key


def _addressed(e: ast.Expr, key: str) -> bool:
    return isinstance(e, ast.AddrOf) and isinstance(e.operand, ast.VarRef) and e.operand.var == key


def _set_in_turn(function: ast.Function, loop: Loop, message: ast.Stmt, e: ast.Expr) -> ast.Expr:
    """What a variable is set to in each turn before a message names it.  Whether it is that then, the proof tells."""
    named = uncast(e)
    if not isinstance(named, ast.VarRef):
        return e
    set_to = e
    for s in _ahead(loop, message):
        if isinstance(s, ast.DeclStmt) and named.var in s.variables:
            set_to = function.variables[named.var].init or e
        elif isinstance(s, ast.ExprStmt) and isinstance(s.expr, ast.Assign) and s.expr.op == "":
            target = s.expr.target
            if isinstance(target, ast.VarRef) and target.var == named.var:
                set_to = s.expr.value
    return set_to


def _ahead(loop: Loop, message: ast.Stmt) -> Iterator[ast.Stmt]:
    """What stands before a message in the blocks around it in a loop."""
    at = loop.body
    while at is not message and (body := once(at)) is not None:
        here = next((i for i, s in enumerate(body) if s is message or in_span(message.span, s.span)), None)
        if here is None:
            return
        yield from body[:here]
        at = body[here]


def _said(program: Program, e: ast.Expr, function: ast.Function, counter: str) -> bool:
    """It can be evaluated again elsewhere in the function, and means the same there: no name but the counter's, in
    whose place a row stands there, is another's.
    """
    if not pure(e):
        return False
    others = list(function.variables.values())
    for inner in within(e):
        if not isinstance(inner, _SIMPLE):
            return False
        if isinstance(inner, ast.Cast) and inner.explicit and inner.type.spelling not in _NUMBERS:
            return False
        if isinstance(inner, ast.VarRef) and inner.var != counter:
            name = program.variables[inner.var].name
            if any(v.name == name and v.key != inner.var for v in others):
                return False
    return True


def _names(e: ast.Expr, key: str) -> bool:
    return any(isinstance(inner, ast.VarRef) and inner.var == key for inner in within(e))


def _directives(data: bytes, begin: Span, end: Span) -> bool:
    """Lines between two statements that are the preprocessor's: a word may mean something else after them."""
    return bool(re.search(rb"^[ \t]*(#|\?\?=|%:)", data[begin.begin : end.end], re.MULTILINE))


# --- what is read after it -------------------------------------------------------------------------------------------


def _behind(
    program: Program, body: Sequence[ast.Stmt], loop: ast.Stmt, use: Use, mine: Sequence[Mention]
) -> tuple[ast.Stmt, tuple[Mention, ...]] | None:
    """The last statement that has to do with what came, and the elements up to there."""
    at = next(i for i, s in enumerate(body) if s is loop)
    if sum(in_span(m.ref.span, loop.span) for m in mine) != 1:
        return None  # the loop does more with the buffer than to receive
    end: int | None = None
    found: list[Mention] = []
    for i in range(at + 1, len(body)):
        here = [m for m in mine if in_span(m.ref.span, body[i].span)]
        if any(not elements(m) for m in here):
            break
        if here:
            end = i
            found += here
    wait = waited_for(program, body, at, use)
    if end is None or wait is None:
        return None
    last = body[max(end, wait)]
    return (last, tuple(found)) if last.span.editable else None


def _alone(program: Program, m: Mention) -> bool:
    """No other call in the same expression can change which row an element is in."""
    whole = m.parents[-1] if m.parents else m.ref
    calls = [e for e in within(whole) if isinstance(e, ast.Call) and not any(e is above for above in m.parents)]
    return all(
        isinstance(call.callee, ast.FuncRef)
        and call.callee.name not in program.functions
        and all(uncast(e).type.kind in ("int", "float") for e in call.args)
        for call in calls
    )


def _rows(
    program: Program, m: Mention, start: ast.Expr, counter: str, loop: Loop, function: ast.Function
) -> Iterator[Row]:
    """The messages that an element may be of: as its number says, or a loop around it."""
    kind = function.variables[counter].type
    found: list[ast.Expr] = []
    for inner in within(m.terms[0].expr):
        if uncast(inner) is not inner:
            continue
        number = bound(start, inner, counter)
        if number is None or not _same_number(number.type, kind) or not pure(number):
            continue
        if all(x.span.editable for x in within(number)):
            found.append(number)
            yield Row(number, inner)
    for s, _ in reversed(list(statements(function.body))):
        if len(found) >= MOST:
            return
        if not isinstance(s, (ast.For, ast.While, ast.DoWhile)) or s is loop or not in_span(m.ref.span, s.span):
            continue
        for number in (*_counting(s), *_told(program, s)):
            known = any(unspanned(number, other) for other in found)
            if known or not number.span.editable or not _same_number(number.type, kind):
                continue
            if not _declared_again(function, s, number.var):
                found.append(number)
                yield Row(number)


def _same_number(one: Type, other: Type) -> bool:
    """Whole numbers of one size and sign, by whatever name."""
    plain = not (one.volatile or one.atomic or other.volatile or other.atomic)
    return plain and (one.kind, one.size, one.signed) == ("int", other.size, other.signed) and other.kind == "int"


def _counting(s: ast.Stmt) -> Iterator[ast.VarRef]:
    """What a loop counts by."""
    if isinstance(s, (ast.For, ast.While, ast.DoWhile)) and isinstance(s.cond, ast.Binary):
        side = uncast(s.cond.right if s.cond.op in (">", ">=") else s.cond.left)
        if isinstance(side, ast.VarRef):
            yield side


def _told(program: Program, s: ast.Stmt) -> Iterator[ast.VarRef]:
    """What MPI_Waitany sets in a loop."""
    for call in (e for whole in expressions(s) for e in within(whole) if isinstance(e, ast.Call)):
        op = operation(program, call)
        done = op.completes if op is not None else None
        if done is None or done.which != "any" or done.index is None or done.index >= len(call.args):
            continue
        index = uncast(call.args[done.index])
        if isinstance(index, ast.AddrOf) and isinstance(index.operand, ast.VarRef):
            yield index.operand


def _declared_again(function: ast.Function, loop: ast.Stmt, key: str) -> bool:
    """In a loop another variable has a name."""
    name = next((v.name for v in function.variables.values() if v.key == key), "")
    inner = (k for s, _ in statements(loop) if isinstance(s, ast.DeclStmt) for k in s.variables)
    return not name or any(k != key and function.variables[k].name == name for k in inner)


def bound(pattern: ast.Expr, e: ast.Expr, key: str) -> ast.Expr | None:
    """What stands in an expression in the place of a variable of the pattern; None where it is no such expression."""
    found: list[ast.Expr] = []
    work = [(pattern, e)]
    while work:
        one, other = uncast(work[-1][0]), uncast(work[-1][1])
        work.pop()
        if isinstance(one, ast.VarRef) and one.var == key:
            found.append(other)
            continue
        if not _alike(one, other):
            return None
        work += zip(children(one), children(other), strict=True)
    if not found or not all(unspanned(found[0], other) for other in found[1:]):
        return None
    return found[0]


def unspanned(left: ast.Expr, right: ast.Expr) -> bool:
    """The same expression, wherever it stands."""
    work = [(left, right)]
    while work:
        one, other = work.pop()
        one, other = uncast(one), uncast(other)
        if not _alike(one, other):
            return False
        work += zip(children(one), children(other), strict=True)
    return True


def _alike(one: ast.Expr, other: ast.Expr) -> bool:
    """The same, but for what they are made of."""
    if type(one) is not type(other) or len(children(one)) != len(children(other)) or isinstance(one, ast.Opaque):
        return False
    own = [f.name for f in fields(one) if f.name not in ("span", "type") and f.type != "Expr"]
    return one.type == other.type and all(getattr(one, name) == getattr(other, name) for name in own)
