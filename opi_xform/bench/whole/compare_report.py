"""What `opi-bench compare` found, as text, JSON and a picture."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from opi_xform.bench.result import format_table
from opi_xform.bench.spread import Spread, verdict
from opi_xform.bench.ways import ways
from opi_xform.bench.whole.compare import LINKED, PLAIN, TRANSFORMED, Comparison, Found
from opi_xform.report.sizes import size

WIDTH = 80
SHOWN = 5
"""Lines of output that differ, and classes of lines that are not compared, at most."""
VERDICTS = {"faster": "faster", "slower": "slower", "noise": "within noise", "few": "too few rounds"}
OF_PLAIN = "the plain program"


def seconds(value: float) -> str:
    """With three figures that count, and a unit."""
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= length or unit == "us":
            number = value / length
            return f"{number:.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
    return ""


def _maybe(value: float | None) -> str:
    return "-" if value is None else seconds(value)


def _paragraph(text: str) -> str:
    """Filled, and fit for a terminal whatever a program printed."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def time_table(comparison: Comparison) -> str:
    """Total times, and ratios to the better plain MPI."""
    lines = []
    for one in comparison.found:
        if one.failed:
            lines.append([one.form.name, "failed", "", "", "", "", ""])
            continue
        ratio = comparison.ratio(one)
        line = [one.form.name, seconds(one.median), seconds(min(one.times)), seconds(max(one.times))]
        if one is comparison.best:
            line += ["1", "", "the best plain"]
        elif ratio is None:
            line += ["-", "", ""]
        else:
            line += [
                f"{ratio.median:.2f}",
                f"{ratio.low:.2f} to {ratio.high:.2f}",
                "" if one.form.kind == PLAIN else VERDICTS[verdict(ratio)],
            ]
        lines.append(line)
    return format_table(["", "median", "min", "max", "ratio", "range", ""], lines)


def part_table(comparison: Comparison) -> str:
    """Where the time goes."""
    lines = []
    for one in comparison.found:
        if not one.failed:
            inside = one.in_mpi()
            share = one.share()
            parts = [_maybe(one.part(name)) for name in ("communication", "waiting")]
            lines.append([one.form.name, _maybe(inside), "-" if share is None else f"{100 * share:.0f} %", *parts])
    return format_table(["", "in MPI", "of the run", "communicating", "waiting"], lines)


def way_table(found: Sequence[Found]) -> str:
    """Messages and bytes by way, and copies, of the forms with libopi."""
    told = [(one, one.profile) for one in found if one.profile is not None]
    by_form = [ways(profile) for _, profile in told]
    lines = []
    for way in dict.fromkeys(name for found in by_form for name in found):
        cells = [found.get(way) for found in by_form]
        lines.append(
            [way, *(part for one in cells for part in (("-", "-") if one is None else (f"{one[0]:,}", size(one[1]))))]
        )
    for name, title in (("made", "copies made"), ("saved", "copies saved")):
        copies = [profile["copies"] for _, profile in told]
        lines.append([title, *(part for one in copies for part in (f"{one[name]:,}", size(one[f"{name}_bytes"])))])
    return format_table(["", *(title for one, _ in told for title in (one.form.name, "bytes"))], lines)


def conclusion(comparison: Comparison) -> list[str]:
    """In words: what is gained, whether that is more than noise, and how much there was to gain."""
    best, told = comparison.best, []
    if best is None:
        return ["No plain run came to its end: there is nothing to compare with."]
    for kind in (TRANSFORMED, LINKED):
        for one in comparison.of(kind):
            ratio = comparison.ratio(one)
            if ratio is not None:
                told.append(f"{one.form.name}: {_in_words(ratio, best, comparison.effort.rounds)}")
    share = best.share()
    if share is not None:
        told.append(
            f"{best.form.name} spends {100 * share:.0f} % of its time in MPI, waiting for other ranks included: "
            "faster messages can save no more than that."
        )
    return told


def _in_words(ratio: Spread, best: Found, rounds: int) -> str:
    times = f"{ratio.median:.2f} times the speed of {best.form.name}"
    which = verdict(ratio)
    if which == "few":
        return f"{times}, but {rounds} round{'s' * (rounds != 1)} cannot tell it from noise; --rounds 5 is the least."
    if which == "noise":
        return f"{times}. That is no difference beyond the noise of these runs."
    return f"{times}, between {ratio.low:.2f} and {ratio.high:.2f}: {which}."


