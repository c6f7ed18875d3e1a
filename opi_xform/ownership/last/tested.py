"""Sites that would convert as the end, or the beginning, of a block's life, but for tests of its pointer against NULL.

The program goes on where such a test finds no memory.  What else was found to keep these sites, that the block is freed
by another name for one, would not keep them then: so the tests are what is told.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opi_xform.codes import Reason
from opi_xform.ir import ast
from opi_xform.ownership.allocation.null_tests import GOES_ON, always_set
from opi_xform.ownership.deciding.agreement import Verdict
from opi_xform.ownership.explain.called import node_span
from opi_xform.ownership.explain.hints import ENDING, told
from opi_xform.ownership.last.edits import of_blocks
from opi_xform.ownership.model.buffers import Buffer, Options, Program, Refusal, Use
from opi_xform.ownership.model.lines import lines_of
from opi_xform.ownership.model.plan import Advice


def kept_by_tests(
    units: Sequence[ast.Unit],
    program: Program,
    options: Options,
    uses: Sequence[Use],
    groups: Sequence[Buffer],
    found: Sequence[Verdict],
) -> None:
    """Tells of sites for which no place was found that tests keep them, where nothing else does."""
    asked = {
        p: (verdict, buffer)
        for buffer, verdict in zip(groups, found, strict=True)
        for p, refusal in verdict.refusals.items()
        if refusal.reason is Reason.NO_ANCHOR
    }
    if not asked:
        return
    taken = {o for b, verdict in zip(groups, found, strict=True) if verdict.converted for o in b.objects}
    for p in sorted(asked):  # one by one: the tests are those of its own blocks
        tests: set[int] = set()
        if only_tests(units, program, options, [u for u in uses if u.place == p], taken, tests):
            verdict, buffer = asked[p]
            verdict.refusals[p] = _refusal(program, buffer, tests)


def only_tests(
    units: Sequence[ast.Unit],
    program: Program,
    options: Options,
    uses: Sequence[Use],
    taken: Collection[int],
    tests: set[int],
) -> bool:
    """A site would convert if the program ended at tests of its blocks against NULL, which ``tests`` gets."""
    return bool(of_blocks(units, program, options, uses, {uses[0].place}, taken, tests)) and bool(tests)


def _refusal(program: Program, buffer: Buffer, tests: Collection[int]) -> Refusal:
    spans = tuple(dict.fromkeys(node_span(program, n) for n in sorted(tests)))
    hint = None
    if all(always_set(program, n) for n in tests) and all(span.macro is None for span in spans):
        hint = Advice("end", f"{ENDING} wherever it is NULL at {lines_of(spans)}", spans)
    message = f"`{buffer.name}` is compared with NULL {GOES_ON}"
    refusal = Refusal(Reason.OLD_ADDRESS, message, tuple((span, "here") for span in spans), hint)
    return refusal if hint is None else told(refusal, None, False)
