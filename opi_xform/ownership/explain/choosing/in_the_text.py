"""What reads a message after its send, as the text of a function alone tells.

The program graph has no such call where its function is not followed (OpenMP, a call through a pointer, the budget),
and no bytes of a pointer that may stand for several buffers.  The text around the call still shows what a person sees
first: the same words name the memory in an expression that comes after it.  All that is said is what *may* be read.

Words that are written in between, or given to a call, end the search: the message may be written anew there.  A read
under a condition counts where no variable of it is in a condition around the call: one may exclude the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.effects.model import Effects, FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir.calls import Callers, callers_of, calls_of
from opi_xform.ir.span import Span
from opi_xform.ir.walk import repeats, statements, within, within_statement
from opi_xform.ownership.explain.choosing.places import names_of_places
from opi_xform.ownership.explain.choosing.rows_below import rows_below
from opi_xform.ownership.explain.choosing.sent_again import sent_in_turn
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, in_same_words, spelling
from opi_xform.ownership.model.roots import base_of, is_inside, read_from_memory, variables_in
from opi_xform.record import dataclass

SHOWN = 2  # reads that are named
LEVELS = 2  # of functions that are given the memory, or give it

Words = tuple[str, frozenset[str]]
"""How an lvalue is written, and by which variables."""

Loop = ast.For | ast.While | ast.DoWhile
Arm = tuple[ast.Expr, bool]
"""A condition under which a statement runs; whether where it holds."""


@dataclass(frozen=True, slots=True)
class Read:
    """An expression that may read the message's memory.

    name: by which it does.  at: the expression, or the argument by which a function has the memory that it reads.
    called: where the function is called in which it stands, if that is another one.  unsure: under a condition.  turn:
    the loop in the next turn of which it comes; None: in the same one, or after all.
    """

    span: Span
    name: str
    at: ast.Expr
    called: Span | None = None
    unsure: bool = False
    turn: Span | None = None


def read_after(
    functions: Mapping[str, ast.Function],
    effects: Effects,
    key: str,
    call: ast.Call,
    e: ast.Expr,
    all_of_it: bool = False,
) -> Refusal | None:
    """Why the message of a send stays whose function's text reads it afterwards; None where that shows nothing.

    e: the argument that names the message.  all_of_it: the message is all that its variable holds.
    """
    function = functions[key]
    text = _Text(functions, effects, sends=True, below=lambda place: rows_below(function, e, place))
    reads = [
        read
        for read in text.after(function, call, e)
        if not (_another_row(e, read.at) or (read.called is None and text.below(read.at)))
    ]
    for name in [] if reads else names_of_places(function, e):
        reads = reads or text.after(function, call, name)
    if not reads:
        return sent_in_turn(functions[key], call, e)
    turn = reads[0].turn
    when = "after the send" if turn is None else f"in the next turn of the loop in {line_of(turn)}"
    refusal = _refusal(e, reads, f"there {when}", ", of the message or beside it")
    if all_of_it and reads[0].name == spelling(base_of(e)):
        message = f"`{reads[0].name}` may be read at {line_of(reads[0].span)} {when}"
        return replace(refusal, message=message)
    return refusal


def read_beside(
    functions: Mapping[str, ast.Function], effects: Effects, key: str, call: ast.Call, e: ast.Expr
) -> Refusal | None:
    """The same of a receive into a place after the one that its words name, and not another one in each turn of a loop.

    A row of a table may be a buffer by itself, which the message brings whole.
    """
    function, text = functions[key], _Text(functions, effects)
    if isinstance(read_from_memory(e), ast.Index) or _moves(function, call, e):
        return None
    found = text.after(function, call, e)
    if is_inside(e):
        reads = [read for read in found if read.turn is None and _beside(e, read.at)]
    else:
        reads = found if found and _Text(functions, effects).parted(function, call, e) else []
    return _refusal(e, reads, "bytes there that this receive does not bring", "") if reads else None


def _refusal(e: ast.Expr, reads: Sequence[Read], what: str, which: str) -> Refusal:
    first, name = reads[0], spelling(base_of(e))
    shown = [read for read in reads if (read.turn, read.called) == (first.turn, first.called)][:SHOWN]
    named = f", as `{first.name}`" if first.name != name else ""
    message = f"the message lies in `{name}`, and {line_of(first.span)} may read {what}{named}{which}"
    notes = [(read.span, f"`{read.name}` may be read here") for read in shown]
    notes[1:1] = [(first.called, "called from here")] if first.called is not None else []
    return Refusal(Reason.READ_LATER, message, tuple(notes))


class _Text:
    """One use: ``after``."""

    def __init__(
        self,
        functions: Mapping[str, ast.Function],
        effects: Effects,
        sends: bool = False,
        below: Callable[[ast.Expr], bool] = lambda place: False,
    ) -> None:
        """below: whether a place is in other rows than the message, as loops say."""
        self.functions = functions
        self.effects = effects
        self.sends = sends
        self.below = below
        self.around: dict[int, ast.Stmt | None] = {}  # by statement
        self.callers: Callers | None = None
        self.whole = False  # what is received further in leaves some of the memory as it is

    def after(self, function: ast.Function, call: ast.Call, e: ast.Expr, levels: int = LEVELS) -> list[Read]:
        """What may read the memory of an argument after its call, the surest first, and of these the nearest.

        Where the function itself does not, those that call it with their memory may.
        """
        words = words_of(e)
        every = [s for s, _ in statements(function.body)]
        if words is None or any(isinstance(s, (ast.Goto, ast.Label)) for s in every):
            return []
        here = next((s for s in every if any(part is call for x in own(s, function) for part in within(x))), None)
        if here is None:
            return []
        self.around = {id(s): parent for s, parent in statements(function.body)}
        self.whole = self.sends or not is_inside(e)
        known = self.conditions(here, None)
        found: list[Read] = []
        at: ast.Stmt | None = here
        while at is not None:
            parent = self.around[id(at)]
            if isinstance(parent, ast.Block):
                end = self.among(function, words, _behind(parent, at), known, None, found)
                if end is not None and id(end) not in self.around:  # no jump of the program's
                    break
                if end is not None:
                    at = self.jump(end)
                    continue
            elif repeats(parent):
                self.among(function, words, _turn(parent), known, parent.span, found, here)
            at = parent
        else:
            if not found and levels:
                found = self.in_callers(function, words, levels)
        return sorted(found, key=lambda read: read.unsure)

    def in_callers(self, function: ast.Function, words: Words, levels: int) -> list[Read]:
        """The same of a function that gives its memory to one that leaves it as it is, and comes to its end."""
        (key, *others) = words[1]
        if others or key not in function.params or words[0] != function.variables[key].name:
            return []
        self.callers = callers_of(self.functions) if self.callers is None else self.callers
        at = function.params.index(key)
        for caller, call in self.callers.get(function.key, ()):
            reads = self.after(caller, call, call.args[at], levels - 1) if at < len(call.args) else []
            if reads:
                return [replace(read, called=read.called or call.span) for read in reads]
        return []

    def among(
        self,
        function: ast.Function,
        words: Words,
        rest: Sequence[ast.Stmt],
        known: Sequence[Arm],
        turn: Span | None,
        found: list[Read],
        until: ast.Stmt | None = None,
    ) -> ast.Stmt | None:
        """Adds the reads in statements that run one after the other, and gives the jump that ends them, if any does.

        What ends the search counts as a return.  known: conditions around the call.
        """
        for top in rest:
            for s, _ in statements(top):
                if s is until:
                    return None
                conditions = self.conditions(s, top)
                excluded = _exclude(known, conditions) or self.never(s, top)
                for e in own(s, function):
                    if not excluded:
                        reads = self.reads(words, e, LEVELS)
                        found += [replace(r, unsure=bool(conditions), turn=turn) for r in reads]
                    if self.written(words, e, self.whole):
                        return ast.Return(s.span, None)
            if isinstance(top, (ast.Break, ast.Continue, ast.Return)):
                return top
            if self.ends(top):
                return ast.Return(top.span, None)
        return None

    def conditions(self, s: ast.Stmt, top: ast.Stmt | None) -> list[Arm]:
        """Those inside ``top`` under which a statement runs."""
        out: list[Arm] = []
        while s is not top and (parent := self.around.get(id(s))) is not None:
            if isinstance(parent, (ast.If, ast.Switch)):
                out.append((parent.cond, isinstance(parent, ast.If) and parent.then is s))
            s = parent
        return out

    def never(self, s: ast.Stmt, top: ast.Stmt) -> bool:
        """A condition that is a number keeps a statement from being run."""
        while s is not top and (parent := self.around.get(id(s))) is not None:
            if isinstance(parent, ast.If) and isinstance(parent.cond, ast.IntLit):
                holds = parent.cond.value != 0
                if holds is not (parent.then is s):
                    return True
            s = parent
        return False

    def jump(self, end: ast.Stmt) -> ast.Stmt | None:
        """What the search goes on after: the loop or the switch that is left, or the body of the loop that goes on.

        None: the function is left.
        """
        inner, s = end, self.around.get(id(end))
        while s is not None:
            if isinstance(s, (ast.For, ast.While, ast.DoWhile)) and not isinstance(end, ast.Return):
                return inner if isinstance(end, ast.Continue) else s
            if isinstance(s, ast.Switch) and isinstance(end, ast.Break):
                return s
            inner, s = s, self.around.get(id(s))
        return None

    def reads(self, words: Words, e: ast.Expr, levels: int) -> Iterator[Read]:
        """Elements of the memory that an expression reads by its own name, or by that of a parameter."""
        unread = _unread(e)
        for x in within(e):
            if isinstance(x, ast.Call):
                yield from self.given(words, x, levels)
            elif id(x) in unread or x.type.is_pointer or x.type.is_array:
                continue
            elif isinstance(x, (ast.Index, ast.Deref)) and words_of(x) == words:
                yield Read(x.span, words[0], x)

    def given(self, words: Words, call: ast.Call, levels: int) -> Iterator[Read]:
        """What a call reads of memory that it is given."""
        if not isinstance(call.callee, ast.FuncRef):
            return
        called, effect = self.functions.get(call.callee.name), self.effect(call)
        for i, e in enumerate(call.args):
            if not (e.type.is_pointer or e.type.is_array) or words_of(e) != words or _of_pointer(e):
                continue
            if called is not None and levels and i < len(called.params):
                key = called.params[i]
                inner = (called.variables[key].name, frozenset((key,)))
                whole = not is_inside(e) and read_from_memory(e) is None
                for s, _ in statements(called.body):
                    exprs = list(own(s, called))
                    for read in (r for x in exprs for r in self.reads(inner, x, levels - 1)):
                        yield Read(read.span, read.name, read.at if whole else e, read.called or call.span)
                        return
                    if any(self.written(inner, x) for x in exprs):
                        break
            elif called is None and effect is not None and effect.mpi is None and self.only_reads(words, call):
                reads = any(region.arg == i and not region.indirect for region in effect.reads)
                yield from (Read(call.span, words[0], e),) if reads else ()

    def written(self, words: Words, e: ast.Expr, whole: bool = False) -> bool:
        """An expression may write the memory, or the pointer to it; a call that is given it may, but one that reads.

        whole: what is received further in than where a message begins leaves of that what there is.
        """
        for x in within(e):
            match x:
                case ast.Assign(target=place) | ast.IncDec(operand=place) if words_of(place) == words:
                    return not self.below(place)
                case ast.Assign(target=ast.VarRef(var=key)) | ast.IncDec(operand=ast.VarRef(var=key)) if (
                    key in words[1]
                ):
                    return True
                case ast.AddrOf(operand=ast.VarRef() | ast.Member() as place) if place.type.is_pointer:
                    if words_of(place) == words:
                        return True
                case ast.Call(args=args) if any(words_of(a) == words for a in args if a.type.elem is not None):
                    if not (self.only_reads(words, x) or (whole and self.received_further_in(words, x))):
                        return True
                case ast.Opaque():
                    return True
                case _:
                    pass
        return False

    def only_reads(self, words: Words, call: ast.Call) -> bool:
        """A call does not write the memory that it is given, as a library's function may be known to do."""
        given = {i for i, a in enumerate(call.args) if a.type.elem is not None and words_of(a) == words}
        if not given:
            return True
        effect = self.effect(call)
        if effect is None or effect.frees is not None or not given.isdisjoint(effect.retains):
            return effect is not None and effect.mpi is not None and effect.mpi.recv is None
        return not any(region.rest or region.arg in given for region in effect.all_writes)

    def received_further_in(self, words: Words, call: ast.Call) -> bool:
        """All of the memory that a call writes is a message that it receives further in."""
        effect = self.effect(call)
        buffer = effect.mpi.recv if effect is not None and effect.mpi is not None else None
        if buffer is None or buffer.buf >= len(call.args):
            return False
        given = {i for i, e in enumerate(call.args) if e.type.elem is not None and words_of(e) == words}
        sent = effect.mpi.send.buf if effect is not None and effect.mpi is not None and effect.mpi.send else -1
        return given - {sent} == {buffer.buf} and sent != buffer.buf and is_inside(call.args[buffer.buf])

    def parted(self, function: ast.Function, call: ast.Call, e: ast.Expr) -> bool:
        """The process that receives a message at the beginning of memory also receives or copies into it further in, or
        sends from where the message ends.
        """
        self.around = {id(s): parent for s, parent in statements(function.body)}
        words, mine = words_of(e), self.arms(function, call)
        own_effect = self.effect(call)
        came = own_effect.mpi.recv if own_effect is not None and own_effect.mpi is not None else None
        count = call.args[came.count] if came is not None and came.count is not None else None
        for x in calls_of(function) if words is not None else ():
            effect = self.effect(x)
            arms = self.arms(function, x)
            if effect is None or any(arms.get(s, arm) != arm for s, arm in mine.items()):
                continue
            copied = effect.mpi is None and any(
                r.arg < len(x.args) and words_of(x.args[r.arg]) == words and is_inside(x.args[r.arg])
                for r in effect.all_writes
                if not (r.rest or r.indirect)
            )
            if copied or (words is not None and self.received_further_in(words, x)):
                return True
            sent = effect.mpi.send if effect.mpi is not None else None
            place = None if sent is None or count is None else x.args[sent.buf]
            if place is not None and count is not None and words_of(place) == words and _begins_at(place, count):
                return True
        return False

    def arms(self, function: ast.Function, call: ast.Call) -> dict[int, bool]:
        """In which arm of each `if` around it a call stands."""
        every = [s for s, _ in statements(function.body)]
        s = next((s for s in every if any(part is call for x in own(s, function) for part in within(x))), None)
        out: dict[int, bool] = {}
        while s is not None and (parent := self.around.get(id(s))) is not None:
            if isinstance(parent, ast.If):
                out[id(parent)] = parent.then is s
            s = parent
        return out

    def ends(self, s: ast.Stmt) -> bool:
        """A statement is a call that does not return."""
        effect = self.effect(s.expr) if isinstance(s, ast.ExprStmt) and isinstance(s.expr, ast.Call) else None
        return effect is not None and effect.noreturn

    def effect(self, call: ast.Call) -> FunctionEffect | None:
        """What is known of a function that is not the program's own."""
        if not isinstance(call.callee, ast.FuncRef) or call.callee.name in self.functions:
            return None
        return self.effects.get(call.callee.name)