def outputs(comparison: Comparison) -> list[str]:
    """Whether all forms printed the same."""
    told = []
    plain = comparison.plain
    unsteady = plain.unsteady()
    for one in comparison.found:
        for each in one.differs[:SHOWN]:
            where = f"{one.form.name} {each.told()}"
            told.append(
                f"outputs: {where}; not counted, since it looks like a time"
                if each.time
                else f"outputs: DIFFER: {where}"
            )
        if len(one.differs) > SHOWN:
            told.append(f"outputs: {one.form.name}: {len(one.differs) - SHOWN} more lines differ")
    ran = [one for one in comparison.found if one.form.kind != PLAIN and not one.failed]
    count = max((len(run) for run in plain.runs), default=0)
    if plain.runs and ran and not any(not each.time for one in comparison.found for each in one.differs):
        told.append(
            f"outputs: the same ({count} lines)" if count else "outputs: nothing was printed, so nothing compared"
        )
    if unsteady:
        shown = "; ".join(f"`{text}`" for text in unsteady[:SHOWN]) + ("; ..." if len(unsteady) > SHOWN else "")
        told.append(
            f"outputs: not compared are lines and numbers (*) in which runs of {OF_PLAIN} itself differ: {shown}"
        )
    return told


def site_line(comparison: Comparison) -> str | None:
    """What opi-xform converted, and the commonest reasons of what it kept."""
    sites = comparison.sites
    if sites is None:
        return None
    kept = Counter(site.code for site in sites if site.decision != "convert" and site.code)
    converted = sum(site.decision == "convert" for site in sites)
    why = ", ".join(f"{code} {count}x" for code, count in kept.most_common(3))
    return f"sites: {len(sites)}, of which {converted} converted" + (
        f"; kept for {why} (`opi-xform --explain CODE`)" if why else ""
    )


def text_of(comparison: Comparison, machine: str) -> str:
    """For a terminal."""
    effort = comparison.effort
    ranks = f"{effort.ranks} rank{'s' * (effort.ranks != 1)}"
    bound = "each bound to a processor" if comparison.pinned else "not bound"
    few = ["More ranks than processors: they take turns, and the times say little of a machine that has enough."]
    busy = [
        f"The machine is busy (load average {comparison.busy or 0:.1f}): ranks wait for processors, and a form that "
        "waits better gains by that alone. Try again on a quiet one."
    ]
    parts = [
        _paragraph(f"{comparison.what}: {ranks}, {bound}; {effort.rounds} rounds of alternating runs"),
        _paragraph(machine),
        *(map(_paragraph, few) if comparison.crowded else ()),
        *(map(_paragraph, busy) if comparison.busy is not None else ()),
        "",
        "total time, from MPI_Init to MPI_Finalize, the slowest rank",
        "ratio: the best plain's time / its time, within a round; above 1 is faster",
        time_table(comparison),
    ]
    if any(one.traced for one in comparison.found):
        number = max(len(one.traced) for one in comparison.found)
        parts += ["", f"where it goes, mean of the ranks; {number} more runs, each call timed", part_table(comparison)]
    if any(one.form.inside for one in comparison.found):
        parts.append(
            _paragraph("In MPI, linked and transformed: by OPI_PROFILE, which makes small messages slower. "
                "From sources all forms are timed alike.")
        )  # fmt: skip
    if any(one.threads for one in comparison.found):
        parts.append(
            _paragraph("Threads of the program may call MPI at once (MPI_THREAD_MULTIPLE): calls were not timed.")
        )
    if any(one.profile is not None for one in comparison.found):
        parts += ["", "messages by way, one more run with OPI_PROFILE", way_table(comparison.found)]
    parts.append("")
    parts += map(_paragraph, conclusion(comparison))
    sites = site_line(comparison)
    parts += [_paragraph(sites)] if sites else []
    parts += map(_paragraph, outputs(comparison))
    parts += [_paragraph(f"failed: {one.form.name}: {one.failed}") for one in comparison.found if one.failed]
    return "\n".join(parts)


def _rounded(value: float | None, digits: int = 6) -> float | None:
    return None if value is None else round(value, digits)


