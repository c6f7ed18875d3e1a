"""The words by which a text names the memory of a message, and what they become in another function of the program.

``s->u`` of a function that is called with ``&sim`` is ``sim.u`` where it is called; a global variable has the same name
everywhere.  What two functions name by the same words need not be the same memory: it is for reasons that say *may*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from opi_xform.effects.model import Effects, FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir.calls import Callers, callers_of, calls_of
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements, uncast, within, within_statement
from opi_xform.ownership.model.lvalues import UNSPELLED, in_same_words, spelling
from opi_xform.ownership.model.roots import base_of, is_inside, read_from_memory, variables_in
from opi_xform.record import dataclass

Words = tuple[str, frozenset[str]]
"""How an lvalue is written, and by which variables."""

_NAMED = (ast.Member, ast.VarRef)


@dataclass(frozen=True, slots=True)
class Read:
    """An expression that may read the message's memory.

    name: by which it does.  at: the expression, or the argument by which a function has the memory that it reads.
    called: where the function is called in which it stands, if that is another one.  unsure: under a condition; tested:
    what conditions in other functions name.  turn: the loop in the next turn of which it comes; None: in the same one,
    or after all.
    """

    span: Span
    name: str
    at: ast.Expr
    called: Span | None = None
    unsure: bool = False
    tested: frozenset[str] = frozenset()
    turn: Span | None = None


@dataclass(frozen=True, slots=True)
class Inside:
    """What a function does with some memory: what it reads first; whether it writes it before; its words for it."""

    read: Read | None = None
    ends: bool = False
    after: tuple[Words, ...] = ()


class Found:
    """What is found out of a program's text, for one message after the other."""

    def __init__(self, functions: Mapping[str, ast.Function], effects: Effects) -> None:
        self.functions = functions
        self.effects = effects
        self.inside: dict[tuple[str, Words, int], Inside] = {}  # see ``_Text.inside``

    @cached_property
    def callers(self) -> Callers:
        return callers_of(self.functions)

    def effect(self, call: ast.Call) -> FunctionEffect | None:
        """What is known of a function that is not the program's own."""
        if not isinstance(call.callee, ast.FuncRef) or call.callee.name in self.functions:
            return None
        return self.effects.get(call.callee.name)

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
            if place is not None and count is not None and words_of(place) == words and begins_at(place, count):
                return True
        return False

    def arms(self, function: ast.Function, call: ast.Call) -> dict[int, bool]:
        """In which arm of each `if` around it a call stands."""
        around = {id(s): parent for s, parent in statements(function.body)}
        every = [s for s, _ in statements(function.body)]
        s = next((s for s in every if any(part is call for x in own(s, function) for part in within(x))), None)
        out: dict[int, bool] = {}
        while s is not None and (parent := around.get(id(s))) is not None:
            if isinstance(parent, ast.If):
                out[id(parent)] = parent.then is s
            s = parent
        return out


def own(s: ast.Stmt, function: ast.Function) -> Iterator[ast.Expr]:
    """The expressions of a statement that stand in none inside it, in about the order in which they are evaluated.

    A pointer that is declared with a value is set to it.
    """
    match s:
        case ast.ExprStmt(expr=e):
            yield e
        case ast.DeclStmt(variables=keys, sizes=sizes):
            yield from (e for _, e in sizes)
            for variable in (function.variables[key] for key in keys if key in function.variables):
                if variable.init is not None and variable.type.is_pointer:
                    target = ast.VarRef(variable.type, variable.span, variable.key)
                    yield ast.Assign(variable.type, variable.span, "", target, variable.init)
                elif variable.init is not None:
                    yield variable.init
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


def words_of(e: ast.Expr) -> Words | None:
    """What an address goes out from, where it is a variable, or a member that its words tell."""
    base = base_of(e)
    name = spelling(base)
    if not isinstance(base, (ast.VarRef, ast.Member)) or UNSPELLED in name:
        return None
    return name, frozenset(variables_in(base))