def words_of(e: ast.Expr) -> Words | None:
    """What an address goes out from, where it is a variable, or a member that its words tell."""
    base = base_of(e)
    name = spelling(base)
    if not isinstance(base, (ast.VarRef, ast.Member)) or UNSPELLED in name:
        return None
    return name, frozenset(variables_in(base))


def own(s: ast.Stmt, function: ast.Function) -> Iterator[ast.Expr]:
    """The expressions of a statement that stand in none inside it, in about the order in which they are evaluated."""
    match s:
        case ast.ExprStmt(expr=e):
            yield e
        case ast.DeclStmt(variables=keys, sizes=sizes):
            yield from (e for _, e in sizes)
            found = (function.variables[key].init for key in keys if key in function.variables)
            yield from (init for init in found if init is not None)
        case ast.If(cond=e) | ast.While(cond=e) | ast.DoWhile(cond=e) | ast.Switch(cond=e):
            yield e
        case ast.For(cond=cond, step=step):
            yield from (e for e in (cond, step) if e is not None)
        case ast.Return(value=e) if e is not None:
            yield e
        case ast.OpaqueStmt(children=found):
            yield from found
        case _:
            pass


def _unread(e: ast.Expr) -> set[int]:
    """Lvalues in an expression that it writes, takes the address or asks the size of, with what they lie in."""
    out: set[int] = set()
    for x in within(e):
        match x:
            case ast.Assign(op="", target=place) | ast.AddrOf(operand=place):
                while isinstance(place, (ast.Member, ast.Index, ast.Deref)):
                    out.add(id(place))
                    place = place.operand if isinstance(place, ast.Deref) else place.base
            case ast.SizeOf(operand=operand) if operand is not None:
                out.update(id(part) for part in within(operand))
            case _:
                pass
    return out


