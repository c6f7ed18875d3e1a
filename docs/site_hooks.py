"""For the site: the pages are written for a checkout, too, where links lead to files beside docs/ and bear their names,
and lists need no blank line before them.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_UPWARDS = re.compile(r"\[([^\]]+)\]\((\.\./[^)#]*)([^)]*)\)")
_CALLED = re.compile(r"\[[\w/-]+\.md\]\(([\w./-]+\.md)((?:#[^)]*)?)\)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """A page's text as the site's converter needs it."""
    folder = posixpath.dirname(page.file.src_uri)
    entries = [entry for section in config["nav"] for pages in section.values() for entry in pages]
    titles = {file: title for entry in entries for title, file in entry.items()}

    def upwards(link: re.Match[str]) -> str:
        target = _target(folder, link[2])
        return f"{link[1]} (`{target[3:]}` in the repository)" if target.startswith("../") else link[0]

    def called(link: re.Match[str]) -> str:
        return f"[{titles.get(_target(folder, link[1]), link[1])}]({link[1]}{link[2]})"

    markdown = _CALLED.sub(called, _UPWARDS.sub(upwards, markdown))
    lines: list[str] = []
    fenced = False
    for line in markdown.split("\n"):
        fenced ^= line.startswith("```")
        # A nested list stands four columns in.
        nested = re.match(r"( {2,3})(?=[-*] )", line)
        if not fenced and nested:
            line = "    " + line[nested.end() :]
        if not fenced and _ITEM.match(line) and lines and lines[-1] and not _in_list(lines):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _target(folder: str, link: str) -> str:
    """Where a link of a page in ``folder`` leads, seen from docs/."""
    return posixpath.normpath(posixpath.join(folder, link))


def _in_list(lines: list[str]) -> bool:
    """Whether the paragraph at the end belongs to an item."""
    for line in reversed(lines):
        if not line:
            return False
        if _ITEM.match(line):
            return True
    return False