def inner_words(words: Words, called: ast.Function, call: ast.Call) -> Words | None:
    """What a function that is called names by its own words for a member of a struct that it is given, or a variable of
    the whole program.
    """
    if not any(_is_own(key) for key in words[1]):
        return words
    for param, e in zip(called.params, call.args, strict=False):
        for start, member in _starts(e):
            if words[0].startswith(start + member) and set(variables_in(e)) == words[1]:
                rest = words[0].removeprefix(start + member)
                return f"{called.variables[param].name}->{rest}", frozenset((param,))
    return None


def outer_words(words: Words, function: ast.Function, call: ast.Call) -> Words | None:
    """What a caller of a function names by its own words: the other way round."""
    if not any(_is_own(key) for key in words[1]):
        return words
    (key, *others) = words[1]
    if others or key not in function.params or (at := function.params.index(key)) >= len(call.args):
        return None
    name, e = function.variables[key].name, call.args[at]
    if not words[0].startswith(f"{name}->") or _is_set(function, key):
        return None
    rest = words[0].removeprefix(f"{name}->")
    found = next((f"{start}{member}{rest}" for start, member in _starts(e)), UNSPELLED)
    return None if UNSPELLED in found else (found, frozenset(variables_in(e)))


def renamed(words: Words, e: ast.Expr) -> Words | None:
    """The variable that an expression sets to a pointer of these words."""
    if not isinstance(e, ast.Assign) or e.op or not e.target.type.is_pointer or not isinstance(e.target, _NAMED):
        return None
    value = uncast(e.value)
    return words_of(e.target) if isinstance(value, _NAMED) and words_of(value) == words else None


def set_anew(words: Words, e: ast.Expr) -> bool:
    """An expression sets the pointer itself."""
    target = e.target if isinstance(e, ast.Assign) else e.operand if isinstance(e, ast.IncDec) else None
    return isinstance(target, _NAMED) and target.type.is_pointer and words_of(target) == words


def names_in(e: ast.Expr) -> set[str]:
    """The variables and members that an expression names, by their own names alone."""
    return {x.field if isinstance(x, ast.Member) else spelling(x) for x in within(e) if isinstance(x, _NAMED)}


def unread(e: ast.Expr) -> set[int]:
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


def of_pointer(e: ast.Expr) -> bool:
    """The address of a pointer, and not one in the memory to which that points."""
    e = uncast(e)
    return isinstance(e, ast.AddrOf) and isinstance(e.operand, (ast.VarRef, ast.Member)) and e.operand.type.is_pointer


def begins_at(e: ast.Expr, count: ast.Expr) -> bool:
    """An argument names the place so many elements further in: `p + n`, `&p[n]`."""
    e = uncast(e)
    match e:
        case ast.AddrOf(operand=ast.Index(index=step)) | ast.Binary(op="+", right=step):
            return in_same_words(step, count)
        case _:
            return False


def another_row(e: ast.Expr, read: ast.Expr) -> bool:
    """The rows of a table that a message and a read are of have numbers, and these differ."""
    rows = read_from_memory(e), read_from_memory(read)
    numbers = [row.index.value for row in rows if isinstance(row, ast.Index) and isinstance(row.index, ast.IntLit)]
    return len(numbers) == len(rows) and numbers[0] != numbers[1]


def _starts(e: ast.Expr) -> Iterator[tuple[str, str]]:
    """How the names of members begin of a struct whose address an argument is."""
    e = uncast(e)
    if isinstance(e, ast.AddrOf) and isinstance(e.operand, _NAMED):
        yield spelling(e.operand), "."
    elif isinstance(e, _NAMED) and e.type.is_pointer:
        yield spelling(e), "->"


def _is_own(key: str) -> bool:
    """A variable of one function, by its key."""
    return "@" in key


def _is_set(function: ast.Function, key: str) -> bool:
    """A function sets one of its variables, or may."""
    for e in within_statement(function.body, function.variables):
        match e:
            case ast.Assign(target=ast.VarRef(var=k)) | ast.IncDec(operand=ast.VarRef(var=k)) if k == key:
                return True
            case ast.AddrOf(operand=ast.VarRef(var=k)) if k == key:
                return True
            case _:
                pass
    return False
