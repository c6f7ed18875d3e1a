"""The facts that conditions look at, each computed once: of a program, a buffer, a site, and of sites that would go.

What is computed late is a ``cached_property``: a condition that keeps a buffer early saves the time for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ownership.deciding.judging import Judging, Known, judge
from opi_xform.ownership.explain.culprits import (
    least_count,
    readers_after,
    written_between,
)
from opi_xform.ownership.explain.hints import with_hint
from opi_xform.ownership.explain.later import silent_before, silent_receive
from opi_xform.ownership.explain.part_reasons import beside_refusal
from opi_xform.ownership.explain.pointers.row_uses import read_in_another_row, supposed_refusal
from opi_xform.ownership.explain.pointers.settings import read_as_one_of_several
from opi_xform.ownership.explain.reaching.in_common import meets, written_before
from opi_xform.ownership.explain.reasons import liveness_refusal
from opi_xform.ownership.liveness.findings import Finding
from opi_xform.ownership.liveness.liveness import Judge
from opi_xform.ownership.model.addresses import AddressFlow, ValueCheck, flow_of, value_refusal
from opi_xform.ownership.model.buffers import Buffer, Options, Place, Program, Refusal, Use
from opi_xform.ownership.model.plan import Edit, StopOthers
from opi_xform.ownership.patterns.agree import Patterns
from opi_xform.ownership.placement.place import Placement
from opi_xform.ownership.placement.renewal import Renewal
from opi_xform.ownership.requests.pending import NO_WAITS, Waits
from opi_xform.ownership.spelling.configurations import left_out
from opi_xform.ownership.spelling.declarations import array_edits
from opi_xform.ownership.spelling.parameters import Parameters, parameters_of
from opi_xform.record import dataclass

COPIES = 4  # of one call, for which a hint is tried

WORDLESS = Refusal(Reason.READ_LATER, "")
"""Some reason of a place of which another buffer tells why it stays."""


@dataclass(frozen=True, eq=False)
class ProgramFacts:
    """A program and what is asked of it.  together: see ``replacing_together``."""

    units: Sequence[ast.Unit]
    program: Program
    options: Options
    together: frozenset[Place] = frozenset()

    @cached_property
    def parameters(self) -> Parameters:
        """Pointers that functions are given."""
        return parameters_of(self.program, self.units)


@dataclass(frozen=True, eq=False)
class BufferFacts:
    """One buffer.  found: as ``buffers`` has it; ``buffer`` is the same with what liveness says of it.

    known: what was found out of its memory for other names of it.  unasked: for questions that liveness has no part in.
    told_only: none of its sites converts, whatever liveness says.
    """

    of: ProgramFacts
    found: Buffer
    known: Known = field(default_factory=dict)
    unasked: bool = False
    told_only: bool = False

    @property
    def units(self) -> Sequence[ast.Unit]:
        return self.of.units

    @property
    def program(self) -> Program:
        return self.of.program

    @property
    def options(self) -> Options:
        return self.of.options

    @cached_property
    def _flows(self) -> dict[frozenset[str], AddressFlow]:
        return {}

    def flow(self, lifted: frozenset[str] = frozenset()) -> AddressFlow:
        """Where its address is held, these parameters standing for its carrier; liveness has no part in that."""
        if lifted not in self._flows:
            self._flows[lifted] = flow_of(self.program, replace(self.found, lifted=lifted))
        return self._flows[lifted]

    @cached_property
    def values(self) -> ValueCheck:
        """What is done with its address, and where that is compared with NULL."""
        return value_refusal(self.flow())

    @cached_property
    def liveness(self) -> Judging:
        """Which of its bytes are needed where."""
        if self.unasked:
            return Judging({}, self.found, frozenset(), ())
        return judge(self.program, self.found, self.options, self.of.together, self.known, self.told_only)

    @property
    def judges_so_far(self) -> Mapping[int, Judge]:
        """By object: its liveness; none of a buffer that stays for what is known without it."""
        return self.liveness.judges if "liveness" in self.__dict__ else {}

    @property
    def buffer(self) -> Buffer:
        return self.liveness.buffer

    @cached_property
    def left_out(self) -> Refusal | tuple[StopOthers, ...]:
        """Why text that the preprocessor leaves out keeps it, or what sees to it that it stays left out."""
        return left_out(self.units, self.flow(), self.options.strict)

    @property
    def left_out_so_far(self) -> Refusal | tuple[StopOthers, ...] | None:
        """The same, where it was asked for."""
        return self.left_out if "left_out" in self.__dict__ else None

    @cached_property
    def patterns(self) -> dict[int, Patterns]:
        """By object: the second way to the answer of liveness."""
        return {o: Patterns(self.program, self.buffer, o, one.packed) for o, one in self.liveness.judges.items()}


@dataclass(frozen=True, eq=False)
class Site:
    """One use in the source, in all copies of its function.  wordless: nobody reads why it stays."""

    facts: BufferFacts
    place: Place
    uses: list[Use]
    wordless: bool

    @property
    def program(self) -> Program:
        return self.facts.program

    @property
    def buffer(self) -> Buffer:
        return self.facts.buffer

    def finding(self, use: Use) -> Finding | None:
        """What liveness says of one copy."""
        return self.facts.liveness.judges[use.object].findings.get((use.node, use.argument))

    @cached_property
    def needed(self) -> Refusal | None:
        """What is needed after the first copy whose liveness lets nothing pass; None where all do."""
        for i, use in enumerate(self.uses):
            finding = self.finding(use)
            if finding is None:
                return Refusal(Reason.NOT_ANALYSED, "the call is not reached")
            if not finding.ok:
                return WORDLESS if self.wordless else _needed(self, self.uses[i:])
        return None

    def needed_for(self, side: str, *reasons: Reason) -> Refusal | None:
        """``needed``, where it is for one of these reasons, and the site of this side ('': of any)."""
        found = self.needed
        return found if found is not None and found.reason in reasons and side in ("", self.uses[0].side) else None


def _needed(site: Site, uses: Sequence[Use]) -> Refusal:
    """What is read after a use; with the hint that holds for all copies of the call."""
    found: list[Refusal] = []
    for u in uses:
        judge = site.facts.liveness.judges[u.object]
        finding = site.finding(u) or Finding(False, Reason.READ_LATER)
        if not finding.ok:
            null = finding.reason is Reason.READ_LATER and judge.all_but_null(u)
            finding = Finding(False, Reason.NULL_SOURCE) if null else finding
            readers = readers_after(judge, u)
            shared = meets(judge, u, readers[0]) if readers else None
            least = least_count(judge, u) if finding.reason is Reason.READ_LATER else None
            resent = u.side == "send" and bool(readers) and readers[0] in judge.use_nodes
            silent = None
            if readers and finding.reason is not Reason.NULL_SOURCE:
                silent = (silent_receive if resent else silent_before)(judge, u, readers[0])
            anew = shared is False and written_before(judge, u, readers[0])
            between = bool(readers) and shared is not False and not resent and written_between(judge, u, readers[0])
            several = read_as_one_of_several(site.program, u, readers[0]) if readers else None
            for told in (read_in_another_row, supposed_refusal) if readers else ():
                several = several or told(site.program, site.buffer, u, readers[0])
            refusal = several or liveness_refusal(
                site.program, site.buffer, u, finding, readers, shared, least, silent, anew, between
            )
            if readers:
                refusal = beside_refusal(judge, site.buffer, u, readers[0], refusal) or refusal
            found.append(refusal if null else with_hint(refusal, judge, u, readers))
            if not found[0].hint or found[-1].hint != found[0].hint or len(found) > COPIES:
                return replace(found[0], hint=None)
    return found[0]


@dataclass(frozen=True, slots=True)
class Supposed:
    """What a change of the source would do that is tried on the analysis: for advice only.

    waited: operations that are complete before nodes.  apart: no other operation uses the buffer.  packed: nodes that
    send as if all of it was written right before.
    """

    waited: Waits = NO_WAITS
    apart: bool = False
    packed: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Going:
    """The sites of a buffer that would convert together.  renewed: where it gets new memory, to make room."""

    facts: BufferFacts
    places: frozenset[Place]
    supposed: Supposed
    renewed: tuple[Renewal, ...] = ()

    def uses(self, going: bool) -> list[Use]:
        """The uses that would convert, or the others."""
        return [u for u in self.facts.buffer.uses if (u.place in self.places) is going]


@dataclass(frozen=True, eq=False)
class Placed:
    """Them, with the calls placed.  buffer: with the parameters through which it comes to them."""

    going: Going
    buffer: Buffer
    placement: Placement

    @property
    def program(self) -> Program:
        return self.going.facts.program

    @property
    def flow(self) -> AddressFlow:
        """Where the buffer's address is held."""
        return self.going.facts.flow(self.buffer.lifted)

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """All that is written for them."""
        facts, edits = self.going.facts, self.placement.edits
        parameters, lifted = facts.of.parameters, self.buffer.lifted
        changed = parameters.edits(lifted, self.going.places)
        carrier = self.buffer.carrier
        if carrier.variable in facts.program.members:
            return (*edits, *changed)
        sizes = array_edits(facts.units, carrier, edits, parameters.covered(lifted, ()))
        return (*edits, *sizes, *changed)
