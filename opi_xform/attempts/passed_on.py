"""Local pointers that only pass something on: ``void *m = malloc(n); a = m;``, written as ``a = malloc(n);``.

The local may be set after its declaration (``void *m; m = malloc(n); a = m;``), and to nothing else.  The one statement
stands right after the other, in one block, and nothing else names the local.  So the value is computed when it was, and
set when it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ir.walk import statements
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import ReplaceText
from opi_xform.ownership.spelling.mentioned import is_of
from opi_xform.ownership.spelling.mentions import plain
from opi_xform.ownership.spelling.short_names import ShortName, Writing


def passed_on(program: Program, units: Sequence[ast.Unit], names: Collection[str]) -> Iterator[ShortName]:
    """Those that are set to variables with these names."""
    for unit in units:
        for function in unit.functions.values():
            if not is_of(unit, function, units):
                continue
            for block in (s for s, _ in statements(function.body) if isinstance(s, ast.Block)):
                for first, then in zip(block.body, block.body[1:], strict=False):
                    key = _declared(first) or _assigned(first)
                    variable = function.variables.get(key)
                    if variable is not None and _set_from(then, key) in names:
                        found = _Passing(program, units, unit, function, variable).written(first, then)
                        if found is not None:
                            yield found


def _declared(s: ast.Stmt) -> str:
    return s.variables[0] if isinstance(s, ast.DeclStmt) and len(s.variables) == 1 and not s.sizes else ""


def _assigned(s: ast.Stmt) -> str:
    match s:
        case ast.ExprStmt(expr=ast.Assign(target=ast.VarRef(var=key), op="")):
            return key
        case _:
            return ""


def _set_from(s: ast.Stmt, key: str) -> str:
    """The name of the variable, or member of one, that a statement sets from a local; '' where it does not."""
    match s:
        case ast.ExprStmt(expr=ast.Assign(target=target, value=value, op="")):
            given = plain(value)
            while isinstance(target, ast.Member) and not isinstance(target.base, ast.Deref):
                target = target.base
            if not isinstance(given, ast.VarRef) or given.var != key or not isinstance(target, ast.VarRef):
                return ""
            return target.var.rpartition("/")[2].partition("@")[0].rpartition(":")[2]
        case _:
            return ""


class _Passing(Writing):
    """Of one local: ``written``."""

    def written(self, first: ast.Stmt, then: ast.Stmt) -> ShortName | None:
        variable, mentions = self.variable, self.index.by_key.get(self.variable.key, [])
        init, declarators = variable.init, variable.declarators
        given: Span | None
        if isinstance(first, ast.ExprStmt) and isinstance(first.expr, ast.Assign) and init is None:
            init, given = first.expr.value, first.expr.value.span
            mentions = [m for m in mentions if m.ref is not first.expr.target]
        elif declarators and isinstance(first, ast.DeclStmt):
            given = declarators[0].init_span
        else:
            return None
        if not self.is_plain() or init is None or len(mentions) != 1 or len(declarators) != 1:
            return None
        assert isinstance(then, ast.ExprStmt)
        assert isinstance(then.expr, ast.Assign)
        ref, span, target = mentions[0].ref.span, given, then.expr.target.type
        if span is None or not (first.span.editable and span.editable and ref.editable and then.span.editable):
            return None
        if (isinstance(first, ast.DeclStmt) and not declarators[0].alone) or declarators[0].storage:
            return None
        if not _fits(init, variable.type.spelling, target.spelling):
            return None
        text = self.texts.of(span)
        if not self.means_the_same_near(init, (then,)):
            return None
        if any(mark in text for mark in ("/*", "//", "#")) or text.startswith("{"):
            return None
        bare = then.expr.value
        while isinstance(bare, ast.Cast) and not bare.explicit:
            bare = bare.operand
        text = text if isinstance(bare, ast.VarRef) else f"({text})"
        edits = (*self.gone(first), ReplaceText(ref, text))
        return ShortName(variable.key, variable.name, text, edits)


def _fits(value: ast.Expr, passed: str, target: str) -> bool:
    """The value may be set to the target as it is: both types are one, or something points to anything."""
    while isinstance(value, ast.Cast) and not value.explicit:
        value = value.operand
    given = value.type.spelling
    return target in (passed, given) or "void *" in (given, target)
