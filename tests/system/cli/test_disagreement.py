"""A site on which the two ways to a decision disagree stays, with a code of its own, and ``-v`` lists it."""

from __future__ import annotations

import json

import pytest
from case_tools import case_path, run_tool

from opi_xform.ownership.model.buffers import Use
from opi_xform.ownership.patterns.agree import Patterns
from opi_xform.ownership.patterns.happenings import Happening

CASE = str(case_path("convert", "pack_loop_1.c"))
FORM = ("--output-format", "json", "-j", "1")


def never(patterns: Patterns, use: Use) -> Happening | None:
    """A pattern that allows no send."""
    return patterns.needs[0] if use.side == "send" else None


def test_it_stays_and_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = run_tool([CASE, *FORM, "-v", "--"])
    before = {(s["line"], s["side"]): s["decision"] for s in json.loads(out)["sites"]}
    assert code == 0
    assert ("convert" in before.values(), "OPI910" in err) == (True, False)
    monkeypatch.setattr(Patterns, "disallowed", never)
    code, out, err = run_tool([CASE, *FORM, "-v", "--"])
    assert code == 0
    sites = json.loads(out)["sites"]
    sends = [s for s in sites if s["side"] == "send" and before[s["line"], "send"] == "convert"]
    assert [s["code"] for s in sends] == ["OPI910"] * len(sends) != []
    assert err.count("[OPI910]") == len(sends)
    assert all(f":{s['line']}: " in err for s in sends)
    assert "OPI910" not in run_tool([CASE, *FORM, "--"])[2]