def _beside(e: ast.Expr, read: ast.Expr) -> bool:
    """A read is at a place that is computed from other variables than that of a message."""
    used = set(variables_in(e)) - set(variables_in(base_of(e)))
    return not used or not used <= set(variables_in(read))


def _exclude(known: Sequence[Arm], conditions: Sequence[Arm]) -> bool:
    """One of some conditions has a variable that is in one of those around a call, and is not such a one itself."""
    variables = {v for cond, _ in known for v in variables_in(cond)}
    mine = (cond for cond, then in conditions if not (then and any(t and in_same_words(c, cond) for c, t in known)))
    return any(v in variables for cond in mine for v in variables_in(cond))


def _another_row(e: ast.Expr, read: ast.Expr) -> bool:
    """The rows of a table that a message and a read are of have numbers, and these differ."""
    rows = read_from_memory(e), read_from_memory(read)
    numbers = [row.index.value for row in rows if isinstance(row, ast.Index) and isinstance(row.index, ast.IntLit)]
    return len(numbers) == len(rows) and numbers[0] != numbers[1]


def _begins_at(e: ast.Expr, count: ast.Expr) -> bool:
    """An argument names the place so many elements further in: `p + n`, `&p[n]`."""
    while isinstance(e, ast.Cast):
        e = e.operand
    match e:
        case ast.AddrOf(operand=ast.Index(index=step)) | ast.Binary(op="+", right=step):
            return in_same_words(step, count)
        case _:
            return False


