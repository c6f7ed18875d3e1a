"""Every module is named by a unit test: a file of tests/unit imports it, or names it as what it is about."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "opi_xform"


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


def test_every_module_is_named_by_a_unit_test() -> None:
    assert sorted(unnamed()) == [], "a new module has a unit test, in tests/unit/<package>/"
