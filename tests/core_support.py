"""Small C programs for tests of the analysis core: one function lowered, or a whole program with its values."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from islpy import Set, dim_type
from ownership_support import HEADER, LIBC

from opi_xform.analysis import known
from opi_xform.calls.calls import Calls
from opi_xform.calls.of_graph import calls_of
from opi_xform.effects.table import load_effects
from opi_xform.frontend import parse_unit
from opi_xform.graph.around import Around
from opi_xform.graph.graph import Node
from opi_xform.graph.whole import merge
from opi_xform.ir import ast
from opi_xform.ir import instr as ins
from opi_xform.ir.lowering.statements import lower
from opi_xform.memory.accesses import Access
from opi_xform.memory.poly import Poly
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Buffer, Carrier, Program

MPI = '#include "mpi.h"\n'


def unit(text: str) -> ast.Unit:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "mpi.h").write_text(HEADER + "#define MPI_PROC_NULL (-2)\n#define MPI_ANY_SOURCE (-1)\n" + EXTRA + LIBC)
        path = root / "t.c"
        path.write_text(MPI + text)
        return parse_unit(str(path), ["-I", str(root)])


EXTRA = """
int MPI_Cart_shift(MPI_Comm, int, int, int *, int *);
int MPI_Comm_size(MPI_Comm, int *);
"""


def lowered(text: str, name: str = "f") -> ins.Lowered:
    """The function ``name`` of a file as basic blocks."""
    u = unit(text)
    (function,) = [f for f in u.functions.values() if f.name == name]
    return lower(function, u.globals)


def last(text: str, name: str = "f") -> ast.Expr:
    """The expression that a function's last statement evaluates, returns or tests."""
    (function,) = [f for f in unit(text).functions.values() if f.name == name]
    match function.body.body[-1]:
        case ast.ExprStmt(expr=e) | ast.Return(value=ast.Expr() as e) | ast.If(cond=e):
            return e
    raise AssertionError(text)


@dataclass(frozen=True, slots=True)
class Found:
    """A program's graph and values, with look-ups by name and line."""

    program: Program
    text: str

    def key(self, name: str) -> str:
        (found,) = {k for k, v in self.program.variables.items() if v.name == name}
        return found

    def object(self, name: str) -> int:
        """The object of the only copy of a variable."""
        key = self.key(name)
        (found,) = [o.number for o in self.program.values.objects.table if o.variable == key and o.kind == "variable"]
        return found

    def names(self, objects: Iterable[int]) -> set[str]:
        """Objects by name: `?` for what is outside, `heap` for what was allocated."""
        table = self.program.values.objects.table
        return {"heap" if table[o].kind == "heap" else table[o].name for o in objects}

    def calls(self) -> Calls:
        """What calls do that the graph does not follow."""
        found = self.program
        return calls_of(found.graph, found.values.objects, found.points_to, found.effects)

    def nodes(self, kind: type[object]) -> list[Node]:
        return [n for n in self.program.graph.nodes if isinstance(n.action, kind)]

    def on_line(self, text: str) -> list[Node]:
        """Nodes of the line that has ``text``."""
        (line,) = [i for i, row in enumerate((MPI + self.text).split("\n"), 1) if text in row]
        return [n for n in self.program.graph.nodes if isinstance(n.action, ins.Instr) and n.action.span.line == line]

    def marked(self, name: str = "mark") -> list[Poly]:
        """The values assigned to the variable ``name``, in program order."""
        key = self.key(name)
        out = []
        for n in self.program.graph.nodes:
            target = n.action.target if isinstance(n.action, ins.Define) else None
            if isinstance(target, ins.Var) and target.key == key:
                out.append(self.program.values.symbols.resolve(self.program.values.operands[n.number][0]))
        return out

    def access(self, name: str, kind: str) -> list[Access]:
        o = self.object(name)
        return [a for found in self.program.values.accesses.of(o).values() for a in found if a.kind == kind]

    def show(self, value: Poly) -> str:
        """A polynomial for people: counts as k0, k1, …, addresses as &name, other symbols by their kind."""
        symbols = self.program.values.symbols
        parts = []
        for monomial, c in symbols.resolve(value).terms:
            names = []
            for s in monomial:
                info = symbols.table[s]
                if info.kind == "count":
                    names.append(f"k{info.key[0]}")
                elif info.kind == "object":
                    names.append("&" + self.program.values.objects.table[int(str(info.key[0]))].name)
                else:
                    names.append(info.kind)
            parts.append("*".join([str(c), *names] if c != 1 or not names else names))
        return " + ".join(parts) if parts else "0"


def program(text: str) -> Found:
    return Found(known.program(merge([unit(text)]), load_effects()), text)


def around(text: str, complete: bool = True) -> Around:
    """What a program's functions tell, each by itself."""
    return Around(merge([unit(text)]), load_effects(), complete)


def called_in(body: ins.Lowered | None, name: str = "") -> list[ins.CallInstr]:
    """The calls of a function in a body, in order; of all functions without a name."""
    assert body is not None
    found = (i for block in body.blocks for i in block if isinstance(i, ins.CallInstr))
    return [c for c in found if not name or (isinstance(c.callee, ins.AddrFunc) and c.callee.key.endswith(name))]


def judge(found: Found, name: str) -> Judge:
    """Liveness of a variable, with all calls of the program as they stand."""
    from opi_xform.ownership.buffers.uses import buffers, collect

    uses = [u for u in collect(found.program) if u.object == found.object(name)]
    groups, _ = buffers(found.program, uses)
    buffer = groups[0] if groups else Buffer(name, Carrier("array", found.key(name)), (found.object(name),), (), ())
    return Judge(found.program, buffer, found.object(name), False)


def members(s: Set, values: dict[int, int], size: int) -> frozenset[int]:
    """The offsets below ``size`` in a set, with symbols fixed; symbols without a value may have any."""
    for i in range(s.dim(dim_type.param) - 1, -1, -1):
        name = s.get_dim_name(dim_type.param, i)
        product = 1
        for part in name[1:].split("_"):
            if int(part) not in values:
                break
            product *= values[int(part)]
        else:
            s = s.fix_val(dim_type.param, i, product)
        s = s.project_out(dim_type.param, i, 1)
    return frozenset(o for o in range(size) if not s.fix_val(dim_type.set, 0, o).is_empty())


def blocks_between(low: ins.Lowered, start: int = 0) -> Iterator[int]:
    """Blocks that can be reached from ``start``."""
    seen: set[int] = set()
    work = [start]
    while work:
        b = work.pop()
        if b not in seen:
            seen.add(b)
            yield b
            work.extend(low.succs[b])
