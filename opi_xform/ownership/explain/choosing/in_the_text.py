"""What reads a message after its send, as the text of a function alone tells.

The program graph has no such call where its function is not followed (OpenMP, a call through a pointer, the budget),
and no bytes of a pointer that may stand for several buffers.  The text around the call still shows what a person sees
first: the same words name the memory in an expression that comes after it.  All that is said is what *may* be read.

Words that are written in between, or given to a call, end the search: the message may be written anew there.  A read
under a condition counts where no variable of it is in a condition around the call: one may exclude the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import following, repeats, statements, within, within_statement
from opi_xform.ownership.explain.choosing.places import names_of_places
from opi_xform.ownership.explain.choosing.rows_below import rows_below
from opi_xform.ownership.explain.choosing.sent_again import sent_in_turn
from opi_xform.ownership.explain.choosing.text_names import (
    Found,
    Inside,
    Read,
    Words,
    another_row,
    inner_words,
    names_in,
    of_pointer,
    outer_words,
    own,
    renamed,
    set_anew,
    unread,
    words_of,
)
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import in_same_words, spelling
from opi_xform.ownership.model.roots import base_of, is_inside, read_from_memory, variables_in

SHOWN = 2  # reads that are named
LEVELS = 2  # of functions that are given the memory, or give it
CALLERS = 8  # of one function, that are looked at

Loop = ast.For | ast.While | ast.DoWhile
Arm = tuple[ast.Expr, bool]
"""A condition under which a statement runs; whether where it holds."""


def read_after(text: Found, key: str, call: ast.Call, e: ast.Expr, all_of_it: bool = False) -> Refusal | None:
    """Why the message of a send stays whose function's text reads it afterwards; None where that shows nothing.

    e: the argument that names the message.  all_of_it: the message is all that its variable holds.
    """
    function = text.functions[key]
    told = _Text(text, sends=True, below=lambda place: rows_below(function, e, place))
    reads = [
        read
        for read in told.after(function, call, e)
        if not (another_row(e, read.at) or (read.called is None and told.below(read.at)))
    ]
    for name in [] if reads else names_of_places(function, e):
        reads = reads or told.after(function, call, name)
    if not reads:
        return sent_in_turn(function, call, e)
    turn = reads[0].turn
    when = "after the send" if turn is None else f"in the next turn of the loop in {line_of(turn)}"
    refusal = _refusal(e, reads, f"there {when}", ", of the message or beside it")
    if all_of_it and reads[0].name == spelling(base_of(e)):
        message = f"`{reads[0].name}` may be read at {line_of(reads[0].span)} {when}"
        return replace(refusal, message=message)
    return refusal


def read_beside(text: Found, key: str, call: ast.Call, e: ast.Expr) -> Refusal | None:
    """The same of a receive into a place after the one that its words name, and not another one in each turn of a loop.

    A row of a table may be a buffer by itself, which the message brings whole.
    """
    function, told = text.functions[key], _Text(text)
    if isinstance(read_from_memory(e), ast.Index) or _moves(function, call, e):
        return None
    found = told.after(function, call, e)
    if is_inside(e):
        reads = [read for read in found if read.turn is None and _beside(e, read.at)]
    else:
        reads = found if found and text.parted(function, call, e) else []
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
        self, text: Found, sends: bool = False, below: Callable[[ast.Expr], bool] = lambda place: False
    ) -> None:
        """below: whether a place is in other rows than the message, as loops say."""
        self.text = text
        self.functions = text.functions
        self.effects = text.effects
        self.sends = sends
        self.below = below
        self.around: dict[int, ast.Stmt | None] = {}  # by statement
        self.whole = False  # what is received further in leaves some of the memory as it is

    def after(self, function: ast.Function, call: ast.Call, e: ast.Expr) -> list[Read]:
        """What may read the memory of an argument after its call, the surest first, and of these the nearest.

        Where the function itself does not, those that call it may.
        """
        words = words_of(e)
        self.whole = self.sends or not is_inside(e)
        return [] if words is None else self.after_words(function, call, words, LEVELS, set())

    def after_words(
        self, function: ast.Function, call: ast.Call, words: Words, levels: int, named: AbstractSet[str]
    ) -> list[Read]:
        """The same of what some words name.  named: by conditions around the message, further in."""
        every = [s for s, _ in statements(function.body)]
        if any(isinstance(s, (ast.Goto, ast.Label)) for s in every):
            return []
        here = next((s for s in every if any(part is call for x in own(s, function) for part in within(x))), None)
        if here is None:
            return []
        self.around = {id(s): parent for s, parent in statements(function.body)}
        known = self.conditions(here, None)
        until = here if levels == LEVELS else None  # what leads to the message may read it in the next turn
        found: list[Read] = []
        names = [words]
        at: ast.Stmt | None = here
        while at is not None:
            parent = self.around[id(at)]
            if isinstance(parent, ast.Block):
                end = self.among(function, names, following(parent, at), known, None, found, None, named)
                if end is not None and id(end) not in self.around:  # no jump of the program's
                    break
                if end is not None:
                    at = self.jump(end)
                    continue
            elif repeats(parent):
                turn = [*names]
                self.among(function, turn, _turn(parent), known, parent.span, found, until, named)
                names = list(dict.fromkeys([*names, *turn]))
            at = parent
        else:
            for name in names if levels else ():
                found = found or self.in_callers(function, name, levels, known)
        return sorted(found, key=lambda read: read.unsure)

    def in_callers(self, function: ast.Function, words: Words, levels: int, known: Sequence[Arm]) -> list[Read]:
        """The same of a function that comes to its end, and leaves as it is what those that call it go on with.

        known: conditions around the call in the function.  A read under one that names the same is not told: it may
        be that of other processes.
        """
        named = {name for cond, _ in known for name in names_in(cond)}
        for caller, call in self.text.callers.get(function.key, ())[:CALLERS]:
            reads: list[Read] = []
            outer = outer_words(words, function, call)
            (key, *others) = words[1] or ("",)
            if outer is not None:
                reads = self.after_words(caller, call, outer, levels - 1, named)
            elif not others and key in function.params and words[0] == function.variables[key].name:
                at = function.params.index(key)
                inner = words_of(call.args[at]) if at < len(call.args) else None
                reads = [] if inner is None else self.after_words(caller, call, inner, levels - 1, named)
            if reads:
                return [replace(read, called=read.called or call.span) for read in reads]
        return []

    def among(
        self,
        function: ast.Function,
        names: list[Words],
        rest: Sequence[ast.Stmt],
        known: Sequence[Arm],
        turn: Span | None,
        found: list[Read],
        until: ast.Stmt | None = None,
        named: AbstractSet[str] = frozenset(),
    ) -> ast.Stmt | None:
        """Adds the reads in statements that run one after the other, and gives the jump that ends them, if any does.

        What ends the search counts as a return.  names: the words by which the memory is known, which it brings up to
        date.  known: conditions around the call; named: what is named by those that
        are around the message further in.
        """
        tests = {*named, *(name for cond, _ in known for name in names_in(cond))}
        for top in rest:
            for s, _ in statements(top):
                if s is until:
                    return None
                conditions = self.conditions(s, top)
                excluded = _exclude(known, conditions) or self.never(s, top)
                excluded = excluded or any(not named.isdisjoint(names_in(cond)) for cond, _ in conditions)
                for e in own(s, function):
                    if not excluded:
                        every = (r for words in names for r in self.reads(words, e, LEVELS))
                        reads = (r for r in every if tests.isdisjoint(r.tested))
                        found += [replace(r, unsure=bool(conditions or r.tested), turn=turn) for r in reads]
                    names[:] = self.names_after(names, e, self.whole)
                    if not names:
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
        unread_here = unread(e)
        for x in within(e):
            if isinstance(x, ast.Call):
                yield from self.given(words, x, levels)
            elif id(x) in unread_here or x.type.is_pointer or x.type.is_array:
                continue
            elif isinstance(x, (ast.Index, ast.Deref)) and words_of(x) == words and not of_pointer(_inner(x)):
                yield Read(x.span, words[0], x)

    def given(self, words: Words, call: ast.Call, levels: int) -> Iterator[Read]:
        """What a call reads of memory that it is given, or finds by words of its own."""
        if not isinstance(call.callee, ast.FuncRef):
            return
        called, effect = self.functions.get(call.callee.name), self.text.effect(call)
        inner = None if called is None else inner_words(words, called, call)
        if called is not None and inner is not None and levels:
            read = self.inside(called, inner, levels - 1).read
            yield from () if read is None else (replace(read, called=read.called or call.span),)
        for i, e in enumerate(call.args):
            if not (e.type.is_pointer or e.type.is_array) or words_of(e) != words or of_pointer(e):
                continue
            if called is not None and levels and i < len(called.params):
                key = called.params[i]
                inner = called.variables[key].name, frozenset((key,))
                whole = not is_inside(e) and read_from_memory(e) is None
                read = self.inside(called, inner, levels - 1).read
                if read is not None:
                    yield replace(read, at=read.at if whole else e, called=read.called or call.span)
                    return
            elif called is None and effect is not None and effect.mpi is None and self.text.only_reads(words, call):
                reads = any(region.arg == i and not region.indirect for region in effect.reads)
                yield from (Read(call.span, words[0], e),) if reads else ()

    def inside(self, called: ast.Function, words: Words, levels: int) -> Inside:
        """What a function does with memory that it names by some words."""
        known = self.text.inside.get((called.key, words, levels))
        if known is not None:
            return known
        self.text.inside[called.key, words, levels] = Inside(after=(words,))  # of one that calls itself, no more
        around = {id(s): parent for s, parent in statements(called.body)}
        names, read = [words], None
        left = frozenset[str]()  # named by tests behind which the function may be left
        for s, e in ((inner, e) for inner, _ in statements(called.body) for e in own(inner, called)):
            if isinstance(s, ast.If) and any(isinstance(part, ast.Return) for part, _ in statements(s)):
                left |= names_in(s.cond)
            read = min((r for one in names for r in self.reads(one, e, levels)), key=_place, default=None)
            if read is not None:
                tested, at = read.tested | left, around[id(s)]
                while at is not None:
                    tested |= names_in(at.cond) if isinstance(at, (ast.If, ast.Switch)) else set()
                    at = around[id(at)]
                read = replace(read, tested=tested)
                break
            names = self.names_after(names, e)
            if not names:
                break
        out = self.text.inside[called.key, words, levels] = Inside(read, not names, tuple(names))
        return out

    def names_after(self, names: Sequence[Words], e: ast.Expr, whole: bool = False) -> list[Words]:
        """The words by which memory is known after an expression; none where that may write it."""
        out: list[Words] = []
        inside = list(within(e))
        for words in names:
            if not self.written(words, e, whole):
                out += self.renamed_inside(words, inside)
            elif not any(set_anew(words, x) for x in inside):
                return []
        out += [new for words in names for x in inside if (new := renamed(words, x)) is not None]
        return list(dict.fromkeys(out))

    def renamed_inside(self, words: Words, inside: Sequence[ast.Expr]) -> Sequence[Words]:
        """What names the memory after the functions that an expression calls, where all of the program may."""
        for x in inside:
            callee = x.callee if isinstance(x, ast.Call) else None
            called = self.functions.get(callee.name) if isinstance(callee, ast.FuncRef) else None
            if isinstance(x, ast.Call) and called is not None and inner_words(words, called, x) == words:
                after = self.inside(called, words, 0)
                return after.after if after.read is None else (words,)
        return (words,)

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
                    if not (self.text.only_reads(words, x) or (whole and self.text.received_further_in(words, x))):
                        return True
                case ast.Call(callee=ast.FuncRef(name=name)) if (called := self.functions.get(name)) is not None:
                    inner = inner_words(words, called, x)
                    if inner is not None and self.inside(called, inner, 0).ends:
                        return True
                case ast.Opaque():
                    return True
                case _:
                    pass
        return False

    def ends(self, s: ast.Stmt) -> bool:
        """A statement is a call that does not return."""
        effect = self.text.effect(s.expr) if isinstance(s, ast.ExprStmt) and isinstance(s.expr, ast.Call) else None
        return effect is not None and effect.noreturn


def _beside(e: ast.Expr, read: ast.Expr) -> bool:
    """A read is at a place that is computed from other variables than that of a message."""
    used = set(variables_in(e)) - set(variables_in(base_of(e)))
    return not used or not used <= set(variables_in(read))


def _inner(e: ast.Index | ast.Deref) -> ast.Expr:
    return e.base if isinstance(e, ast.Index) else e.operand


def _place(read: Read) -> tuple[bool, int]:
    """The first in a text."""
    return read.called is not None, (read.called or read.span).begin


def _exclude(known: Sequence[Arm], conditions: Sequence[Arm]) -> bool:
    """One of some conditions has a variable that is in one of those around a call, and is not such a one itself."""
    variables = {v for cond, _ in known for v in variables_in(cond)}
    mine = (cond for cond, then in conditions if not (then and any(t and in_same_words(c, cond) for c, t in known)))
    return any(v in variables for cond in mine for v in variables_in(cond))


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


def _turn(loop: Loop) -> Sequence[ast.Stmt]:
    """What the next turn of a loop begins with."""
    tests = (loop.step, loop.cond) if isinstance(loop, ast.For) else (loop.cond,)
    body = loop.body.body if isinstance(loop.body, ast.Block) else (loop.body,)
    return (*(ast.ExprStmt(e.span, e) for e in tests if e is not None), *body)
