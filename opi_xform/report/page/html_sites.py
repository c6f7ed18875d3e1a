"""The sites of --report, under labels of their own, and the buffers that they are about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from opi_xform.ownership.model.plan import Decision
from opi_xform.record import dataclass
from opi_xform.report.page.html_lives import LifeRow
from opi_xform.report.page.lives import BufferLife, written
from opi_xform.report.page.moments import Moment
from opi_xform.report.page.story import ROLES


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path, or one place; ``link`` is the line's anchor in the page ('' when not shown)."""

    place: str
    link: str
    text: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """A row of the table of sites.

    label: the place, and as much more as tells it apart from every other site.  buffers: the ids of those that it may
    be about.  bytes: of its messages, in words.
    """

    id: str
    decision: Decision
    label: str
    title: str
    place: Step
    path: tuple[Step, ...]
    buffers: tuple[str, ...]
    bytes: str = ""


@dataclass(frozen=True, slots=True)
class BufferView:
    """A buffer: its sites, what was inserted for it, and what happens to it in the order of the flow.

    label: the name, and as much more as tells it apart.  verdict: ``converts``, ``stays`` or how many of its sites
    convert.  put: calls that were put into the sources.  arrows: an SVG beside ``rows``; left_out: rows that are too
    many.  note: what could not be shown.
    """

    id: str
    label: str
    verdict: str
    kind: str
    sites: tuple[Site, ...]
    put: tuple[Step, ...]
    rows: tuple[LifeRow, ...]
    arrows: str
    left_out: int
    note: str


def site_labels(decisions: Sequence[Decision], places: Sequence[str]) -> list[str]:
    """A label for each site that no other one has; ``places``: where they are, as ``file:line``."""
    return _apart(
        [
            [place, f"{place}:{d.span.column}", f"{place} {d.side}", f"{place}:{d.span.column} {d.side}"]
            for place, d in zip(places, decisions, strict=True)
        ]
    )


def buffer_labels(found: Sequence[BufferLife], place: Callable[[BufferLife], str]) -> list[str]:
    """A label for each buffer that no other one has."""
    words = []
    for life in found:
        functions = ", ".join(sorted({f for f, w in life.roles.items() if {"sends", "receives"} & set(w)})[:2])
        first, second = f"{life.name} in {functions}", f"{life.name} at {place(life)}"
        words.append([life.name, first if functions else second, second])
    return _apart(words)


def _apart(words: Sequence[Sequence[str]]) -> list[str]:
    """Of each list the first text that no other list has; where all are shared, the last one with a number."""
    shared = Counter(text for texts in words for text in dict.fromkeys(texts))
    chosen = [next((text for text in texts if shared[text] == 1), texts[-1]) for texts in words]
    again = Counter(chosen)
    number: Counter[str] = Counter()
    out = []
    for text in chosen:
        number[text] += 1
        out.append(f"{text} #{number[text]}" if again[text] > 1 else text)
    return out


def lives_of_all(decisions: Sequence[Decision], known: Sequence[BufferLife]) -> list[BufferLife]:
    """The known lives of the sites, and for sites that are in none what they tell themselves; in the sites' order."""
    of_site: dict[tuple[str, int, str], list[BufferLife]] = {}
    for life in known:
        for site in life.sites:
            of_site.setdefault(site, []).append(life)
    found: dict[int, BufferLife] = {}
    alone: dict[tuple[str, str, str], list[Decision]] = {}
    order: list[tuple[str, str, str] | int] = []
    for d in decisions:
        mine = of_site.get((d.span.file, d.span.begin, d.side), [])
        for life in mine:
            found.setdefault(id(life), life)
            order.append(id(life))
        if not mine:
            key = (d.span.file, d.function, written(d.buffer))
            alone.setdefault(key, []).append(d)
            order.append(key)
    return [found[key] if isinstance(key, int) else _told(alone[key]) for key in dict.fromkeys(order)]


def _told(mine: Sequence[Decision]) -> BufferLife:
    """The life of a buffer of which nothing but its sites is known."""
    function = mine[0].function
    return BufferLife(
        written(mine[0].buffer),
        frozenset((d.span.file, d.span.begin, d.side) for d in mine),
        tuple(Moment(d.span.file, d.span.line, function, d.side) for d in mine),
        {function: tuple(sorted({ROLES[d.side] for d in mine}))},
        {},
        note="Nothing but its calls is known here.",
    )


def verdict(converted: int, total: int) -> tuple[str, str]:
    """What becomes of a buffer, in words and as a class."""
    if converted == total:
        return "converts", "convert"
    return ("stays", "keep") if not converted else (f"{converted} of {total} convert", "convert")


def sites_of(sites: Sequence[Site]) -> Mapping[str, tuple[Site, ...]]:
    """By buffer."""
    found: dict[str, list[Site]] = {}
    for site in sites:
        for key in site.buffers:
            found.setdefault(key, []).append(site)
    return {key: tuple(mine) for key, mine in found.items()}
