"""What the text alone says of a call's buffer, where the ways to the call are not followed.

Of a parameter it is what callers of the function name: ``void pass(double *b, int n) { MPI_Send(b, …); }`` with
``pass(x, 5)`` and ``pass(y, 5)``: a person names these two.  Of a pointer that the function moves it is where.  In a
program that is too large to be looked at it is also where its function gives the memory to others: to a function that
nobody names, or to a struct in which other functions find it.  Either would keep the call in a smaller one, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ir.calls import Callers
from opi_xform.ir.span import Span
from opi_xform.ir.walk import repeats, statements, uncast, within_statement
from opi_xform.ownership.model.buffers import Refusal
from opi_xform.ownership.model.lines import line_of, lines_of
from opi_xform.ownership.model.lvalues import UNSPELLED, spelling
from opi_xform.ownership.model.roots import leftmost

LEVELS = 4  # of functions that hand a parameter on


def several_given(function: ast.Function, argument: ast.Expr, callers: Callers) -> Refusal | None:
    """Why a call stays whose buffer may be one of several that callers name; None where nobody names two.

    argument: of the message's call, in ``function``.
    """
    called, member = uncast(argument), isinstance(uncast(argument), ast.Member)
    for _ in range(LEVELS):
        parameter = _parameter(function, argument)
        if parameter is None:
            return None
        at = function.params.index(parameter)
        every = [(caller, call, call.args[at]) for caller, call in callers.get(function.key, ()) if at < len(call.args)]
        given = [one for one in every if _parameter(one[0], one[2]) != parameter]  # a call of itself hands it on
        names: dict[str, tuple[str, Span]] = {}
        for caller, call, e in given:
            root, name = leftmost(e), spelling(leftmost(e))
            own = isinstance(root, ast.VarRef) and root.var not in caller.params
            alike = not own and any(name == other for other, _ in names.values())  # no two by the same words
            key = _comes_from(caller, e, callers) or (root.var if isinstance(root, ast.VarRef) else name)
            if name != UNSPELLED and not alike:
                names.setdefault(key, (name, call.span))
        if len(names) > 1:
            variable, ((one, first), (other, second)) = function.variables[parameter].name, list(names.values())[:2]
            apart = f"with `{one}` at {line_of(first)} and with `{other}` at {line_of(second)}"
            message = f"`{variable}` may be one of several buffers: `{function.name}` is called {apart}"
            if member:
                message = f"`{spelling(called)}` may be that of several structs: `{function.name}` is called {apart}"
            return Refusal(
                Reason.SEVERAL_BUFFERS,
                message,
                ((first, f"`{one}` is given here"), (second, f"`{other}` is given here")),
            )
        if len(given) != 1:
            return None
        function, _, argument = given[0]
    return None


def _comes_from(function: ast.Function, argument: ast.Expr, callers: Callers) -> str:
    """The one variable, by its key, that all callers give for the parameter that an argument is; '' for more than one.

    It is found for parameters alone: two functions hand on what one that calls both gives them.
    """
    found: set[str] = set()
    seen: set[str] = set()
    work = [(function, argument)]
    while work:
        f, e = work.pop()
        parameter = _parameter(f, e)
        if parameter is None:
            root = leftmost(e)
            found.add(root.var if isinstance(root, ast.VarRef) else "")
        elif parameter not in seen:
            seen.add(parameter)
            at = f.params.index(parameter)
            work += [(caller, c.args[at]) for caller, c in callers.get(f.key, ()) if at < len(c.args)]
        if len(found) > 1:
            return ""
    return found.pop() if found else ""


def _parameter(function: ast.Function, argument: ast.Expr) -> str | None:
    """The parameter that an argument goes out from, if the function leaves it as it was given."""
    root = _struct(leftmost(argument))
    if not isinstance(root, ast.VarRef) or root.var not in function.params:
        return None
    for e in within_statement(function.body, function.variables):
        place = (
            e.target if isinstance(e, ast.Assign) else e.operand if isinstance(e, (ast.IncDec, ast.AddrOf)) else None
        )
        if isinstance(place, ast.VarRef) and place.var == root.var:
            return None
    return root.var


def moved_in_text(function: ast.Function, argument: ast.Expr) -> Refusal | None:
    """Why a call stays whose pointer its function moves, ``p += n``, or whose struct is the next one in a list then."""
    e = uncast(argument)
    if isinstance(e, ast.VarRef) and e.type.is_pointer:
        moves = moves_in_text(function, e.var, argument.span)
        message = f"the pointer is moved at {lines_of(moves)}, so the call begins inside its buffer"
        notes = tuple((span, "here") for span in moves)
        return Refusal(Reason.CARRIER, f"{message}; a message needs a buffer of its own", notes) if moves else None
    root = _struct(e) if isinstance(e, ast.Member) else None
    if not isinstance(root, ast.VarRef) or spelling(e) == UNSPELLED:
        return None
    found: dict[Span, str] = {}
    for m in within_statement(function.body, function.variables):
        if isinstance(m, ast.Assign) and not m.op and isinstance(m.target, ast.VarRef) and m.target.var == root.var:
            value = uncast(m.value)
            start = _struct(value)
            if isinstance(value, ast.Member) and isinstance(start, ast.VarRef) and start.var == root.var:
                found[m.span] = spelling(value)
    for span in _nearest(function, list(found), argument.span)[:1]:
        message = f"{line_of(span)} goes on from `{spelling(root)}` to `{found[span]}`"
        message += f", so `{spelling(e)}` is another buffer then"
        return Refusal(Reason.SEVERAL_BUFFERS, message, ((span, "here"),))
    return None


def moves_in_text(function: ast.Function, key: str, at: Span) -> list[Span]:
    """Where a function moves a pointer, of what has to do with a place in it."""
    every = within_statement(function.body, function.variables)
    return _nearest(function, [e.span for e in every if _moves(e, key)], at)


def _moves(e: ast.Expr, key: str) -> bool:
    match e:
        case ast.IncDec(operand=ast.VarRef(var=moved)) | ast.Assign(op="+" | "-", target=ast.VarRef(var=moved)):
            return moved == key
        case ast.Assign(op="", target=ast.VarRef(var=moved), value=ast.Binary(left=ast.VarRef(var=start))):
            return moved == start == key
    return False


def _nearest(function: ast.Function, spans: Sequence[Span], call: Span) -> list[Span]:
    """Of some text that which is in the innermost loop with a call; else what stands before the call."""
    loops = [s.span for s, _ in statements(function.body) if repeats(s)]
    around = sorted((s for s in loops if s.begin <= call.begin < s.end), key=lambda s: -s.begin)
    for loop in around:
        inside = [span for span in spans if loop.begin <= span.begin and span.end <= loop.end]
        if inside:
            return inside
    return [span for span in spans if span.begin < call.begin]


def _struct(e: ast.Expr) -> ast.Expr:
    """The variable with which the name of a member begins: ``p`` of ``p->next->data``."""
    while isinstance(e, (ast.Member, ast.Deref, ast.Cast)):
        e = e.base if isinstance(e, ast.Member) else e.operand
    return e


def given_on(function: ast.Function, call: ast.Call, e: ast.Expr) -> Refusal | None:
    """Why a call stays whose memory goes on from its function.  e: the argument, a variable of the function."""
    e = uncast(e)
    variable = function.variables.get(e.var) if isinstance(e, ast.VarRef) else None
    if not isinstance(e, ast.VarRef) or variable is None or not variable.type.is_pointer:
        return None
    name, at = variable.name, call.span.begin
    found: list[tuple[bool, Span, str, str]] = []
    for x in within_statement(function.body, function.variables):
        match x:
            case ast.Call(callee=callee, args=args) if not isinstance(callee, ast.FuncRef):
                if spelling(callee) != UNSPELLED and any(_is(given, e.var) for given in args):
                    what = f"`{name}` is given to what `{spelling(callee)}` points to at {line_of(x.span)}"
                    which = f"{what}, and could not show which function that is"
                    found.append((x.span.begin < at, x.span, which, "it is given to it here"))
            case ast.Assign(op="", target=ast.Member() as place, value=value) if _is(value, e.var):
                if spelling(place) != UNSPELLED:
                    what = (
                        f"{line_of(x.span)} keeps `{name}` in `{spelling(place)}`, and what other functions do with it"
                    )
                    why = "was not looked for: the program is beyond the analysis' budget"
                    found.append((x.span.begin < at, x.span, f"{what} {why}", "it is kept here"))
            case _:
                pass
    found.sort(key=lambda one: (one[0], abs(one[1].begin - at)))
    return next((Refusal(Reason.ESCAPE, words, ((span, note),)) for _, span, words, note in found), None)


def _is(e: ast.Expr, key: str) -> bool:
    e = uncast(e)
    return isinstance(e, ast.VarRef) and e.var == key
