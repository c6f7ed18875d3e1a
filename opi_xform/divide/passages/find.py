"""Messages that begin inside a buffer, with the statements beside them that pack or unpack what travels.

``for (…) buf[s + e] = …; MPI_Send(&buf[s], n, …);`` is a *passage*: from its first statement to its last one, the ``n``
elements from ``s`` on are scratch.  Here passages are only found, by the text; ``divide/passages/proof.py`` proves that
a block of their own can stand for these elements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from opi_xform.divide.decompose import pure
from opi_xform.divide.mentions import Mention, blocks, mentions_of
from opi_xform.divide.passages.called import Named, begins, place_of, uncast
from opi_xform.divide.passages.early import stands_early
from opi_xform.divide.passages.given import given
from opi_xform.effects.model import MpiOp
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name
from opi_xform.ir.span import Span
from opi_xform.ir.walk import children, expressions, within
from opi_xform.ownership.buffers.uses import P2P, collect
from opi_xform.ownership.model.buffers import Place, Program, Use
from opi_xform.ownership.model.roots import is_zero
from opi_xform.ownership.spelling.mentions import Texts
from opi_xform.ownership.spelling.scopes import means_type
from opi_xform.record import dataclass

_DATA = frozenset({"int", "float", "record"})  # what elements are
MOST = 4  # statements of one message that are tried as the first one, or the last one
FAR = 24  # those that are looked at for that
Words = Callable[[Span], frozenset[bytes]]
Message = tuple[Use, Named]


@dataclass(frozen=True, slots=True)
class Passage:
    """A message and the statements, of one block, in which the elements that travel are made or used.

    key: the buffer's variable.  place: the site.  address: the message's first argument, without casts.  start: the
    element that it begins with; count: how many.  first, last: the statements.  mentions: the buffer's elements in
    them, as ``buf[…]``.  name: of the new block; the names of its companions begin with it.  handed: the message is a
    send that pends after them: nothing waits for it in this block, and only what is given away needs no free here.
    through: functions between this one and the message, which are given its place.
    """

    key: str
    function: str
    place: Place
    address: ast.Expr
    start: ast.Expr
    count: ast.Expr
    first: ast.Stmt
    last: ast.Stmt
    mentions: tuple[Mention, ...]
    name: str
    handed: bool = False
    through: tuple[str, ...] = ()

    @property
    def at(self) -> str:
        """The variable that holds the start."""
        return f"{self.name}_at"


def passages(
    program: Program,
    kept: Collection[tuple[str, int, str]],
    own: Collection[str],
    read: Callable[[str], bytes],
) -> list[Passage]:
    """Those of sites that stay, in the order of their calls, of one call the shortest first.  own: files in which
    something may be put.
    """
    out: list[Passage] = []
    seen: set[Place] = set()
    known: dict[str, list[Mention]] = {}
    taken: set[str] = set()
    words: set[str] | None = None
    texts = Texts()
    for use in collect(program):
        if use.place[:3] not in kept or use.place in seen or use.call.span.file not in own or use.op.persistent:
            continue
        seen.add(use.place)
        by = place_of(program, use)
        if by is None or by.call.span.file != use.call.span.file:
            continue
        ref, start, address, node = by.ref, by.start, by.address, program.graph.nodes[by.node]
        var = program.variables[ref.var]
        function = program.graph.frames[node.frame].function
        body = program.functions[function]
        if not is_plain(var) or not same_type(program, function, var, texts):
            continue
        if ref.var not in known:
            known[ref.var] = mentions_of(program).of(ref.var)
        info = program.graph.statement(node)
        if info is None or not info.stmt.span.editable:
            continue
        if (info.role, info.in_block) not in (("item", True), ("then", False)):
            continue
        words = words_of(program, read) if words is None else words
        for found in _around(program, body, info.stmt, (use, by), known[ref.var], said(read)):
            name = name_for(var.name, words, taken)
            first, last, mentions, before, handed = found
            begin, many = (_set_there(program, e, before) for e in (start, by.count))
            new = {key for s in before if isinstance(s, ast.DeclStmt) for key in s.variables}
            early = all(pure(e) and stands_early(program, body, e, before) for e in (begin, many))
            if name and early and new.isdisjoint({*_named(begin), *_named(many)}):
                taken.add(name)
                ends = (first, last, mentions, name, handed, by.through)
                one = Passage(ref.var, function, use.place, address, begin, many, *ends)
                out.append(one)
    return out


def beginning(use: Use) -> tuple[ast.VarRef, ast.Expr, ast.Expr] | None:
    """The variable in a message's first argument, the element that it begins with, and the argument without casts."""
    return begins(use.call.args[use.argument])


def is_plain(var: ast.Variable) -> bool:
    """An array of data, or a pointer to some, that is nothing else."""
    t = var.type
    if var.thread_local or t.const or t.volatile or t.atomic or not (t.is_pointer or t.is_array) or t.elem is None:
        return False
    elem = t.elem
    return elem.kind in _DATA and bool(elem.size) and not (elem.const or elem.volatile or elem.atomic)


