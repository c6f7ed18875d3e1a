"""--fix FILE:LINE: the program's own text is changed so that one site converts, and does what it did.

Each change is tried first: the program with it is parsed and analysed as any other, and the site has to convert.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from opi_xform.attempts.again import Again, Tried, converted, site
from opi_xform.changes.find import NOTHING_TO_GAIN, Finder
from opi_xform.changes.model import Change
from opi_xform.cli.inputs.shown import shown
from opi_xform.cli.outcome import Failure, fail
from opi_xform.divide.places import Offsets
from opi_xform.file_names import standing
from opi_xform.ir.ast import Unit
from opi_xform.ownership.model.buffers import Program
from opi_xform.ownership.model.plan import Decision, Plan, SiteKey
from opi_xform.record import dataclass
from opi_xform.text.edit import ByteEdit, EditConflict, apply_edits

ROUNDS = 2  # analyses for the advice on all sites
LARGEST = 20_000  # nodes of a program for which they are made
_MOVED = "after a change, lines may have moved since the table was printed"


@dataclass(frozen=True, slots=True)
class Fixed:
    """A site, the change with which it converts, and the files that the change makes, by name in ``Sources``.

    lost: sites that convert without it, and stay with it.
    """

    decision: Decision
    change: Change
    texts: Mapping[str, bytes]
    lost: tuple[Decision, ...]


def fixed(where: str, program: Program | None, units: Sequence[Unit], plan: Plan, again: Again) -> Fixed:
    """The first change with which a site at ``FILE:LINE`` converts.  Raises Failure."""
    file, line = place(where)
    sources = again.sources
    here = [d for d in plan.decisions if (sources.name(d.span.file), d.span.line) == (sources.name(file), line)]
    kept = [d for d in here if d.decision == "keep"]
    if not here and not any(sources.name(file) in map(sources.name, (unit.path, *unit.files)) for unit in units):
        raise fail("not among the files that are read; name one as the table does", shown(file), line)
    if not here:
        named = "no message's call begins here; the table names each site's file and line"
        raise fail(f"{named}; {_MOVED}{_nearest(plan, sources.name(file), line, again)}", shown(file), line)
    if not kept:
        near = _nearest(plan, sources.name(file), line, again)
        raise fail(f"what is here converts as it is; there is nothing to change; {_MOVED}{near}", shown(file), line)
    if program is None:
        raise fail("the program is too large for a change to be tried; see --explain OPI401", shown(file), line)
    finder = Finder(program, units, sources, again.flags)
    why = None
    for decision in kept:
        for change in finder.of(decision):
            if not all(_below(name, again.root) for name in change.edits):
                raise fail(f"lies outside {shown(again.root)}; --root DIR widens what may be edited", shown(file), line)
            found = trial(again, [change], plan)
            done = set() if found is None else converted(found[0].plan)
            if found is not None and site(decision) in done:
                lost = tuple(d for d in plan.decisions if d.decision == "convert" and site(d) not in done)
                return Fixed(decision, change, found[1], lost)
            why = why or _left(decision, change, found)
    raise why or _nothing(kept[0])


def _nearest(plan: Plan, file: str, line: int, again: Again) -> str:
    """The site of a file that stays and is nearest to a line, in words: it may be meant."""
    found = [d.span.line for d in plan.decisions if d.decision == "keep" and again.sources.name(d.span.file) == file]
    return f": the nearest site that stays is at line {min(found, key=lambda n: abs(n - line))}" if found else ""


def advised(program: Program, units: Sequence[Unit], plan: Plan, again: Again) -> dict[SiteKey, str]:
    """What --fix would do, for the sites that convert with it: changes of many sites are tried in one analysis.

    A call has one change in each; what does not help gives way to the next.  Raises Failure.
    """
    out: dict[SiteKey, str] = {}
    if len(program.graph.nodes) > LARGEST:
        return out
    finder = Finder(program, units, again.sources, again.flags)
    waiting = [change for d in plan.decisions for change in finder.of(d)]
    for _ in range(ROUNDS):
        first: dict[tuple[str, int], Change] = {}
        for change in waiting:
            if change.site not in out:
                first.setdefault(change.site[:2], change)
        found = trial(again, list(first.values()), plan) if first else None
        if found is None:
            break
        done = converted(found[0].plan)
        out.update((change.site, change.words) for change in first.values() if change.site in done)
        waiting = [change for change in waiting if first.get(change.site[:2]) is not change]
    return out


def place(where: str) -> tuple[str, int]:
    """The file and line of ``FILE:LINE``.  Raises Failure."""
    file, _, line = where.rpartition(":")
    if not file or not line.isdecimal() or int(line) < 1:
        raise fail(f"--fix needs FILE:LINE, as the table names a site, and {where!r} is none")
    return file, int(line)


def trial(again: Again, changes: Sequence[Change], plan: Plan) -> tuple[Tried, Mapping[str, bytes]] | None:
    """What is decided of the program with the changes, and their texts; None where it is no program any more."""
    sources = again.sources
    edits: dict[str, dict[ByteEdit, None]] = {}
    for change in changes:
        for file, ones in change.edits.items():
            edits.setdefault(sources.name(file), {}).update(dict.fromkeys(ones))
    try:
        texts = {file: apply_edits(sources.data(file), ones) for file, ones in edits.items()}
        moved = {file: Offsets(sources.data(file), ones) for file, ones in edits.items()}
        found = again.attempt(texts, moved, plan)
    except EditConflict:
        return None
    except OSError as error:
        raise fail(f"a trial needs a temporary directory ({error.strerror or error}); set TMPDIR") from error
    return None if found is None else (found, texts)


def _left(decision: Decision, change: Change, found: tuple[Tried, Mapping[str, bytes]] | None) -> Failure:
    file, line = shown(decision.span.file), decision.span.line
    if found is None:
        return fail(f"with {change.words} the program does not compile; nothing was written", file, line)
    rest = next((d for d in found[0].plan.decisions if site(d) == site(decision)), decision)
    message = f"{rest.code}: {' '.join(rest.message.split())}"
    more = f"opi-xform --explain {rest.code} tells what is in the way"
    return fail(f"stays with {change.words}, too ({message}); nothing was written; {more}", file, line)


def _nothing(decision: Decision) -> Failure:
    code = decision.code
    if code in NOTHING_TO_GAIN:
        message = "nothing would be gained here, or the site is kept on request"
    else:
        message = "no change is known that surely keeps what the program does"
    return fail(f"{message}; opi-xform --explain {code} tells more", shown(decision.span.file), decision.span.line)


def _below(file: str, folder: str) -> bool:
    return os.path.commonpath([os.path.realpath(folder), standing(file)]) == os.path.realpath(folder)
