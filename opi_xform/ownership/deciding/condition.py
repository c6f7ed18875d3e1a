"""What a condition is: a requirement, and checks that look at facts and find a reason to keep sites, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from opi_xform.codes import Code
from opi_xform.ownership.deciding.facts import BufferFacts, Going, Placed, ProgramFacts, Site
from opi_xform.ownership.model.buffers import Options, Place, Refusal
from opi_xform.ownership.model.plan import Edit
from opi_xform.record import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, or a part of one: parts have the same name, and docs/soundness.md shows them as one row.

    name: what planted bugs call it by.  requires: one sentence.  codes: what a site gets that fails it.  cases:
    patterns of names in tests/cases/*/keep that are about it, beside those whose expectation names one of its codes.
    enforced: the functions or classes below its checks that see to it, ``module:name`` below ``opi_xform``; of a
    condition without checks, all that does.  words: what puts its reasons and hints into words, in the same spelling,
    where its own file does not: words of several conditions, and those that take a search, are below.  sound: nothing
    would be right without it; else it keeps what gains nothing, or what a person asks to keep, and has no row.

    The checks, by what they look at, in the order in which ``decide`` asks them; each is asked for all conditions of
    ``TABLE``, in its order, before the next:
    program: no site of the program converts.  buffer: none of the buffer.  site: not this one.  going: of all sites of
    a buffer that would convert, not these.  calls: not those for whose calls alone it holds, too, else none of them.
    placed: none of them, as the calls would stand.  written: none, as the edits would be.
    form: the check of a site asks how the call is written, and nothing of what the program does with the buffer.
    """

    name: str
    requires: str
    codes: tuple[Code, ...] = ()
    cases: tuple[str, ...] = ()
    enforced: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    program: Callable[[ProgramFacts], Refusal | None] | None = None
    buffer: Callable[[BufferFacts], Refusal | None] | None = None
    site: Callable[[Site], Refusal | None] | None = None
    going: Callable[[Going], Mapping[Place, Refusal]] | None = None
    calls: Callable[[Placed], Refusal | None] | None = None
    placed: Callable[[Placed], Refusal | None] | None = None
    written: Callable[[Options, Sequence[Edit]], Refusal | None] | None = None
    form: bool = False
    sound: bool = True

    def checks(self) -> Iterator[Callable[..., object]]:
        """Its own checks."""
        for check in (self.program, self.buffer, self.site, self.going, self.calls, self.placed, self.written):
            if check is not None:
                yield check
