"""Variables that keep their value while a block runs: nothing in it sets them, nor anything that it calls.

Nobody has their address, so only their names set them; and the block calls functions of the library alone, none of
which calls back.
"""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.ir import ast
from opi_xform.ir.walk import within_statement
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.spelling.mentioned import Mention, mentions_of


def steady_in(program: Program, unit: ast.Unit, units: Sequence[ast.Unit], block: ast.Block, key: str) -> bool:
    """A pointer or a number that keeps its value from the first statement of the block to the last one."""
    function = next((f for f in unit.functions.values() if f.span.file == block.span.file and _in(block, f)), None)
    if function is None or function.refused or not program.complete or program.threads:
        return False
    v = function.variables.get(key) or unit.globals.get(key)
    if v is None or not (v.type.is_pointer or v.type.kind == "int") or v.thread_local or v.attributes:
        return False
    if v.type.volatile or v.type.atomic or any(_stands(s.span.begin, s.span.file, block) for s in unit.skipped):
        return False
    index = mentions_of(units)
    if index.texts.in_directive(function.span.file, v.name) is not None:
        return False
    mentions = index.by_key.get(key, ())
    if any(isinstance(m.parent, (ast.AddrOf, ast.Opaque)) for m in mentions):
        return False
    if any(_sets(m) and _stands(m.ref.span.begin, m.ref.span.file, block) for m in mentions):
        return False
    called = [e.callee for e in within_statement(block, function.variables) if isinstance(e, ast.Call)]
    return all(isinstance(c, ast.FuncRef) and _of_library(program, c.name) for c in called)


def _of_library(program: Program, name: str) -> bool:
    """A function that the tables know, and that calls none of the program's."""
    effect = program.effects.get(name)
    return effect is not None and name not in program.functions and not effect.calls


def _in(block: ast.Block, function: ast.Function) -> bool:
    return function.body.span.begin <= block.span.begin and block.span.end <= function.body.span.end


def _stands(begin: int, file: str, block: ast.Block) -> bool:
    return file == block.span.file and block.span.begin <= begin < block.span.end


def _sets(m: Mention) -> bool:
    return isinstance(m.parent, ast.IncDec) or (isinstance(m.parent, ast.Assign) and m.parent.target is m.ref)
