"""Pages of --report for tests: of small programs, and what such a page says."""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from case_tools import run_tool

MAIN = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#define N 1000
"""


@dataclass(frozen=True, slots=True)
class Page:
    """text: the page; report: the same run as JSON."""

    text: str
    report: dict[str, Any]

    def part(self, begin: str, end: str = "<h2") -> str:
        """From an id on, to the next heading."""
        at = self.text.index(f'id="{begin}"')
        return self.text[at : self.text.index(end, at)]

    def site_labels(self) -> list[str]:
        """What the links of the table of sites say."""
        return [html.unescape(label) for label in re.findall(r'<a class="site"[^>]*>(.*?)</a>', self.text)]

    def buffer_labels(self) -> list[str]:
        """What the buttons of the buffers say."""
        return [
            html.unescape(label) for label in re.findall(r"<button [^>]*data-buffer[^>]*><code>(.*?)</code>", self.text)
        ]

    def lives(self) -> dict[str, str]:
        """What is said of each buffer, by its label, without markup."""
        found = re.findall(r'aria-label="The life of ([^"]*)">(.*?)</section>', self.text, re.DOTALL)
        return {html.unescape(label): bare(text) for label, text in found}

    def roles(self) -> dict[str, tuple[str, str]]:
        """What each function does itself, and by calls."""
        rows = re.findall(r"<tr><td><code>(\w+)</code></td><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", self.text)
        return {function: (bare(own), bare(through)) for function, own, through in rows}


def bare(text: str) -> str:
    """Without markup, spaces made one."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def page_of(folder: Path, files: dict[str, str], *options: str) -> Page:
    """The page of a program; its sources begin with ``MAIN``."""
    for name, text in files.items():
        (folder / name).write_text(MAIN.lstrip("\n") + text, encoding="utf-8")
    names = [str(folder / name) for name in files if name.endswith(".c")]
    report = folder / "report.html"
    code, out, err = run_tool([*names, "-j", "1", "--report", str(report), "--output-format", "json", *options])
    assert (code, err) == (0, "")
    return Page(report.read_text("utf-8"), json.loads(out))
