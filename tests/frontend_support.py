"""What the front end's tests share: parsing a text, finding nodes, reading places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from opi_xform.frontend import parse_unit
from opi_xform.frontend.clang.libclang import Kind, TranslationUnit
from opi_xform.frontend.clang.source import File, Sources
from opi_xform.frontend.dump import show, source, walk
from opi_xform.frontend.macros.expansions import Macros
from opi_xform.ir.ast import Call, Expr, FuncRef, Function, Stmt, Unit, Variable

N = TypeVar("N", Expr, Stmt)


def parse(tmp_path: Path, text: str | bytes, flags: Sequence[str] = (), name: str = "t.c") -> Unit:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return parse_unit(str(file), flags)


def plain(unit: Unit, text: str) -> str:
    """Keys as names: no paths, functions or offsets."""
    return re.sub(r"[^\s()\[\]]*/(\w+)@\d+(?:\.\d+)?", r"\1", text).replace(f"{unit.path}:", "")


def body(tmp_path: Path, text: str, flags: Sequence[str] = ()) -> list[str]:
    """The statements of ``void f(...)`` in ``text``, as text."""
    unit = parse(tmp_path, text, flags)
    return [plain(unit, show(s)) for s in unit.functions["f"].body.body]


def expression(tmp_path: Path, declarations: str, written: str, flags: Sequence[str] = ()) -> str:
    """The expression statement ``written``, the last of ``f``; ``declarations`` stand before ``f``."""
    unit = parse(tmp_path, f"{declarations}\nvoid f(void) {{\n  {written};\n}}\n", flags)
    text = plain(unit, show(unit.functions["f"].body.body[-1]))
    assert text.startswith("(ExprStmt ")
    return text[len("(ExprStmt ") : -1]


def nodes(function: Function, kind: type[N]) -> list[N]:
    """All nodes of a kind in a function, initialisers of its variables included, in source order."""
    roots: list[Expr | Stmt] = [function.body, *(v.init for v in function.variables.values() if v.init is not None)]
    return [n for root in roots for n in walk(root) if isinstance(n, kind)]


@contextmanager
def macros_of(tmp_path: Path, text: str) -> Iterator[tuple[File, Macros]]:
    """The file and its macros, while its translation unit is there."""
    path = tmp_path / "m.c"
    path.write_text(text)
    with TranslationUnit(str(path), []) as unit:
        sources = Sources(unit, ())
        cursors = unit.top_level()
        lib = unit.lib
        sources.anchor(lib.clang_getCursorLocation(lib.clang_getTranslationUnitCursor(unit.handle)))
        sources.anchor(lib.clang_getCursorLocation(cursors[-1]))
        uses = [c for c in cursors if c.kind == Kind.MACRO_EXPANSION]
        macros = Macros(unit, sources, uses, [c for c in cursors if c.kind == Kind.MACRO_DEFINITION])
        yield next(f for f in map(sources.file, unit.inclusions()) if f.path == str(path.resolve())), macros


def calls(unit: Unit, name: str) -> list[Call]:
    return [
        c
        for f in unit.functions.values()
        for c in nodes(f, Call)
        if isinstance(c.callee, FuncRef) and c.callee.name.rpartition(":")[2] == name
    ]


def local(unit: Unit, name: str, function: str = "f") -> Variable:
    return next(v for v in unit.functions[function].variables.values() if v.name == name)


__all__ = ["body", "calls", "expression", "local", "macros_of", "nodes", "parse", "plain", "show", "source", "walk"]
