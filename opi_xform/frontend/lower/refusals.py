"""Why a function is not followed, and where in it the construct stands."""

from __future__ import annotations

import os

from opi_xform.frontend.clang.tree import Places
from opi_xform.record import dataclass

_MOST = 40  # characters of a construct that are shown


@dataclass(frozen=True, slots=True)
class Refusal:
    """offset: of the construct in the function's file.  node: of a statement expression, which may be a block."""

    offset: int
    reason: str
    node: int = -1


def refusal(places: Places, i: int, reason: str, node: int = -1) -> Refusal:
    """``reason`` with the line of node ``i``, and with its text where the reason does not say what it is."""
    file = places.file[i]
    if file is None:
        return Refusal(places.begin[i], reason, node)
    line, _ = file.line_column(places.begin[i])
    here = places.file[0]
    where = f"line {line}" if file is here else f"line {line} of {os.path.basename(file.path)}"
    if reason.startswith(("unknown", "statement expression")):
        written = file.data[places.begin[i] : places.end[i]].decode("utf-8", "replace")
        text = " ".join(written.split())
        text = text if len(text) <= _MOST else text[: _MOST - 2] + " …"
        article = "an" if reason.startswith("unknown") else "a"
        return Refusal(places.begin[i], f"`{text}` in {where} is {article} {reason}", node)
    return Refusal(places.begin[i], f"{reason} in {where}", node)
