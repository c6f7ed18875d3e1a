"""The tool's modules, loaded once for all bugs: a process forgets those that a bug reaches, and loads them again.

Loading the tool takes a second, analysing the case of a bug a tenth of that.  A bug is seen by the module that it is
planted into and by all that import it, directly or not: nothing else has a name of theirs.
"""

from __future__ import annotations

import ast
import gc
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
UNUSED = ("opi_xform.bench", "opi_xform.demo")
"""What no analysis comes to."""


def _load_all() -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    import opi_xform

    for found in pkgutil.walk_packages(opi_xform.__path__, "opi_xform."):
        if not found.name.startswith(UNUSED) and not found.name.endswith("__main__"):
            import_module(found.name)
    import_module("case_tools")


def _imported(file: str) -> Iterator[str]:
    """The modules that a file names in its imports, and more: names of modules where only what is in them is named."""
    for statement in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def _importers() -> dict[str, set[str]]:
    """By each module of the tool: those that import it, or what lies in its folder."""
    out: dict[str, set[str]] = {}
    for name, module in list(sys.modules.items()):
        if name == "case_tools" or name.partition(".")[0] == "opi_xform":
            for imported in _imported(str(module.__file__)):
                parts = imported.split(".")
                for n in range(1, len(parts) + 1):
                    out.setdefault(".".join(parts[:n]), set()).add(name)
    return out


_load_all()
IMPORTERS = _importers()
gc.freeze()  # processes that are made of this one share its pages


def forget(modules: Sequence[str]) -> None:
    """These modules, and all that import them, are loaded again when they are asked for."""
    work, reached = list(modules), set(modules)
    while work:
        new = IMPORTERS.get(work.pop(), set()) - reached
        reached |= new
        work += new
    for name in reached:
        sys.modules.pop(name, None)
        folder, _, own = name.rpartition(".")
        # `from folder import own` would find it there
        vars(sys.modules[folder]).pop(own, None) if folder in sys.modules else None
