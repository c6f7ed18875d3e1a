"""Every module is named by a unit test, but for those listed here.  The list may only become shorter."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "opi_xform"

UNTESTED = {
    "": "demo",
    "bench": "machine main pin processes programs result rounds spread tune ways",
    "bench.kinds": "cachebench cannon fibers memory memory_report opbench threads",
    "bench.whole": "apps apps_report apps_trace compare compare_cli compare_output compare_report",
}
"""By package: modules that no file of tests/unit imports, nor names in its text as one that it is about."""


def modules() -> set[str]:
    paths = (path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
    return {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}


@cache
def named() -> frozenset[str]:
    """Modules that unit tests import, whole or something of them, or write out as ``opi_xform.text.lex``."""
    out: set[str] = set()
    for path in sorted((ROOT / "tests" / "unit").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        out.update(re.findall(r"\bopi_xform(?:\.\w+)+", text))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module:
                out.add(node.module)
                out.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(out)


def unnamed() -> set[str]:
    return {m for m in modules() if m not in named()}


def test_the_list_of_modules_without_a_unit_test_only_shrinks() -> None:
    listed = {
        f"opi_xform.{package}.{name}".replace("..", ".")
        for package, names in UNTESTED.items()
        for name in names.split()
    }
    assert sorted(unnamed() - listed) == [], "a new module has a unit test"
    assert sorted(listed - unnamed()) == [], "no longer true: take it off the list"
