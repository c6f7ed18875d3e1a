"""What `opi-bench apps` found, as tables, JSON, a bar chart, and a page of documentation."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from opi_xform.bench.result import format_table
from opi_xform.bench.whole.apps_trace import Times

OURS = ("libopi", "opi")


INTRODUCTION = """\
The programs are those of [testdata](../testdata): three of ours, the NAS kernels in [npb](../testdata/npb), and the
proxy applications in [proxies](../testdata/proxies/README.md). Each runs in four forms: plain (by each MPI), linked
with libopi (`libopi`), and transformed (`opi`), the last two over the first MPI. Every run verified itself, and all
forms printed the same results."""

HOW_TIMED = """\
Medians over the rounds. *MPI/it* is the time of the plain MPI with the better median divided by this one's: above 1 is
faster. It is taken within a round, and the median is shown. *total* is what the program says it took, else from the end
of MPI_Init to MPI_Finalize, on the slowest rank. *communication* is the time in MPI and OPI calls (mean over the ranks)
from when both sides have entered; *waiting* is what comes before: waiting for a late partner, and looks for messages
that find none. A buffer that is passed, not copied, is fetched into the receiver's cache by the loop that unpacks it,
which counts as the program's time: look at *total* too. *messages by way*: see
[OPI_PROFILE](runtime.md#profile-opi_profile); `mpi` are those left to the MPI."""


@dataclass(frozen=True, slots=True)
class Site:
    """A buffer of a send or receive, and what opi-xform decided."""

    where: str
    call: str
    side: str
    buffer: str
    decision: str
    code: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class FormTimes:
    """One form of a program, one entry per round."""

    series: str
    mpi: str
    rounds: tuple[Times, ...]
    protocols: dict[str, float]
    """Percent of its messages by the way they went; empty for plain MPI."""

    def median(self, part: Callable[[Times], float]) -> float:
        return statistics.median(part(times) for times in self.rounds)


@dataclass(frozen=True, slots=True)
class AppResult:
    """One program."""

    name: str
    arguments: str
    ranks: int
    forms: tuple[FormTimes, ...]
    sites: tuple[Site, ...]

    def plain(self) -> list[FormTimes]:
        return [form for form in self.forms if form.series not in OURS]

    def ratio(self, form: FormTimes, part: Callable[[Times], float]) -> float | None:
        """Time of the plain MPI with the better median / this form's, taken within a round; the median.

        None without any time.
        """
        plain = self.plain()
        its = [part(times) for times in form.rounds]
        if not plain or min(its) <= 0.0:
            return None
        better = min(plain, key=lambda one: one.median(part))
        return statistics.median(part(b) / t for b, t in zip(better.rounds, its, strict=True))


def _run(times: Times) -> float:
    return times.run


def _communication(times: Times) -> float:
    return times.communication


def _waiting(times: Times) -> float:
    return times.waiting


PARTS: tuple[tuple[str, Callable[[Times], float]], ...] = (
    ("total", _run),
    ("communication", _communication),
    ("waiting", _waiting),
)


def as_json(results: Sequence[AppResult], machine: str) -> str:
    """One object per program, form by form."""
    programs = [
        {
            "program": result.name,
            "arguments": result.arguments,
            "ranks": result.ranks,
            "sites": [
                {
                    "where": site.where,
                    "call": site.call,
                    "side": site.side,
                    "buffer": site.buffer,
                    "decision": site.decision,
                    "code": site.code,
                    "message": site.reason,
                }
                for site in result.sites
            ],
            "forms": [
                {
                    "series": form.series,
                    "mpi": form.mpi,
                    "repeats": len(form.rounds),
                    **{f"{name}_s": round(form.median(part), 6) for name, part in PARTS},
                    **{
                        f"ratio_{name}": None if ratio is None else round(ratio, 3)
                        for name, part in PARTS[:2]
                        for ratio in [result.ratio(form, part)]
                    },
                    "protocols_percent": {name: round(value, 1) for name, value in form.protocols.items()},
                }
                for form in result.forms
            ],
        }
        for result in results
    ]
    return json.dumps({"version": 1, "bench": "apps", "machine": machine, "programs": programs}, indent=1) + "\n"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _series(results: Sequence[AppResult]) -> list[str]:
    return list(dict.fromkeys(form.series for result in results for form in result.forms))


def time_table(results: Sequence[AppResult]) -> tuple[list[str], list[list[str]]]:
    """Header and lines: for each program and form the medians in milliseconds and the ratios to the better MPI."""
    times = ["total ms", "MPI/it", "communication ms", "MPI/it", "waiting ms"]
    header = ["program", "ranks", "form", *times, "messages by way, %"]
    lines: list[list[str]] = []
    for result in results:
        for form in result.forms:
            ways = ", ".join(f"{name} {value:.0f}" for name, value in form.protocols.items())
            first = form is result.forms[0]
            lines.append(
                [
                    f"{result.name} {result.arguments}" if first else "",
                    str(result.ranks) if first else "",
                    form.series,
                    f"{1e3 * form.median(_run):.1f}",
                    _ratio(result.ratio(form, _run)) if form.series in OURS else "",
                    f"{1e3 * form.median(_communication):.2f}",
                    _ratio(result.ratio(form, _communication)) if form.series in OURS else "",
                    f"{1e3 * form.median(_waiting):.2f}",
                    ways,
                ]
            )
    return header, lines


def site_summary(results: Sequence[AppResult]) -> tuple[list[str], list[list[str]]]:
    """Converted of all sites, per program; those too small to gain anything are told apart."""
    header = ["program", "sends", "converted", "receives", "converted", "kept since small"]
    lines: list[list[str]] = []
    for result in results:
        line = [result.name]
        for side in ("send", "recv"):
            sites = [site for site in result.sites if site.side == side]
            line += [str(len(sites)), str(sum(site.decision == "convert" for site in sites))]
        lines.append([*line, str(sum(site.code in ("OPI108", "OPI208") for site in result.sites))])
    return header, lines


def text_of(results: Sequence[AppResult], machine: str) -> str:
    """The tables for a terminal."""
    return "\n".join(
        [
            f"apps: medians; {machine}",
            format_table(*time_table(results)),
            "",
            "MPI/it: time of the plain MPI with the better median / its time, median over rounds",
            "",
            format_table(*site_summary(results)),
        ]
    )


def _markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def page_of(results: Sequence[AppResult], machine: str, command: str, plot: str | None) -> str:
    """docs/measurements/results.md."""
    slower = [
        f"{result.name} ({form.series}, {ratio:.2f})"
        for result in results
        for form in result.forms
        if form.series in OURS
        for ratio in [result.ratio(form, _run)]
        if ratio is not None and ratio < 0.95
    ]
    rounds = {len(form.rounds) for result in results for form in result.forms}
    parts = [
        "# Whole programs: what was converted, and how long they take",
        f"Written by `{command}`; {'/'.join(map(str, sorted(rounds)))} rounds. {machine}.",
        INTRODUCTION,
        "## Times",
        HOW_TIMED,
        _markdown(*time_table(results)),
        f"Slower than the better plain MPI in total by more than 5 %: {', '.join(slower) or 'none'}.",
    ]
    if plot:
        parts.append(f"![communication and total times]({plot})")
    parts += ["## Sites", _markdown(*site_summary(results))]
    for result in results:
        lines = [
            [
                site.where,
                f"`{site.call}`",
                site.side,
                f"`{site.buffer}`",
                site.decision,
                f"{site.code or ''} {site.reason or ''}".strip(),
            ]
            for site in result.sites
        ]
        header = ["site", "call", "side", "buffer", "decision", "reason"]
        parts += [f"### {result.name}", _markdown(header, lines) if lines else "No sends or receives."]
    return "\n\n".join(parts) + "\n"


def save_plot(results: Sequence[AppResult], machine: str, path: Path) -> None:
    """Bars: total and communication time of each form, the better plain MPI being 1. Raises ImportError without
    matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    series = _series(results)
    figure, axes = pyplot.subplots(2, 1, figsize=(max(8.0, 1.0 * len(results)), 8))
    for axis, (name, part) in zip(axes, PARTS, strict=False):
        for number, one in enumerate(series):
            heights = []
            for result in results:
                form = next((form for form in result.forms if form.series == one), None)
                ratio = result.ratio(form, part) if form is not None else None
                heights.append(1.0 / ratio if ratio else 0.0)
            at = [place + (number - len(series) / 2 + 0.5) * 0.8 / len(series) for place in range(len(results))]
            axis.bar(at, heights, width=0.8 / len(series), label=one)
        axis.axhline(1.0, color="black", linewidth=0.8)
        axis.set_xticks(range(len(results)))
        axis.set_xticklabels([f"{result.name}\n{result.ranks} ranks" for result in results], fontsize=7)
        axis.set_ylabel(f"{name}: time / better plain MPI's")
        axis.grid(True, axis="y", alpha=0.3)
        axis.legend(fontsize=7)
    figure.suptitle(machine, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