def same_type(program: Program, function: str, var: ast.Variable, texts: Texts) -> bool:
    """The words of its elements' type mean that type in a function: none of the same name is declared."""
    lowered, elem = program.graph.lowered.get(function), var.type.elem
    return lowered is not None and elem is not None and means_type(program, lowered, elem.spelling, texts)


def words_of(program: Program, read: Callable[[str], bytes]) -> set[str]:
    """All words of the program, headers and all, and the names that macros paste together."""
    found = {w.decode() for file in program.files for w in re.findall(rb"[A-Za-z_]\w*", read(file))}
    return found | {v.name for v in program.variables.values()} | {f.name for f in program.functions.values()}


def name_for(name: str, words: Collection[str], taken: Collection[str]) -> str:
    """A name for a new block that no word of the program begins with; '' where there is none."""
    for number in range(1, 1000):
        wanted = f"{name}_part{'' if number == 1 else number}"
        if wanted not in taken and not any(w == wanted or w.startswith(f"{wanted}_") for w in words):
            return wanted
    return ""


# --- which statements -------------------------------------------------------------------------------------------------


def _around(
    program: Program, function: ast.Function, message: ast.Stmt, of: Message, mentions: Sequence[Mention], words: Words
) -> Iterator[tuple[ast.Stmt, ast.Stmt, tuple[Mention, ...], Sequence[ast.Stmt], bool]]:
    """The first and the last statement that have to do with a message, the buffer's elements in them, what stands
    between the first one and the message, and whether the message goes on after the last one.

    Before a send: those that write elements; after a receive: those that read some.  Between them may stand others
    that do not name the buffer, or only give it to other messages, and what the message's own statement and the tests
    around it ask.  The last one waits for a message that is pending;
    where none does, as where each turn of a loop sends to one partner, a send is the last one itself.

    The message may stand in an ``if`` without ``else``; that it is there each time, the proof tells.
    """
    every = list(blocks(function.body))
    ahead: Sequence[ast.Stmt] = tuple(map(_said_alone, _beside_call(message, of[1].call)))
    inside = False  # the message may be waited for in the statement that it is in
    while True:
        body, found = next((b for b in every if any(s is message for s in b)), None), False
        if body is not None:
            for first, last, here, before, handed in _beside(
                program, function, body, message, of, mentions, words, inside
            ):
                found = True
                yield first, last, here, (*before, *ahead), handed
            ahead = (*body[: next(i for i, s in enumerate(body) if s is message)], *ahead)
        around = None if found else next((s for b in every for s in b if _holds(s, body, message)), None)
        if around is None:
            return
        inside = inside or of[0].side == "recv" or isinstance(around, ast.If)
        if isinstance(around, ast.If):
            ahead = (_said_alone(around.cond), *ahead)
        message = around


def _beside_call(message: ast.Stmt, call: ast.Call) -> list[ast.Expr]:
    """What is evaluated in a message's statement, but for the call itself."""
    found: list[ast.Expr] = []
    work = list(expressions(message))
    while work:
        e = work.pop()
        if any(x is call for x in within(e)):
            work += children(e)
        else:
            found.append(e)
    return found


def _said_alone(e: ast.Expr) -> ast.Stmt:
    """An expression that is evaluated before a message, as the statement that it might be."""
    return ast.ExprStmt(e.span, e)


def _holds(s: ast.Stmt, body: Sequence[ast.Stmt] | None, message: ast.Stmt) -> bool:
    """A message, with the block that it stands in, is all of a statement, or what an ``if`` without ``else`` does."""
    if isinstance(s, ast.If) and s.other is None:
        then = s.then
        return then is message or (isinstance(then, ast.Block) and then.body is body)
    return body is not None and once(s) is body


def once(s: ast.Stmt) -> Sequence[ast.Stmt] | None:
    """The body of a statement that runs once and has no condition of its own: a block, or ``do { … } while (0)``."""
    if isinstance(s, ast.DoWhile) and isinstance(s.body, ast.Block) and is_zero(s.cond):
        s = s.body
    return s.body if isinstance(s, ast.Block) else None


def _beside(
    program: Program,
    function: ast.Function,
    body: Sequence[ast.Stmt],
    message: ast.Stmt,
    of: Message,
    mentions: Sequence[Mention],
    words: Words,
    inside: bool,
) -> Iterator[tuple[ast.Stmt, ast.Stmt, tuple[Mention, ...], Sequence[ast.Stmt], bool]]:
    """``_around``, of one block.  inside: the message is in a statement in which it may be waited for."""
    use, at = of[0], next(i for i, s in enumerate(body) if s is message)
    mine = [m for m in mentions if m.function == function.key and m.kind != "size"]
    ours = {m.place for m in mine if elements(m) or given(program, m)}  # what may travel, as the words tell
    send = use.side == "send"
    waited = at if use.op.blocking else waited_for(program, body, at - inside, use)
    handed = waited is None and send
    if handed:
        waited = at
    if waited is None:
        return
    i, step, ends = at, -1 if send else 1, list[int]()
    while 0 <= i + step < len(body) and len(ends) < FAR:
        i += step
        here = [m for m in mine if in_span(m.ref.span, body[i].span)]
        if isinstance(body[i], (ast.Case, ast.Label)):
            break
        if not here or (not ends and all(m.place not in ours and _given(program, m) for m in here)):
            continue
        if not all(m.place in ours for m in here) or not any(_writes(m) if send else _reads(m) for m in here):
            break
        if send or i > waited:
            ends.append(i)
    for end in _alike(of[1], body, ends, mine, words):
        first, last = (end, waited) if send else (at, end)
        found = tuple(
            m for m in mine if m.place in ours and any(in_span(m.ref.span, s.span) for s in body[first : last + 1])
        )
        yield body[first], body[last], found, body[first:at], handed


