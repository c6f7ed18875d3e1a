"""One program is there when a run ends: those that were analysed on the way went, though no garbage is collected.

What is found out about a program refers to it (``opi_xform/once.py``), so each of them has to be ended by who made it.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from case_tools import case_path, run_tool

from opi_xform.cli import run as run_module
from opi_xform.ownership.model.buffers import Program

CASES = (
    ("parts_11.c", "a buffer divided in a copy of the text, and what its parts are worth in a copy of the program"),
    ("parts_named_13.c", "names for the parts of an allocation"),
    ("copied_named.c", "structs by address"),
    ("stretches_4.c", "messages that begin inside, and tables for them: texts with marks are looked at"),
    ("swap_2.c", "pointers that change places: the graph is made with and without that"),
    ("member_18.c", "pointers in structs as variables: the program once more"),
    ("sizes_6.c", "parts whose sizes cannot be written: what was raised goes with its frames"),
    ("spelled_32.c", "calls that cannot be placed at first"),
)


def living() -> int:
    return sum(type(o) is Program for o in gc.get_objects())


@pytest.mark.parametrize(("name", "about"), CASES, ids=[name for name, _ in CASES])
def test_one_program_is_there_at_the_end(name: str, about: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    before, after = living(), list[int]()
    work = run_module._run

    def counted(*given: Any) -> int:
        assert not gc.isenabled()
        code = work(*given)
        after.append(living())
        return code

    monkeypatch.setattr(run_module, "_run", counted)
    code, _, error = run_tool([str(_source(case_path("convert", name))), "-q"])
    assert code == 0, error
    # The run's own program has gone with it, too, unless something that was found out still refers to it.
    assert after[0] - before <= 1, about


def _source(path: Path) -> Path:
    return next(path.glob("*.c")) if path.is_dir() else path
