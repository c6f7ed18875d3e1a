"""The example on each code's page does what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from opi_xform.cli.main import main
from opi_xform.report.codes import CODES, page

# OPI301 is a remark about a pair of sites; OPI401 takes a program that exhausts the analysis.
WITHOUT_SITE = {"OPI301", "OPI401"}
# Those of variables (OPI5xx) are tested in test_privatize.py.
EXAMPLES = sorted(
    code
    for code in CODES
    if "```c\n" in (page(code) or "") and code not in WITHOUT_SITE and not code.startswith("OPI5")
)


@pytest.mark.parametrize("code", EXAMPLES)
def test_the_example_of_a_page_shows_its_code(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    found = re.search(r"```c\n(.*?)```", page(code) or "", re.DOTALL)
    assert found is not None
    (tmp_path / "example.c").write_text(found.group(1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked = ["--min-bytes", "4K"] if code[-2:] == "18" else []  # kept on request
    assert main(["example.c", "--check", "--output-format", "json", *asked]) == 0
    sites = json.loads(capfd.readouterr().out)["sites"]
    side = "recv" if code.startswith("OPI2") else "send"
    assert (side, "keep", code) in [(site["side"], site["decision"], site["code"]) for site in sites]
