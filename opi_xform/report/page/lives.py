"""The life of each buffer for people: what happens to it along the flow of control, and the states of the tables there.

The pattern tables (docs/book/automata.md) say what the code from a moment on does to the buffer; for a buffer that
converts, the carrier's table says what its pointer holds in the transformed program.
Of a buffer whose memory is not known for certain it is told what may happen to it.  Nothing here decides anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from opi_xform.memory.objects import UNKNOWN
from opi_xform.ownership.buffers.uses import buffers, collect
from opi_xform.ownership.model.addresses import flow_of, value_refusal
from opi_xform.ownership.model.buffers import Buffer, Program, Use
from opi_xform.ownership.model.plan import Decision, Plan, SiteKey
from opi_xform.ownership.model.traced import path
from opi_xform.ownership.placement.place import Placement, place
from opi_xform.ownership.swaps import joined
from opi_xform.record import dataclass
from opi_xform.report.page.moments import Moment, calls_to, function_of, merged
from opi_xform.report.page.story import ROLES, Story
from opi_xform.report.page.touched import MOST_OBJECTS, MOST_PLACES, Named, happenings, moments_of, named_by, places

_READS = frozenset(("101", "102", "201", "202", "203", "216"))
_PLAIN = {**ROLES, "write": "writes", "read": "reads"}
"""File, offset of the call, side."""
_Roles = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class BufferLife:
    """One source-level buffer, or what calls that stay may be about.

    sites: those of its calls.  roles: function -> what it does itself, sorted; through: what the functions do that it
    calls; calls: those by which all this is reached, as (caller, called).  note: what could not be shown ('': nothing).
    """

    name: str
    sites: frozenset[SiteKey]
    moments: tuple[Moment, ...]
    roles: Mapping[str, tuple[str, ...]]
    through: Mapping[str, tuple[str, ...]]
    calls: frozenset[tuple[str, str]] = frozenset()
    note: str = ""


def lives(program: Program, plan: Plan, strict: bool) -> tuple[BufferLife, ...]:
    """Of every buffer of the plan's sites, in the order in which the program names them; those last of which no call
    is reached.  Every site is one of at least one life.
    """
    decided = {(d.span.file, d.span.begin, d.side): d for d in plan.decisions}
    uses = collect(program)
    groups: list[Buffer] = []
    if not program.nest.irreducible:
        groups, _ = buffers(program, uses)
        groups, _ = joined(program, groups, strict)
    named = Named(program, uses)
    found = [_life(program, buffer, decided, strict, named) for buffer in groups]
    grouped = {(u.node, u.argument) for buffer in groups for u in buffer.uses}
    found += _stray(program, [u for u in uses if (u.node, u.argument) not in grouped], decided, named)
    reached = {site for life in found for site in life.sites}
    return (*found, *_unreached(program, {site: d for site, d in decided.items() if site not in reached}))


def functions(program: Program) -> dict[str, tuple[tuple[int, str], ...]]:
    """Of each file the functions with a body, each with the line where it begins, in order."""
    found: dict[str, set[tuple[int, str]]] = {}
    for function in program.functions.values():
        found.setdefault(function.span.file, set()).add((function.span.line, function.name))
    return {file: tuple(sorted(begins)) for file, begins in sorted(found.items())}


def _life(
    program: Program, buffer: Buffer, decided: Mapping[SiteKey, Decision], strict: bool, named: Named
) -> BufferLife:
    sites = {use.place[:3]: decided.get(use.place[:3]) for use in buffer.uses}
    out = {(n.span.file, n.span.line) for d in sites.values() if d and d.code[3:] in _READS for n in d.notes}
    converted = frozenset(u.place for u in buffer.uses if (d := sites[u.place[:3]]) and d.decision == "convert")
    stories = [Story(program, buffer, o, strict, out, named) for o in buffer.objects]
    holds, acquired = _held(program, buffer, converted, frozenset(n for story in stories for n in story.nodes))
    moments: list[Moment] = []
    words: list[tuple[int, str]] = []
    followed = True
    for story in stories:
        moments += story.moments(holds, len(moments), acquired, converted)
        words += [(n, word) for n in story.nodes for word in sorted(story.words(n))]
        followed = followed and bool(story.succs)
    shown = merged(moments) if followed else [replace(m, then=()) for m in merged(moments)]
    note = "" if followed else "What follows what is too much to be told here, and so are the states."
    return BufferLife(buffer.name, frozenset(sites), tuple(shown), *_roles(program, words), note)


def _roles(program: Program, words: Iterable[tuple[int, str]]) -> tuple[_Roles, _Roles, frozenset[tuple[str, str]]]:
    """What functions do themselves, and through which calls; of nodes, each with a word."""
    own: dict[str, set[str]] = {}
    through: dict[str, set[str]] = {}
    calls: set[tuple[str, str]] = set()
    for n, word in words:
        function, above = function_of(program, n), calls_to(program, n)
        own.setdefault(function, set()).add(word)
        calls.update(above)
        for caller in {caller for caller, _ in above} - {function}:
            through.setdefault(caller, set()).add(word)
    first, second = ({f: tuple(sorted(w)) for f, w in sorted(found.items())} for found in (own, through))
    return first, second, frozenset(calls)


def _stray(
    program: Program, uses: Iterable[Use], decided: Mapping[SiteKey, Decision], named: Named
) -> list[BufferLife]:
    """Of uses whose buffer is not one known object with a name: what may happen to all that they may be of."""
    groups: dict[tuple[tuple[str, ...], str, str], list[tuple[Use, frozenset[int]]]] = {}
    for use in uses:
        d = decided.get(use.place[:3])
        objects = named_by(program, use)
        memory = places(program, objects - {UNKNOWN}) if len(objects) <= MOST_OBJECTS else []
        note = _uncertain(objects, memory)
        told = tuple(memory) if len(memory) <= MOST_PLACES else ()
        # Where nothing tells which memory it is, one function's pointer of one name is one buffer for people.
        name = "" if told or d is None else f"{d.function} {written(d.buffer)}"
        groups.setdefault((told, name, note), []).append((use, objects - {UNKNOWN} if told else frozenset()))
    found = []
    for (_, _, note), mine in groups.items():
        own: frozenset[int] = frozenset().union(*(objects for _, objects in mine))
        sites = frozenset(u.place[:3] for u, _ in mine)
        names = dict.fromkeys(written(d.buffer) for u, _ in mine if (d := decided.get(u.place[:3])))
        happening = happenings(program, own, [u for u, _ in mine], named)
        words = [(h.node, _PLAIN[h.what]) for h in happening]
        moments = tuple(merged(moments_of(program, happening)))
        found.append(BufferLife(", ".join(names) or "a buffer", sites, moments, *_roles(program, words), note))
    return found


def _uncertain(objects: frozenset[int], memory: Sequence[str]) -> str:
    if not objects - {UNKNOWN}:
        return "Which memory this is could not be shown: these are its calls."
    if not 0 < len(memory) <= MOST_PLACES:
        many = f"{len(memory)} pieces" if memory else "many pieces"
        return f"Which of {many} of memory this is could not be shown: these are its calls."
    words = ", ".join(memory)
    if UNKNOWN in objects:
        return f"It may be {words}, or other memory: this is what may happen to what is known."
    if len(objects) > 1:
        return f"It may be {words}: this is what may happen to all of it."
    return f"It is {words}."


def _unreached(program: Program, rest: Mapping[SiteKey, Decision]) -> list[BufferLife]:
    """Of calls that are not reached; one life for what a function calls by one name."""
    groups: dict[tuple[str, str], list[SiteKey]] = {}
    for site, d in rest.items():
        groups.setdefault((d.function, written(d.buffer)), []).append(site)
    found = []
    for (function, name), sites in groups.items():
        words = tuple(sorted({ROLES[side] for _, _, side in sites}))
        moments = tuple(Moment(rest[s].span.file, rest[s].span.line, function, s[2]) for s in sites)
        note = "The analysis does not reach these calls, and cannot tell what else happens to it."
        found.append(BufferLife(name, frozenset(sites), moments, {function: words}, {}, note=note))
    return found


_START = re.compile(r"(?:\([^()]*\*\s*\)|[\s&*(])*")
_STEP = re.compile(r"\s*(?:(->|\.)\s*([A-Za-z_]\w*)|\[)")
_WORD = re.compile(r"[A-Za-z_]\w*")


def written(buffer: str) -> str:
    """What a buffer expression is about, as it is written: ``p->data`` of ``(void *)&p->data[i * n] + k``."""
    text = " ".join(buffer.split())
    found = _WORD.match(text, _START.match(text).end())  # type: ignore[union-attr]
    if found is None:
        return text
    begin, end = found.span()
    at = end
    while step := _STEP.match(text, at):
        at = step.end()
        if step[1]:
            end = at
            continue
        depth = 1
        while at < len(text) and depth:
            depth += {"[": 1, "]": -1}.get(text[at], 0)
            at += 1
    return text[begin:end]


def _held(
    program: Program, buffer: Buffer, converted: frozenset[tuple[str, int, str, int]], nodes: frozenset[int]
) -> tuple[Mapping[int, int], frozenset[int]]:
    """What the pointer holds behind nodes, as the carrier's table was run; and the nodes after which it is set."""
    if not converted:
        return {}, frozenset()
    shape = value_refusal(flow_of(program, buffer))
    lifted = {key for u in buffer.uses if u.place in converted for key in path(program, u)[0]}
    changed = replace(buffer, lifted=frozenset(lifted))
    placed = place(program, changed, converted, getattr(shape, "null_tests", ()), shown=nodes)
    if not isinstance(placed, Placement):
        return {}, frozenset()
    return placed.holds, frozenset(n for n, at in placed.acquires if at == "after")
