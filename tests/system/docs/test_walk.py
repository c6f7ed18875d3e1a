"""docs/book/walk.md follows one send from its bytes to its edit: its names exist, and what it shows comes out."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

import pytest

from opi_xform.analysis import known, plans
from opi_xform.effects.table import load_effects
from opi_xform.frontend import dump, parse_unit
from opi_xform.graph.whole import merge
from opi_xform.ir import instr as ins
from opi_xform.ir.calls import calls_of
from opi_xform.memory.poly import Poly
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.buffers import Options, Program
from opi_xform.ownership.model.plan import InsertStatement, ReplaceCall
from opi_xform.rewrite.apply import rewrite
from opi_xform.text.sources import Sources

CHECKOUT = Path(__file__).resolve().parents[3]
PAGE = (CHECKOUT / "docs" / "book" / "walk.md").read_text(encoding="utf-8")
PROGRAM = CHECKOUT / "testdata" / "halo2d"
SHOWN = dict(re.findall(r"^<!-- shows: (\w+) -->\n```\w*\n(.*?)^```$", PAGE, re.M | re.S))
NAMED = sorted(set(re.findall(r"`((?:\w+/)*\w+\.py):(\w+(?:\.\w+)*)`", PAGE)))


def poly(program: Program, value: Poly) -> str:
    """A polynomial in the words of the page: its symbols by what they stand for."""
    symbols = program.values.symbols
    terms = []
    for monomial, factor in symbols.resolve(value).terms:
        words = [symbols.table[s].kind for s in monomial]
        terms.append(" * ".join([str(factor), *words]))
    return " + ".join(terms) or "0"


@cache
def stages() -> dict[str, str]:
    """What the send looks like at each stage."""
    units = [parse_unit(str(path), []) for path in sorted(PROGRAM.glob("*.c"))]
    function = next(f for u in units for f in u.functions.values() if f.name == "exchange")
    call = next(c for c in calls_of(function) if dump.show(c.callee) == "(FuncRef MPI_Isend)")
    text = Path(call.span.file).read_bytes()
    out = {"bytes": text[call.span.begin : call.span.end].decode(), "tree": dump.show(call.args[0])}
    program = known.program(merge(units), load_effects(), everything=False, exchanges=True)
    uses = collect(program)
    use = next(u for u in uses if u.side == "send")
    node = program.graph.nodes[use.node]
    assert isinstance(node.action, ins.CallInstr)
    buffer = node.action.args[0]
    assert isinstance(buffer, ins.PtrAdd)
    assert isinstance(buffer.base, ins.AddrVar)
    assert isinstance(buffer.index, ins.Var)
    frame = program.graph.frames[node.frame]
    out["instruction"] = (
        f"{frame.function}: {node.action.callee.key}, &{buffer.base.key} + {buffer.scale} * {buffer.index.key}"
    )
    lines = []
    for n, accesses in sorted(program.values.accesses.of(use.object).items()):
        action = program.graph.nodes[n].action
        for a in accesses:
            assert a.lo is not None
            assert a.length is not None
            where = f"{Path(action.span.file).name}:{action.span.line}"  # type: ignore[union-attr]
            lines.append(f"{a.kind} {where}: {poly(program, a.length)} bytes from {poly(program, a.lo)}")
    out["accesses"] = "\n".join(lines)
    groups, _ = buffers(program, uses)
    mine = next(b for b in groups if use in b.uses)
    out["buffer"] = f"{mine.name}: {mine.carrier.kind}, rows of {mine.carrier.row_bytes} bytes"
    judge = Judge(program, mine, use.object, strict=True)
    out["liveness"] = f"first contents read: {judge.initial}; " + ", ".join(
        f"{'may pass' if finding.ok else finding.reason}" for finding in judge.findings.values()
    )
    plan, _ = plans.analyse(units, Options())
    edits = []
    for edit in plan.edits:
        if isinstance(edit, ReplaceCall) and edit.callee.begin == call.span.begin:
            edits.append(f"{Path(edit.callee.file).name}:{edit.callee.line}: {edit.name}, {edit.arguments[0][1]}")
        if isinstance(edit, InsertStatement) and "sbuf" in edit.text:
            edits.append(f"{Path(edit.anchor.file).name}:{edit.anchor.line}: {edit.where} it, {edit.text}")
    out["edits"] = "\n".join(edits)
    changed = rewrite(plan, Sources()).changed[call.span.file].decode()
    begin = changed.index("OPI_Igive")
    out["result"] = changed[begin : changed.index(";", begin)]
    return out


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_what_the_walk_shows_comes_out(name: str) -> None:
    assert SHOWN[name].rstrip("\n") == stages()[name]


def test_the_walk_shows_every_stage() -> None:
    assert sorted(SHOWN) == sorted(stages())


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_what_the_walk_names_is_there(path: str, name: str) -> None:
    found = importlib.import_module("opi_xform." + path[:-3].replace("/", "."))
    for part in name.split("."):
        found = getattr(found, part)


def test_the_walk_passes_every_package_on_the_way() -> None:
    passed = {path.split("/")[0] for path, _ in NAMED}
    assert {"frontend", "graph", "pointsto", "values", "ownership", "regions", "rewrite"} <= passed
    assert {"analysis", "pipeline.py"} <= passed
