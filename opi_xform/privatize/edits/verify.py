"""The result, read once more: is every variable private that should be, and no use left behind?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opi_xform.ir.statics import Statics
from opi_xform.privatize.model import STRUCT, TLS, Decided, Variable
from opi_xform.privatize.program import Whole, merge
from opi_xform.rewrite.selfcheck import Rejected

Identity = tuple[str, str, str, int]
"""File, function and name of a variable, and which it is of several such."""


def identities(whole: Whole, named: Callable[[str], str]) -> dict[str, Identity]:
    """Every variable by what stays the same when text moves."""
    found: dict[str, Identity] = {}
    count: dict[tuple[str, str, str], int] = {}
    order = sorted(whole.variables.values(), key=lambda v: _begin(v))
    for v in order:
        span = v.definition
        if span is None:
            continue
        function = v.first.function.rpartition(":")[2]
        what = ("", "", v.name) if v.first.kind == "extern" else (named(span.file), function, v.name)
        number = count[what] = count.get(what, 0) + 1
        found[v.key] = (*what, number)
    return found


def _begin(v: Variable) -> tuple[str, int]:
    span = v.definition
    return (span.file, span.begin) if span is not None else ("", 0)


def left_behind(
    before: Whole,
    decided: Decided,
    after: Sequence[Statics],
    form: str,
    named: Callable[[str], str],
    named_after: Callable[[str], str],
) -> list[Rejected]:
    """What the rewritten program shows that should not be."""
    whole = merge(after)
    now = {identity: key for key, identity in identities(whole, named_after).items()}
    old = identities(before, named)
    out = []
    for key, verdict in decided.verdicts.items():
        v = whole.variables.get(now.get(old[key], ""))
        place = decided.variables[key].definition
        where = (named(place.file), place.line) if place is not None else ("", 0)
        name = decided.variables[key].name
        if v is None:
            out.append(Rejected(*where, f"`{name}` is gone"))
        elif verdict.decision != "private":
            if v.done and not decided.variables[key].done:
                out.append(Rejected(*where, f"`{name}` became private and should not be"))
        elif not v.done or (form == TLS and not all(s.thread_local or _is_struct(v) for _, s in v.parts)):
            out.append(Rejected(*where, f"`{name}` did not become private everywhere"))
        elif form == STRUCT and _is_struct(v):
            for use in v.uses:
                if use.what not in ("init", "type", "sizeof") and use.function:
                    out.append(Rejected(*where, f"a use of `{name}` was left as it was"))
                    break
    return out


def _is_struct(v: Variable) -> bool:
    return not any(s.thread_local for _, s in v.parts)
