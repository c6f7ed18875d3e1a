"""Whether a program printed what the plain program prints.

Programs print times, ranks print in any order, and two MPIs add up in different orders. What may differ is learnt from
the plain program: a number that differs between two of its runs is not compared, or only roughly where it differs in
its last digits. Lines are put into classes by what stands between their numbers. Within a class the order of lines
counts where the plain program keeps it, else their values alone; between classes no order counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

NUMBER = re.compile(r"(?<![A-Za-z_0-9.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?|\b(?:nan|inf)\b", re.IGNORECASE)
TIMES = re.compile(
    r"\b(?:wall)?times?\b(?![\s_-]*steps?)|\bseconds?\b|\bsecs?\b|\belapsed\b|\b[mun]?s\b|flops?\b|/ ?s(?:ec)?\b"
    r"|\bper sec|\bbandwidth\b|\bspeed(?:up)?\b|\brate\b|\bperformance\b|\blatency\b|\bdate\b"
    r"|\bclock\b|\bwtime\b|\bduration\b",
    re.IGNORECASE,
)
"""A line with one of these words tells of times, or of the day."""
ROUNDING = 1e-6
"""Two numbers that are so near, relative to their size, differ by rounding."""
WIDER = 10.0
"""So many times the plain program's own spread may another form be away, where that spread is rounding."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of output: its class, the numbers in it, and itself."""

    shape: str
    numbers: tuple[str, ...]
    text: str

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(map(_value, self.numbers))


def _value(number: str) -> float:
    return float(number.lower().replace("d", "e"))


def line_of(text: str) -> Line:
    """Taken apart. Widths do not count: runs of blanks are one."""
    text = " ".join(text.split())
    return Line(NUMBER.sub("#", text), tuple(NUMBER.findall(text)), text)


def lines_of(text: str, ignored: Sequence[re.Pattern[str]] = ()) -> list[Line]:
    """The lines that count: those that are not blank and match none of ``ignored``."""
    return [
        line_of(line) for line in text.splitlines() if line.strip() and not any(one.search(line) for one in ignored)
    ]


@dataclass(frozen=True, slots=True)
class Difference:
    """A line that the plain program does not print so. ``plain`` or ``other`` is empty where one of them has no such
    line at all."""

    plain: str
    other: str
    time: bool = False
    """The line tells of times."""

    def told(self) -> str:
        if not self.plain:
            return f"prints `{self.other}`, which the plain program does not"
        if not self.other:
            return f"does not print `{self.plain}`, as the plain program does"
        return f"prints `{self.other}` where the plain program prints `{self.plain}`"


@dataclass(frozen=True, slots=True)
class Reference:
    """What the plain program prints, of several runs."""

    runs: tuple[tuple[Line, ...], ...]

    def classes(self) -> list[str]:
        """All that a run printed, in order of first appearance."""
        return list(dict.fromkeys(line.shape for run in self.runs for line in run))

    def of_class(self, shape: str) -> list[list[Line]]:
        return [[line for line in run if line.shape == shape] for run in self.runs]

    def unsteady(self) -> list[str]:
        """A line of each class that the runs do not print equally often, or of whose numbers some differ between them
        by more than rounding: those are stars."""
        found = []
        for shape in self.classes():
            runs = self.of_class(shape)
            line = next(line for run in runs for line in run)
            if len({len(run) for run in runs}) > 1:
                found.append(line.text)
                continue
            free = min((_free(order) for order in (runs, [_sorted(run) for run in runs])), key=len)
            if free:
                found.append(_starred(line, {column for _, column in free}))
        return found


def reference(texts: Sequence[str], ignored: Sequence[re.Pattern[str]] = ()) -> Reference:
    """What the plain program printed, by the output of its runs."""
    return Reference(tuple(tuple(lines_of(text, ignored)) for text in texts))


def differences(plain: Reference, text: str, ignored: Sequence[re.Pattern[str]] = ()) -> list[Difference]:
    """Where another form's output differs, in the order in which that form prints, then what it does not print."""
    lines = lines_of(text, ignored)
    count = Counter(line.shape for line in lines)
    known = {shape: plain.of_class(shape) for shape in plain.classes()}
    wrong: dict[int, Difference] = {}
    missing: list[Difference] = []
    for shape in dict.fromkeys([*(line.shape for line in lines), *known]):
        mine = [line for line in lines if line.shape == shape]
        runs = known.get(shape)
        if runs is None:
            wrong.update({id(line): Difference("", line.text) for line in mine})
        elif len({len(run) for run in runs}) > 1:
            continue  # the plain program itself prints it now and then
        elif count[shape] != len(runs[0]):
            longer, shorter = (mine, runs[0]) if count[shape] > len(runs[0]) else (runs[0], mine)
            rest = Counter(line.text for line in longer)
            rest.subtract(line.text for line in shorter)
            odd = next((line for line in longer if rest[line.text] > 0), longer[-1])
            if longer is mine:
                wrong[id(odd)] = Difference("", odd.text)
            else:
                missing.append(Difference(odd.text, ""))
        else:
            for expected, line in _least(runs, mine):
                wrong[id(line)] = Difference(expected.text, line.text, bool(TIMES.search(line.text)))
    return [wrong[id(line)] for line in lines if id(line) in wrong] + missing


def _starred(line: Line, columns: Set[int]) -> str:
    """The line with a star in place of the numbers in these columns."""
    pieces = NUMBER.split(line.text)
    numbers = ["*" if column in columns else number for column, number in enumerate(line.numbers)]
    return "".join(text + number for text, number in zip(pieces, [*numbers, ""], strict=True))


def _sorted(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: line.values)


def _least(runs: Sequence[Sequence[Line]], mine: Sequence[Line]) -> list[tuple[Line, Line]]:
    """The mismatches in the order, as printed or by value, in which the plain runs leave less open; where they leave as
    much, in the one with fewer."""
    by_value = [_sorted(run) for run in runs]
    open_as_printed, open_by_value = len(_free(runs)), len(_free(by_value))
    found = []
    if open_as_printed <= open_by_value:
        found.append(_mismatches(runs, mine))
    if open_by_value <= open_as_printed:
        found.append(_mismatches(by_value, _sorted(mine)))
    return min(found, key=len)


def _same(one: float, other: float) -> bool:
    return one == other or (one != one and other != other)


def _free(runs: Sequence[Sequence[Line]]) -> list[tuple[int, int]]:
    """The numbers, by line and column, that differ between the runs by more than rounding."""
    return [
        (number, column)
        for number, place in enumerate(zip(*runs, strict=True))
        for column, at in enumerate(zip(*(line.values for line in place), strict=True))
        if not all(_same(value, at[0]) for value in at) and not _rounding(at)
    ]


def _rounding(values: Sequence[float]) -> bool:
    return max(values) - min(values) <= ROUNDING * max(map(abs, values))


def _allowed(values: Sequence[float], value: float) -> bool:
    """Whether a number is as the plain program's, which it printed in several runs."""
    if all(_same(one, values[0]) for one in values):
        return _same(value, values[0])
    if not _rounding(values):
        return True
    low, high = min(values), max(values)
    return low - WIDER * (high - low) <= value <= high + WIDER * (high - low)


def _mismatches(runs: Sequence[Sequence[Line]], mine: Sequence[Line]) -> list[tuple[Line, Line]]:
    """Pairs of a line as expected and as printed."""
    found = []
    for number, line in enumerate(mine):
        place = [run[number] for run in runs]
        columns = zip(*(one.values for one in place), strict=True)
        if not all(_allowed(column, value) for column, value in zip(columns, line.values, strict=True)):
            found.append((place[0], line))
    return found