def _alike(
    by: Named, body: Sequence[ast.Stmt], ends: Sequence[int], mentions: Sequence[Mention], words: Words
) -> list[int]:
    """Of the statements in which a passage may end those whose subscripts are most like the message's start, nearest
    first: where several sides are packed in a row, its own may be far from the message.
    """
    if len(ends) <= MOST:
        return list(ends)
    wanted = words(by.address.span)

    def unlike(i: int) -> int:
        here = [m.whole.span for m in mentions if in_span(m.ref.span, body[i].span)]
        return min((len(words(span) ^ wanted) for span in here), default=len(wanted) + MOST)

    best = sorted(range(len(ends)), key=lambda k: (unlike(ends[k]), k))[:MOST]
    return [ends[k] for k in sorted(best)]


def said(read: Callable[[str], bytes]) -> Words:
    """The words and numbers in a piece of text."""
    return lambda span: frozenset(re.findall(rb"\w+", read(span.file)[span.begin : span.end]))


def waited_for(program: Program, body: Sequence[ast.Stmt], at: int, use: Use) -> int | None:
    """The statement after a message that waits for it, as far as the words tell."""
    request = use.call.args[use.op.request] if use.op.request is not None else None
    named = {e.var for e in within(request) if isinstance(e, ast.VarRef)} if request is not None else set()
    for i in range(at + 1, len(body)):
        for call in (e for whole in expressions(body[i]) for e in within(whole) if isinstance(e, ast.Call)):
            op = operation(program, call)
            done = op.completes if op is not None else None
            if done is not None and any(
                isinstance(e, ast.VarRef) and e.var in named for arg in call.args for e in within(arg)
            ):
                return i
    return None


def operation(program: Program, call: ast.Call) -> MpiOp | None:
    effect = program.effects.get(called_name(call))
    return None if effect is None else effect.mpi


def _given(program: Program, m: Mention) -> bool:
    """The buffer is given to a message, or to a function of the program, which may send or receive it."""
    call = next((e for e in m.parents if isinstance(e, ast.Call)), None)
    op = None if call is None else operation(program, call)
    own = call is not None and called_name(call) in program.functions
    return (own or (op is not None and op.kind in P2P)) and m.kind == "value" and not elements(m)


def _named(e: ast.Expr) -> set[str]:
    return {inner.var for inner in within(e) if isinstance(inner, ast.VarRef)}


def _set_there(program: Program, e: ast.Expr, before: Sequence[ast.Stmt]) -> ast.Expr:
    """What a variable is set to by one of the statements before it is used: its value is wanted before them.

    Whether it is that value, the proof tells.
    """
    plain = uncast(e)
    if not isinstance(plain, ast.VarRef):
        return e
    for s in reversed(before):
        init = program.variables[plain.var].init
        if isinstance(s, ast.DeclStmt) and plain.var in s.variables and init is not None:
            return init
        set_to = s.expr if isinstance(s, ast.ExprStmt) else None
        if isinstance(set_to, ast.Assign) and isinstance(set_to.target, ast.VarRef) and set_to.target.var == plain.var:
            return set_to.value if set_to.op == "" else e
    return e


def in_span(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.begin <= inner.begin < outer.end


def elements(m: Mention) -> bool:
    """An element by its number: ``buf[…]``, whose address is not taken."""
    plain = m.indexed and uncast(m.around) is m.ref and m.address is None and m.kind == "value"
    return plain and m.ref.span.editable and m.written and not m.whole.type.is_array


def _writes(m: Mention) -> bool:
    above = _use(m)
    return not elements(m) or isinstance(above, (ast.Assign, ast.IncDec))


def _reads(m: Mention) -> bool:
    above = _use(m)
    return not elements(m) or not isinstance(above, ast.Assign) or above.op != ""


def _use(m: Mention) -> ast.Expr | None:
    """The assignment whose target an element is, or what else is done with it."""
    inner = m.whole
    above = list(m.parents[m.parents.index(m.whole) + 1 :])
    while above and isinstance(above[0], (ast.Member, ast.Index)) and any(c is inner for c in children(above[0])[:1]):
        inner = above.pop(0)
    if not above:
        return None
    if isinstance(above[0], ast.Assign) and above[0].target is not inner:
        return None
    return above[0]
