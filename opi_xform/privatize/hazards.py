"""What hinders ranks that share a process, beside the variables themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from opi_xform.ir.span import Span
from opi_xform.ir.types import Type
from opi_xform.ownership.model.plan import Decision
from opi_xform.privatize.model import CALLBACK, MINE, PREFIX, PROCESS, STATE, THREADS
from opi_xform.privatize.program import Whole, reached
from opi_xform.privatize.table import Shared, table


def threads_of_its_own(whole: Whole) -> dict[str, str]:
    """Variables that threads of the program or signal handlers may use, with why.

    Such code runs on a thread that is not the rank's: it would find another copy.
    """
    found: dict[str, str] = {}
    roots = [(number, key) for number, unit in enumerate(whole.units) for key, r in unit.routines.items() if r.parallel]
    for kind, starters, why in (
        ("parallel", roots, "an OpenMP region may use it: its threads would find other copies"),
        (
            "threads",
            _started(whole, table().threads),
            "threads of the program may use it: they would find other copies",
        ),
        ("signals", _started(whole, table().signals), "a signal handler may use it, on whatever thread it runs"),
    ):
        del kind
        touched = reached(whole, starters) if starters else set()
        for number, unit in enumerate(whole.units):
            for use in unit.uses:
                if use.what in ("sizeof", "type", "init") or (number, use.function) not in touched:
                    continue
                found.setdefault(
                    whole.key_of[number, use.key], f"{why} (`{_name(use.function)}`, line {use.span.line})"
                )
    return found


def _started(whole: Whole, entries: Mapping[str, Shared]) -> list[tuple[int, str]]:
    """Functions that may be handed to one of ``entries``: those of a fitting type whose address is taken."""
    wanted = {entries[call.name].signature for unit in whole.units for call in unit.calls if call.name in entries}
    if not wanted:
        return []
    found = []
    for number, unit in enumerate(whole.units):
        taken = (*unit.taken, *(k for r in unit.routines.values() for k in r.taken))
        for key in dict.fromkeys(taken):
            type_ = unit.types.get(key)
            if type_ is None or any(_fits(type_, signature) for signature in wanted):
                found.append((number, key))
    return found


def _fits(type_: Type, signature: str) -> bool:
    """Whether a function may be of the type that begins like ``signature``; one without a prototype may be any."""
    spelling = " ".join(type_.spelling.split())
    return type_.params is None or type_.kind != "function" or spelling.startswith(signature)


def remarks(whole: Whole, private: set[str]) -> Iterator[Decision]:
    """Remarks in source order, each place once."""
    found: dict[tuple[str, int, str], Decision] = {}
    for remark in _all(whole, private):
        found.setdefault((remark.span.file, remark.span.begin, remark.code), remark)
    yield from sorted(found.values(), key=lambda d: (d.span.file, d.span.begin, d.code))


def _all(whole: Whole, private: set[str]) -> Iterator[Decision]:
    known = table()
    own = {key for unit in whole.units for key in unit.routines}
    users = _users(whole, private)
    for number, unit in enumerate(whole.units):
        for call in unit.calls:
            if call.name in own or call.function.rpartition(":")[2].startswith((PREFIX, MINE)):
                continue
            if call.name in known.state:
                yield _remark(call.span, STATE, f"`{call.name}` {known.state[call.name].advice}")
            if call.name in known.process:
                yield _remark(call.span, PROCESS, f"`{call.name}` {known.process[call.name].advice}")
            if call.name in known.threads:
                message = f"`{call.name}` starts a thread: it belongs to no rank, and must make no MPI call"
                yield _remark(call.span, THREADS, message)
            if call.name in known.callbacks:
                for passed in call.passed:
                    touched = sorted(users[key] for key in reached(whole, [(number, passed)]) if key in users)
                    if touched:
                        message = (
                            f"`{_name(passed)}` uses `{touched[0]}`, which is private: `{call.name}` hands it to a "
                            "library, which may run it for another rank"
                        )
                        yield _remark(call.span, CALLBACK, message)
        for key, routine in unit.routines.items():
            if _name(key).startswith((PREFIX, MINE)):
                continue
            if routine.parallel:
                message = f"`{_name(key)}` has an OpenMP region: each rank would have a team of its own"
                yield _remark(routine.span, THREADS, message)
            if routine.constructor:
                touched = sorted(users[k] for k in reached(whole, [(number, key)]) if k in users)
                if touched:
                    message = f"`{_name(key)}` runs outside main and uses `{touched[0]}`: no rank will see it"
                    yield _remark(routine.span, CALLBACK, message)


def _users(whole: Whole, private: set[str]) -> dict[tuple[int, str], str]:
    """Functions that use a private variable: its name."""
    found: dict[tuple[int, str], str] = {}
    for number, unit in enumerate(whole.units):
        for use in unit.uses:
            key = whole.key_of[number, use.key]
            if key in private and use.what not in ("sizeof", "type", "init"):
                found.setdefault((number, use.function), whole.variables[key].name)
    return found


def _name(key: str) -> str:
    return key.rpartition(":")[2]


def _remark(span: Span, code: str, message: str) -> Decision:
    return Decision(span, "", "", "", "", "", "keep", code, message)
