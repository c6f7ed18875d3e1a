"""Units as text: what the other tests of the front end compare."""

from __future__ import annotations

from pathlib import Path

from frontend_support import parse, plain

from opi_xform.frontend.dump import dump, show, source, walk

TEXT = "static int n = 2;\nvoid f(int *b) {\n  int i = 0;\n  b[i] = n + 3;\n}\n"


def test_a_statement_is_a_line_without_types_and_places(tmp_path: Path) -> None:
    unit = parse(tmp_path, TEXT)
    last = unit.functions["f"].body.body[-1]
    assert plain(unit, show(last)) == (
        "(ExprStmt (Assign (Index (VarRef b) (VarRef i)) (Binary + (VarRef n) (IntLit 3))))"
    )


def test_a_unit_has_its_variables_before_its_statements(tmp_path: Path) -> None:
    unit = parse(tmp_path, TEXT)
    lines = [plain(unit, line) for line in dump(unit).split("\n")]
    assert lines[0] == "static n: int = (IntLit 2)"
    assert lines[1] == "function f"
    assert [line.split(":")[0] for line in lines[2:4]] == ["  param b", "  local i"]
    assert len(lines) == 4 + len(unit.functions["f"].body.body)


def test_parents_come_before_what_is_below_them_in_the_order_of_the_source(tmp_path: Path) -> None:
    unit = parse(tmp_path, TEXT)
    last = unit.functions["f"].body.body[-1]
    texts = [source(node.span) for node in walk(last)]
    assert texts[0].rstrip(";") == "b[i] = n + 3"
    assert [t for t in texts if t in ("b", "i", "n", "3")] == ["b", "i", "n", "3"]
