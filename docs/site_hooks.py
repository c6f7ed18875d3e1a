"""For the site: the pages are written for a checkout, too, where links lead to files beside docs/ and bear their names,
and lists need no blank line before them.
"""

from __future__ import annotations

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./(?!codes/)([^)#]*)[^)]*\)")
_CALLED = re.compile(r"\[[\w-]+\.md\]\(([\w-]+\.md)((?:#[^)]*)?)\)")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """A page's text as the site's converter needs it."""
    if page.file.src_uri.count("/") == 0:
        markdown = _OUTSIDE.sub(r"\1 (`\2` in the repository)", markdown)
        entries = [entry for section in config["nav"] for pages in section.values() for entry in pages]
        titles = {file: title for entry in entries for title, file in entry.items()}
        markdown = _CALLED.sub(lambda m: f"[{titles.get(m[1], m[1])}]({m[1]}{m[2]})", markdown)
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


def _in_list(lines: list[str]) -> bool:
    """Whether the paragraph at the end belongs to an item."""
    for line in reversed(lines):
        if not line:
            return False
        if _ITEM.match(line):
            return True
    return False