def as_json(comparison: Comparison, machine: str) -> str:
    """docs/schema/compare-1.json describes it."""
    forms = []
    for one in comparison.found:
        ratio = comparison.ratio(one) if one.times and not one.failed else None
        forms.append(
            {
                "form": one.form.kind,
                "mpi": one.form.mpi.kind,
                "mpi_version": one.form.mpi.version,
                "failed": one.failed or None,
                "total_s": [round(value, 6) for value in one.times],
                "median_s": _rounded(one.median) if one.times else None,
                "ratio_best_mpi": None
                if ratio is None
                else {
                    "median": round(ratio.median, 4),
                    "low": round(ratio.low, 4),
                    "high": round(ratio.high, 4),
                    "sure": round(ratio.sure, 4),
                    "verdict": verdict(ratio),
                },
                "in_mpi_s": _rounded(one.in_mpi()),
                "communication_s": _rounded(one.part("communication")),
                "waiting_s": _rounded(one.part("waiting")),
                "ways": None
                if one.profile is None
                else {name: {"messages": m, "bytes": b} for name, (m, b) in ways(one.profile).items()},
                "copies": None if one.profile is None else one.profile["copies"],
                "differences": [
                    {"plain": each.plain, "printed": each.other, "time": each.time} for each in one.differs
                ],
            }
        )
    sites = comparison.sites
    value = {
        "version": 1,
        "bench": "compare",
        "machine": machine,
        "program": comparison.what,
        "ranks": comparison.effort.ranks,
        "rounds": comparison.effort.rounds,
        "pinned": comparison.pinned,
        "busy": comparison.busy,
        "best_mpi": comparison.best.form.mpi.kind if comparison.best else None,
        "sites": None
        if sites is None
        else {"all": len(sites), "converted": sum(site.decision == "convert" for site in sites)},
        "not_compared": comparison.plain.unsteady(),
        "forms": forms,
    }
    return json.dumps(value, indent=1) + "\n"


def save_plot(comparison: Comparison, machine: str, path: Path) -> None:
    """Bars of total times with every round as a point, of the time in MPI, and of bytes by way. Raises ImportError
    without matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ran = [one for one in comparison.found if not one.failed]
    colours = {PLAIN: "#8c8c8c", LINKED: "#4c78a8", TRANSFORMED: "#2f9e44"}
    figure, (total, inside, by_way) = pyplot.subplots(1, 3, figsize=(13, 4.2))
    names = [one.form.name.replace("/", "\n") for one in ran]
    for at, one in enumerate(ran):
        total.bar(at, one.median, color=colours[one.form.kind])
        total.plot([at] * len(one.times), one.times, "k.", markersize=4)
        waiting, communication, whole = one.part("waiting"), one.part("communication"), one.in_mpi()
        if communication is not None and waiting is not None:
            inside.bar(at, communication, color=colours[one.form.kind])
            inside.bar(at, waiting, bottom=communication, color="#d9d9d9", hatch="//")
        elif whole is not None:
            inside.bar(at, whole, color=colours[one.form.kind], hatch="..")
    for axis, title in ((total, "total, s (points: rounds)"), (inside, "in MPI, s (hatched: waiting)")):
        axis.set_xticks(range(len(ran)), names, fontsize=8)
        axis.set_title(title, fontsize=9)
        axis.grid(True, axis="y", alpha=0.3)
    ours = [one for one in ran if one.profile is not None]
    carried = [ways(one.profile) if one.profile is not None else {} for one in ours]
    below = [0.0] * len(ours)
    for way in dict.fromkeys(name for found in carried for name in found):
        heights = [found.get(way, (0, 0))[1] / 2**20 for found in carried]
        by_way.bar(range(len(ours)), heights, bottom=below, label=way)
        below = [one + other for one, other in zip(below, heights, strict=True)]
    by_way.set_xticks(range(len(ours)), [one.form.name.replace("/", "\n") for one in ours], fontsize=8)
    by_way.set_title("MiB by way", fontsize=9)
    by_way.set_ylim(0, max(below, default=0.0) * 1.3 or 1.0)
    by_way.grid(True, axis="y", alpha=0.3)
    if any(carried):
        by_way.legend(fontsize=7)
    shown = textwrap.shorten(comparison.what, 100, placeholder=" ...")
    figure.suptitle(f"{shown}, {comparison.effort.ranks} ranks\n{textwrap.shorten(machine, 140)}", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
