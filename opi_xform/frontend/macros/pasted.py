"""Names that macros paste together, as ``what##_buf`` does: they stand in no text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_PART = re.compile(r"\w+")

Parts = tuple[str | None, ...]
"""What one name is pasted of: what is written there; None: what a parameter is."""


def pasted(definition: Sequence[str]) -> set[Parts]:
    """The names that a definition pastes.  definition: its words, the macro's name first."""
    body, params = " ".join(definition[1:]).replace("% : % :", "##").split(" "), set[str]()
    if body[:1] == ["("]:
        end = body.index(")") if ")" in body else len(body)
        params, body = {*body[1:end], "__VA_ARGS__"}, body[end + 1 :]
    out, parts = set[Parts](), list[str | None]()
    for i, word in enumerate(body):
        if word == "##":
            continue
        parts.append(None if word in params or not _PART.fullmatch(word) else word)
        if body[i + 1 : i + 2] != ["##"]:
            out |= {tuple(parts)} if len(parts) > 1 else set()
            parts = []
    return out


def names(parts: Parts, known: Collection[str]) -> set[str]:
    """Those of the known names that are pasted so, of names that are known, too."""
    first, last = parts[0] or "", parts[-1] or ""
    likely = (name for name in known if name.startswith(first) and name.endswith(last))
    return {name for name in likely if _is_made(name, parts, known)}


def _is_made(name: str, parts: Parts, words: Collection[str]) -> bool:
    left = {name}  # what the parts from here on are to make
    for part in parts:
        if part is not None:
            left = {rest[len(part) :] for rest in left if rest.startswith(part)}
        else:
            left = {rest[i:] for rest in left for i in range(len(rest) + 1) if rest[:i] in words}
    return "" in left
