"""A second name of a buffer's memory, where it is what keeps a call: which line sets one of them from the other."""

from __future__ import annotations

from collections.abc import Iterator

from opi_xform.graph.statements import Flow
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.span import Span
from opi_xform.ir.walk import uncast, within
from opi_xform.ownership.model.addresses import POINTS_INTO
from opi_xform.ownership.model.buffers import Buffer, Program
from opi_xform.ownership.model.lines import line_of
from opi_xform.ownership.model.lvalues import UNSPELLED, function_expressions, spelling
from opi_xform.ownership.model.names import names_of
from opi_xform.ownership.model.roots import base_of, is_moved

SHOWN = 3
Notes = tuple[tuple[Span, str], ...]


def set_beside(program: Program, flow: Flow, buffer: Buffer) -> tuple[str, Notes] | None:
    """What keeps the memory from being allocated elsewhere: another name that is set from the carrier by the very
    declaration that sets this (`*v = malloc(n), *w = v`), or by which the carrier is set. None: neither is.
    """
    names, key = names_of(program), buffer.carrier.variable
    nodes = (n for o in program.values.objects.by_name.get(key, ()) for n in names.defs.get(("v", o, 0), ()))
    for n in sorted(set(nodes)):
        node, stmt = program.graph.nodes[n], flow.stmt[n]
        if isinstance(node.action, ins.Birth) or stmt < 0:
            continue
        lowered = flow.lowered(node.frame)
        found = _beside(program, lowered.stmts[stmt].stmt, key) or _from_other(program, lowered.stmts[stmt].stmt, key)
        if found is not None:
            return found
    return None


def _beside(program: Program, stmt: ast.Stmt, key: str) -> tuple[str, Notes] | None:
    """A declaration of several variables of which a later one is set from the carrier."""
    if not isinstance(stmt, ast.DeclStmt) or key not in stmt.variables:
        return None
    name = program.variables[key].name
    for other in stmt.variables[stmt.variables.index(key) + 1 :]:
        variable = program.variables[other]
        init = variable.init
        if init is None or not any(isinstance(e, ast.VarRef) and e.var == key for e in within(init)):
            continue
        span = variable.span
        message = f"{line_of(span)} declares `{variable.name}` beside `{name}` and sets it from that; "
        message += f"`{variable.name}` would need a declaration of its own"
        return message, ((span, f"`{variable.name}` is set from `{name}` here"),)
    return None


def _from_other(program: Program, stmt: ast.Stmt, key: str) -> tuple[str, Notes] | None:
    """A statement that sets the carrier from another pointer, as it is."""
    value, span = _value(program, stmt, key)
    value = None if value is None else uncast(value)
    if not isinstance(value, (ast.VarRef, ast.Member)) or not value.type.is_pointer or spelling(value) == UNSPELLED:
        return None
    if program.names(value, key) or span is None:
        return None
    name, other = program.variables[key].name, spelling(value)
    message = f"`{name}` is a second name of what `{other}` points to: {line_of(span)} sets it from that"
    return message, ((span, f"`{name}` is set from `{other}` here"),)


def also_names(program: Program, key: str) -> tuple[str, Notes] | None:
    """A line that sets a local pointer to what a member of a struct points to, where another one gives it other memory.

    None: all lines, or none, do so.
    """
    function = program.functions.get(program.variables[key].function)
    sets = function_expressions(function) if function is not None else ()
    values = [(a.value, a.span) for a in sets if isinstance(a, ast.Assign) and _sets_it(a, key)]
    init = program.variables[key].init
    values += [] if init is None else [(init, program.variables[key].span)]
    second = [(v, span) for v, span in ((uncast(v), span) for v, span in values) if isinstance(v, ast.Member)]
    if not second or len(second) == len(values) or not second[0][0].type.is_pointer:
        return None
    value, span = second[0]
    if (other := spelling(value)) == UNSPELLED:
        return None
    name = program.variables[key].name
    message = f"`{name}` is also a second name of what `{other}` points to, which keeps it: {line_of(span)} sets it"
    return f"{message} from that", ((span, f"`{name}` is set from `{other}` here"),)


def _sets_it(a: ast.Assign, key: str) -> bool:
    return not a.op and isinstance(a.target, ast.VarRef) and a.target.var == key


