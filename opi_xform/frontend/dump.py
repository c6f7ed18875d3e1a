"""A unit as indented text, for people and tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from opi_xform.ir.ast import Expr, Stmt, Unit
from opi_xform.ir.span import Span
from opi_xform.ir.types import Type


def source(span: Span) -> str:
    """The text at a span."""
    return Path(span.file).read_bytes()[span.begin : span.end].decode("utf-8", "replace")


def show(node: Expr | Stmt | None) -> str:
    """One line: ``(Assign '' (Index (VarRef b) (VarRef i)) (IntLit 3 N))``; types, places and padding left out."""
    out: list[str] = []
    work: list[object] = [node]
    while work:
        item = work.pop()
        if isinstance(item, _Text):
            out.append(item)
        elif isinstance(item, (Expr, Stmt)):
            parts: list[object] = [_Text(f"({type(item).__name__}")]
            for field in fields(item):
                value = getattr(item, field.name)
                if field.name in ("padding", "last", "punned"):
                    continue
                if not isinstance(value, (Span, Type)) and value not in ("", None, ()):
                    parts += [_Text(" "), value]
                elif value is None and field.name in ("init", "cond", "step", "other", "value", "low"):
                    parts.append(_Text(" -"))
            work += reversed([*parts, _Text(")")])
        elif isinstance(item, tuple):
            listed: list[object] = [_Text("[")]
            for position, value in enumerate(item):
                listed += [_Text(" "), value] if position else [value]
            work += reversed([*listed, _Text("]")])
        else:
            out.append(str(item))
    return "".join(out)


class _Text(str):
    """Text that is already dumped."""


def dump(unit: Unit) -> str:
    """Globals, functions with their variables, and bodies, one statement a line."""
    return "\n".join(_lines(unit))


def _lines(unit: Unit) -> Iterator[str]:
    for variable in unit.globals.values():
        yield f"{variable.kind} {variable.key}: {variable.type.spelling}" + (
            f" = {show(variable.init)}" if variable.init is not None else ""
        )
    for function in unit.functions.values():
        refused = f"  refused: {function.refused}" if function.refused else ""
        yield f"function {function.key}{refused}"
        for variable in function.variables.values():
            yield f"  {variable.kind} {variable.key}: {variable.type.spelling}" + (
                f" = {show(variable.init)}" if variable.init is not None else ""
            )
        for statement in function.body.body:
            yield "  " + show(statement)


def walk(node: Expr | Stmt) -> Iterator[Expr | Stmt]:
    """The node and everything below it, parents first, in source order."""
    work: list[Expr | Stmt] = [node]
    while work:
        item = work.pop()
        yield item
        below: list[Expr | Stmt] = []
        for field in fields(item):
            value = getattr(item, field.name)
            if isinstance(value, (Expr, Stmt)):
                below.append(value)
            elif isinstance(value, tuple):
                below += [v for v in value if isinstance(v, (Expr, Stmt))]
        work += reversed(below)