def _moves(function: ast.Function, call: ast.Call, e: ast.Expr) -> bool:
    """A loop around a call changes what its argument is computed from: other turns may bring the rest."""
    used = set(variables_in(e))
    for loop, _ in statements(function.body):
        if not repeats(loop):
            continue
        inside = list(within_statement(loop, function.variables))
        if not any(x is call for x in inside):
            continue
        for x in inside:
            place = (
                x.target
                if isinstance(x, ast.Assign)
                else x.operand
                if isinstance(x, (ast.IncDec, ast.AddrOf))
                else None
            )
            if isinstance(place, ast.VarRef) and place.var in used and not place.type.is_pointer:
                return True
    return False


def _of_pointer(e: ast.Expr) -> bool:
    """The address of a pointer, and not one in the memory to which that points."""
    while isinstance(e, ast.Cast):
        e = e.operand
    return isinstance(e, ast.AddrOf) and isinstance(e.operand, (ast.VarRef, ast.Member)) and e.operand.type.is_pointer


def _behind(block: ast.Block, s: ast.Stmt) -> Sequence[ast.Stmt]:
    """The statements of a block after one of them."""
    return block.body[next(i for i, other in enumerate(block.body) if other is s) + 1 :]


def _turn(loop: Loop) -> Sequence[ast.Stmt]:
    """What the next turn of a loop begins with."""
    tests = (loop.step, loop.cond) if isinstance(loop, ast.For) else (loop.cond,)
    body = loop.body.body if isinstance(loop.body, ast.Block) else (loop.body,)
    return (*(ast.ExprStmt(e.span, e) for e in tests if e is not None), *body)