def _value(program: Program, stmt: ast.Stmt, key: str) -> tuple[ast.Expr | None, Span | None]:
    """What a statement sets the carrier to, and where."""
    if isinstance(stmt, ast.DeclStmt) and key in stmt.variables:
        return program.variables[key].init, program.variables[key].span
    if isinstance(stmt, ast.ExprStmt) and isinstance(stmt.expr, ast.Assign) and not stmt.expr.op:
        target = stmt.expr.target
        if program.names(target, key) or (isinstance(target, ast.VarRef) and target.var == key):
            return stmt.expr.value, stmt.expr.span
    return None, None


def called_by(program: Program, buffer: Buffer, e: ast.Expr) -> str:
    """What is said of a call that names a buffer by another variable, which is set from it; '' where it is not."""
    while isinstance(e, (ast.Cast, ast.AddrOf, ast.Index)) and not isinstance(e, ast.VarRef):
        e = e.base if isinstance(e, ast.Index) else e.operand
    if not isinstance(e, ast.VarRef) or e.var == buffer.carrier.variable:
        return ""
    name = program.variables[buffer.carrier.variable].name
    lines = sorted({(span.file, span.line): span for span in _sets(program, e.var, buffer.carrier.variable)}.items())
    if len(lines) != 1:
        return ""
    called = program.variables[e.var].name
    return f"the call names `{name}` by `{called}`, which {line_of(lines[0][1])} sets from it"


def others_into(program: Program, e: ast.Expr) -> tuple[str, Notes] | None:
    """The variables of the whole program that are set to places in the block of one that a call names, which stay."""
    e = _global_of(program, base_of(e))
    if not isinstance(e, ast.VarRef) or not program.variables[e.var].is_global:
        return None
    name, found = program.variables[e.var].name, dict[str, Span]()
    for function in program.functions.values():
        for a in function_expressions(function):
            if not isinstance(a, ast.Assign) or a.op or not isinstance(a.target, ast.VarRef):
                continue
            value = a.value
            while isinstance(value, (ast.Cast, ast.Binary)):
                value = value.operand if isinstance(value, ast.Cast) else value.left
            variable = program.variables[a.target.var]
            if not isinstance(value, ast.VarRef) or value.var == a.target.var or not variable.type.is_pointer:
                continue
            if a.target.var == e.var and program.variables[value.var].is_global and is_moved(a.value):
                other = program.variables[value.var].name
                message = f"`{name}` {POINTS_INTO} `{other}`: {line_of(a.span)} sets it from that"
                return message, ((a.span, f"`{name}` is set from `{other}` here"),)
            if value.var == e.var and variable.is_global:
                found.setdefault(variable.name, a.span)
    if not found:
        return None
    found = dict(sorted(found.items(), key=lambda one: (one[1].file, one[1].begin)))
    first, span = next(iter(found.items()))
    more = ", and other variables do so, too" if len(found) > 1 else ""
    message = f"`{first}` {POINTS_INTO} `{name}` as well: {line_of(span)} sets it from that{more}"
    notes = tuple((there, f"`{other}` is set from `{name}` here") for other, there in found.items())
    return message, notes[:SHOWN]


def _global_of(program: Program, e: ast.Expr) -> ast.Expr:
    """Instead of a local pointer the variable of the program that it is a copy of, wherever it is set."""
    if not isinstance(e, ast.VarRef) or program.variables[e.var].is_global:
        return e
    function = program.functions.get(program.variables[e.var].function)
    init = program.variables[e.var].init
    values = [] if init is None else [init]
    for a in function_expressions(function) if function is not None else ():
        if isinstance(a, ast.Assign) and isinstance(a.target, ast.VarRef) and a.target.var == e.var:
            values.append(a.value)
    found = [v for v in map(uncast, values) if isinstance(v, ast.VarRef) and program.variables[v.var].is_global]
    same = len({v.var for v in found}) == 1 and len(found) == len(values)
    return found[0] if same else e


def _sets(program: Program, other: str, key: str) -> Iterator[Span]:
    """Where a variable is set from another one."""
    for function in program.functions.values():
        for e in function_expressions(function):
            if not isinstance(e, ast.Assign) or not isinstance(e.target, ast.VarRef) or e.target.var != other:
                continue
            if any(isinstance(v, ast.VarRef) and v.var == key for v in within(e.value)):
                yield e.span
    init = program.variables[other].init
    if init is not None and any(isinstance(v, ast.VarRef) and v.var == key for v in within(init)):
        yield program.variables[other].span
