"""--statistics: how many sites stay for which reason, and how many of each call convert."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.report.codes import CODES
from opi_xform.report.formats.json import SIDES
from opi_xform.report.formats.text import Line

Rows = Sequence[Sequence[str]]


def statistics(shown: Plan, plan: Plan) -> dict[str, Any]:
    """As values: the codes of the sites that are shown, most first, and all calls of the plan by name."""
    by_code = Counter((d.code, d.side) for d in shown.decisions if d.decision == "keep")
    codes: list[dict[str, Any]] = [
        {"code": code, "title": CODES[code].title, **{side: by_code[code, side] for side in SIDES}}
        for code in dict.fromkeys(code for code, _ in sorted(by_code))
    ]
    codes.sort(key=lambda row: -sum(row[side] for side in SIDES))
    calls = Counter((d.call, d.side, d.decision) for d in plan.decisions)
    names = sorted({(call, side) for call, side, _ in calls}, key=lambda name: (name[0], SIDES.index(name[1])))
    return {
        "codes": codes,
        "calls": [
            {"call": c, "side": s, "convert": calls[c, s, "convert"], "keep": calls[c, s, "keep"]} for c, s in names
        ],
    }


def statistics_lines(shown: Plan, plan: Plan) -> list[Line]:
    """As two tables, each with its totals; of what there is none of, there is no table."""
    found = statistics(shown, plan)
    lines: list[Line] = []
    if found["codes"]:
        rows = [(row["code"], *_counts(row["send"], row["recv"]), row["title"]) for row in found["codes"]]
        kept = [d for d in shown.decisions if d.decision == "keep"]
        rows.append(("all", *_counts(*(_of(kept, side) for side in SIDES)), ""))
        lines += _table(("stays", "send", "recv", "all", "reason"), rows, (1, 2, 3))
    if found["calls"]:
        lines += [Line("")] if lines else []
        rows = [(row["call"], row["side"], *_counts(row["convert"], row["keep"])) for row in found["calls"]]
        converted = sum(row["convert"] for row in found["calls"])
        rows.append(("all", "", *_counts(converted, len(plan.decisions) - converted)))
        lines += _table(("call", "side", "converted", "kept", "all"), rows, (2, 3, 4))
    return lines


def _of(sites: Sequence[Decision], side: str) -> int:
    return sum(site.side == side for site in sites)


def _counts(first: int, second: int) -> tuple[str, str, str]:
    return str(first), str(second), str(first + second)


def _table(header: Sequence[str], rows: Rows, numbers: Sequence[int]) -> list[Line]:
    """numbers: the columns that are set to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines: list[Line] = []
    for row in (header, *rows):
        cells = (c.rjust(w) if i in numbers else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        lines.append(Line("  ".join(cells).rstrip(), "" if lines else "head"))
    return lines
