"""Words of a message that are evaluated before statements that stand before it: nothing may trap there.

The start and the number of a passage are read at its first mark (``proof.py`` shows that their values are the same
there).  What a pointer leads to has a value only where the pointer is not NULL, and it may be tested, or set, between
the mark and the message: ``if (!p) p = &all;``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opi_xform.ir import ast
from opi_xform.ir.walk import uncast, within, within_statement
from opi_xform.ownership.model.buffers import Program

_OF_NAMES = (ast.VarRef, ast.IntLit, ast.Binary, ast.Unary, ast.Cast, ast.Logical)


def stands_early(program: Program, function: ast.Function, words: ast.Expr, before: Sequence[ast.Stmt]) -> bool:
    """Where ``words`` can be evaluated after the statements, they can before them, too.

    No pointer, and no subscript or divisor, that they go by is set by the statements; nor is what they ask before they
    go by it (``have ? p->n : 0``).
    """
    leading = list(_leading(words))
    if not leading:
        return True
    names = {x.var for lead in leading for x in _named(lead)}
    inside = within_statement(function.body, function.variables)
    addressed = {_root(e.operand) for e in inside if isinstance(e, ast.AddrOf)}
    private = {v for v in program.variables if program.variables[v].kind in ("param", "local")} - addressed
    local = names <= private and all(isinstance(e, _OF_NAMES) for lead in leading for e in within(lead))
    read = {e.type.kind for lead in leading for e in within(lead) if _in_memory(e, private)}
    kinds = set[str]() if local else {"record", "void", *read}
    between = (e for s in before for e in within_statement(s, function.variables))
    return not any(_may_set(program, e, names, private, kinds) for e in between)


def _named(e: ast.Expr) -> Iterator[ast.VarRef]:
    return (x for x in within(e) if isinstance(x, ast.VarRef))


def _in_memory(e: ast.Expr, private: set[str]) -> bool:
    """What is read there, and who may change it, is not told by a name alone."""
    return isinstance(e, (ast.Member, ast.Index, ast.Deref)) or (isinstance(e, ast.VarRef) and e.var not in private)


def _leading(words: ast.Expr) -> Iterator[ast.Expr]:
    """The pointers that are followed in an expression, and the subscripts and divisors that are no numbers; where there
    are any, what is tested in it, too.
    """
    found, tests = list(_followed(words)), list[ast.Expr]()
    for e in within(words):
        match e:
            case ast.Conditional(cond=cond):
                tests.append(cond)
            case ast.Logical(left=left):
                tests.append(left)
    yield from found
    yield from tests if found else ()


def _followed(words: ast.Expr) -> Iterator[ast.Expr]:
    """An array is always there: ``*sizes`` is its first element."""
    for e in within(words):
        match e:
            case ast.Deref(operand=to) if not uncast(to).type.is_array:
                yield uncast(to)
            case ast.Index(base=base, index=index):
                if uncast(base).type.is_pointer:
                    yield uncast(base)
                if not isinstance(uncast(index), ast.IntLit):
                    yield uncast(index)
            case ast.Binary(op="/" | "%", right=right) if not isinstance(uncast(right), ast.IntLit):
                yield uncast(right)


def _may_set(program: Program, e: ast.Expr, names: set[str], private: set[str], kinds: set[str]) -> bool:
    """An expression may change what leads: a variable of these names, or memory that holds it.

    private: variables that are changed by their names only.  kinds: of what leads in memory; none where nothing does.
    """
    match e:
        case ast.Assign(target=target) | ast.IncDec(operand=target) if _root(target) in private:
            return _root(target) in names
        case ast.Assign(target=target) | ast.IncDec(operand=target):
            return target.type.kind in kinds
        case ast.Call(callee=ast.FuncRef(name=name), args=args) if name in program.effects:
            return any(_may_hold(arg, kinds) for arg in args)
        case ast.Call():
            return bool(kinds)
        case ast.Opaque():
            return True
    return False


def _may_hold(argument: ast.Expr, kinds: set[str]) -> bool:
    """The memory that an argument leads to may; a handle of the MPI is none of the program's."""
    given = uncast(argument).type
    to = given if given.kind == "function" else given.elem
    leads = {*kinds, "function"} if kinds else set[str]()  # a function of the program's is called there
    return to is not None and to.kind in leads and "MPI_" not in given.spelling


def _root(e: ast.Expr) -> str:
    """The variable that an lvalue is, or is a part of; '' where a pointer leads to it."""
    while isinstance(e, ast.Member) or (isinstance(e, ast.Index) and uncast(e.base).type.is_array):
        e = e.base if isinstance(e, ast.Member) else uncast(e.base)
    return e.var if isinstance(e, ast.VarRef) else ""
