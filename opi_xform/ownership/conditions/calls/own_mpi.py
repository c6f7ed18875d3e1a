"""Messages that go past libopi: functions of the program's own by the MPI's names, and calls by the profiling names.

A program's own ``MPI_Send`` counts its calls, say, and goes on to ``PMPI_Send``.  That is a function of the program: it
must go on being called, and what it sends is a message of the MPI below, which no OPI_Take waits for; a ``MPI_Wait`` of
its own knows nothing of libopi's requests.  The same holds for calls of ``PMPI_Send`` and its like anywhere.  So no
site of such a program converts, and libopi steps back where a name is not its own (runtime/process/base/overridden.c).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opi_xform.codes import Reason
from opi_xform.effects.model import FunctionEffect
from opi_xform.ir import ast
from opi_xform.ir.calls import called_name, calls_of
from opi_xform.ir.span import Span
from opi_xform.ownership.deciding.condition import Condition
from opi_xform.ownership.deciding.facts import ProgramFacts
from opi_xform.ownership.model.buffers import Refusal

_MINE = ("MPI_", "PMPI_", "OPI_")
_SENDS = ("send", "sendrecv")
_APART = frozenset({"collective", "rma", "io"})
"""What libopi leaves to the MPI: called by either name, it is the same."""
_DOES = {
    "send": "what it sends reaches no receive of libopi's",
    "sendrecv": "what it sends reaches no receive of libopi's",
    "recv": "what libopi sends does not reach it",
    "probe": "what libopi sends does not reach it",
    "complete": "what it completes is no request of libopi's",
}
"""How messages go past libopi by calls of a kind; by others, requests do."""


def check(facts: ProgramFacts) -> Refusal | None:
    """Messages go past libopi."""
    passing = bypass(facts.units, facts.program.effects)
    if passing is None:
        return None
    span, message = passing
    return Refusal(Reason.CALL_FORM, message, ((span, "here"),))


def bypass(units: Sequence[ast.Unit], effects: Mapping[str, FunctionEffect]) -> tuple[Span, str] | None:
    """The first place where messages go past libopi, and how; None when there is none."""
    for unit in units:
        for key, function in sorted(unit.functions.items(), key=lambda item: item[1].span.begin):
            if key.startswith(_MINE) and key in effects:
                what = "is not libopi's" if key.startswith("OPI_") else "and what it calls bypass libopi"
                return function.span, f"the program has its own `{key}`: that {what}"
    passing: list[tuple[Span, str]] = []
    for unit in units:
        for function in sorted(unit.functions.values(), key=lambda f: f.span.begin):
            if any(_passes(name, effects) for name in unit.address_taken_functions):
                return function.span, "a PMPI_ function is called through a pointer, and bypasses libopi"
            for call in calls_of(function):
                name = called_name(call)
                if _passes(name, effects):
                    passing.append((call.span, name))
    sends = [found for found in passing if _kind(found[1], effects) in _SENDS]
    if not passing:
        return None
    span, name = (sends or passing)[0]
    does = _DOES.get(_kind(name, effects), "the request that it is given is none of the MPI's")
    return span, f"`{name}` bypasses libopi: {does}; `{name[1:]}` would not"


def _kind(name: str, effects: Mapping[str, FunctionEffect]) -> str:
    effect = effects.get(name)
    return effect.mpi.kind if effect is not None and effect.mpi is not None else ""


def _passes(name: str, effects: Mapping[str, FunctionEffect]) -> bool:
    """A profiling name of what libopi does."""
    return name.startswith("PMPI_") and (kind := _kind(name, effects)) != "" and kind not in _APART


CONDITION = Condition(
    "form of the call",
    "The call is the MPI's own.",
    cases=("g_own_mpi_*", "g_profiling_*"),
    enforced=("ownership.conditions.calls.own_mpi:bypass",),
    program=check,
)
