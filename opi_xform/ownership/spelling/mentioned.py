"""Where the text of a program mentions each variable, and declares it."""

from __future__ import annotations

from collections.abc import Sequence

from opi_xform.ir import ast
from opi_xform.ir.ast import Units
from opi_xform.ir.walk import children, expressions, within_statement
from opi_xform.once import once
from opi_xform.ownership.model.buffers import Program, Refusal
from opi_xform.ownership.model.plan import ReplaceText
from opi_xform.ownership.spelling.text import Texts
from opi_xform.program.changed_macros import unsteady_macros
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention of a variable: ``parent`` is the expression right around it, ``outer`` the one around that.

    function: key of the function it stands in, '' in a static initialiser.  unevaluated: somewhere in a ``sizeof``.
    """

    ref: ast.VarRef
    parent: ast.Expr | None
    function: str
    unevaluated: bool
    size: ast.SizeOf | None  # the sizeof around it, when there is one
    outer: ast.Expr | None


@dataclass(frozen=True, slots=True)
class Inspection:
    """refusal: why the carrier cannot change.  edits: of every ``sizeof`` and ``&array`` that would change its meaning.

    has_initialiser: the array is given first contents (whether anyone reads them, the region analysis says).
    """

    refusal: Refusal | None
    edits: tuple[ReplaceText, ...] = ()
    has_initialiser: bool = False


class Index:
    """All mentions of all variables in some units, by key; and the places of their names, by name."""

    def __init__(self, units: Sequence[ast.Unit]) -> None:
        self.units = tuple(units)  # not what this is kept with, or both would stay for good
        self.by_key: dict[str, list[Mention]] = {}
        self.known: dict[str, set[tuple[str, int]]] = {}
        self.names: dict[str, str] = {}
        self.declarations: dict[str, list[tuple[ast.Unit, ast.Variable]]] = {}
        self.texts = Texts(sorted({macro for unit in units for macro in unit.macros}))
        self.edits: dict[tuple[str, int], tuple[ReplaceText, ...]] = {}
        self.inspected: dict[tuple[str, str, bool, str, int], Inspection] = {}
        self.unsteady = unsteady_macros(units)
        done: set[str] = set()
        for unit in units:
            for key, var in unit.globals.items():
                self.declared(key, var)
                if var.init is not None:
                    self.walk(var.init, "")
            for key, function in unit.functions.items():
                if key in done:
                    continue  # an inline function of a header, seen in another unit
                done.add(key)
                for local, var in function.variables.items():
                    self.declared(local, var)
                    if var.init is not None:
                        self.walk(var.init, "" if var.is_global else key)
                for e in expressions(function.body):
                    self.walk(e, key)

    def declared(self, key: str, var: ast.Variable) -> None:
        self.names[key] = var.name
        places = self.known.setdefault(var.name, set())
        places.add((var.span.file, var.span.begin))
        for d in var.declarators:
            places.add((d.name_span.file, d.name_span.begin))

    def declarations_of(self, key: str) -> list[tuple[ast.Unit, ast.Variable]]:
        """The declaration of a variable in each unit that has one, in order."""
        if not self.declarations:
            for unit in self.units:
                here = dict(unit.globals)
                for function in unit.functions.values():
                    for local, var in function.variables.items():
                        if "/" in local:
                            here.setdefault(local, var)
                for name, var in here.items():
                    self.declarations.setdefault(name, []).append((unit, var))
        return self.declarations.get(key, [])

    def walk(self, root: ast.Expr, function: str) -> None:
        stack: list[tuple[ast.Expr, ast.Expr | None, ast.Expr | None, ast.SizeOf | None]] = [(root, None, None, None)]
        while stack:
            e, parent, outer, size = stack.pop()
            if isinstance(e, ast.VarRef):
                self.by_key.setdefault(e.var, []).append(Mention(e, parent, function, size is not None, size, outer))
                name = self.names.get(e.var)
                if name is not None:
                    self.known.setdefault(name, set()).add((e.span.file, e.span.begin))
                continue
            inner = e if isinstance(e, ast.SizeOf) else size
            stack.extend((child, e, parent, inner) for child in reversed(children(e)))


def is_of(unit: ast.Unit, function: ast.Function, units: Sequence[ast.Unit]) -> bool:
    """The text of a function is this unit's: its file is, or a header that no other one reads, and reads it as one."""
    file = function.span.file
    if file == unit.path:
        return True
    readers = [one for one in units if file == one.path or file in one.files]
    same = (f for f in unit.functions.values() if f.span.file == file and f.span.begin == function.span.begin)
    return len(readers) == 1 and readers[0] is unit and sum(1 for _ in same) == 1


def mentions_of(units: Sequence[ast.Unit]) -> Index:
    """The index of units; it is kept with ``Units``, as all that belong to a program are: its carriers share it."""
    return _index(units) if isinstance(units, Units) else Index(units)


@once
def _index(units: Units) -> Index:
    return Index(units)


def steady_in(program: Program, unit: ast.Unit, units: Sequence[ast.Unit], block: ast.Block, key: str) -> bool:
    """A pointer or a number that keeps its value while a block runs: nothing in it sets them, nor anything it calls.

    Nobody has its address, so only its name sets it; and the block calls functions of the library alone, none of which
    calls back.
    """
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
