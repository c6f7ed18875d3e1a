"""What a person says of the program in comments: sites to keep, and what may be assumed though it is not proved.

``/* opi: keep */`` at a call keeps it.  ``/* opi: assume packed(buf) */`` at a send says that all the bytes it sends
are written since the buffer was last handed over: assumption U1.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from opi_xform.codes import Reason
from opi_xform.effects.model import Effects
from opi_xform.ir import ast
from opi_xform.ir.span import Span
from opi_xform.ownership.model import lines
from opi_xform.ownership.model.buffers import Buffer, Program, Refusal, Use
from opi_xform.ownership.model.plan import Decision, Told
from opi_xform.record import dataclass

PACKED, ENTRIES = "U1", "U2"  # U3: apart


@dataclass(frozen=True, slots=True)
class Remark:
    """What came of a comment for one buffer: ``message`` says why it does not count, '' where it does."""

    told: Told
    message: str


def about(told: Iterable[Told], buffer: Buffer, use: Use, what: str) -> Told | None:
    """The comment of this kind at a use."""
    span = use.call.span
    for one in told:
        if one.what == what and one.file == span.file and one.begin <= span.begin < one.end:
            if what == "packed" and (use.side != "send" or one.name not in (buffer.name, _written(use))):
                continue
            return one
    return None


def _written(use: Use) -> str:
    """The variable that names the buffer in the call."""
    e = use.call.args[use.argument]
    while True:
        match e:
            case ast.Cast(operand=inner) | ast.AddrOf(operand=inner) | ast.Index(base=inner):
                e = inner
            case ast.VarRef(var=key):
                return re.split(r"\W", key)[-1]
            case _:
                return ""


def keep_refusal(told: Iterable[Told], buffer: Buffer, uses: Sequence[Use]) -> Refusal | None:
    """A site that a comment keeps."""
    found = about(told, buffer, uses[0], "keep")
    if found is None:
        return None
    return Refusal(Reason.REQUESTED, "a comment asks to keep this call", ((found.span, "the comment"),))


def never_packed(program: Program, buffer: Buffer, use: Use) -> bool:
    """Nothing at all is written into the buffer, on any path, between its last hand-over and a send."""
    graph, values = program.graph, program.values
    others = {u.node: u for u in buffer.uses if u.object == use.object}

    def packs(n: int) -> bool | None:
        other = others.get(n)
        if other is not None:
            return other.side == "recv" or None
        return values.accesses.touches(n, (use.object,), "W")

    start = graph.nodes[use.node].block
    work: list[tuple[int, Sequence[int]]] = [(start, [n for n in graph.blocks[start] if n < use.node])]
    seen: set[int] = set()
    while work:
        block, nodes = work.pop()
        for n in reversed(nodes):
            found = packs(n)
            if found:
                return False
            if found is None:
                break
        else:
            for p in graph.preds[block]:
                if p not in seen:
                    seen.add(p)
                    work.append((p, graph.blocks[p]))
    return True


def remarks(told: Sequence[Told], found: Iterable[Remark], decisions: Sequence[Decision]) -> list[Decision]:
    """The comments that do not count, with the reason, as diagnostics."""
    by_told: dict[Told, list[str]] = {}
    for remark in found:
        by_told.setdefault(remark.told, []).append(remark.message)
    out = []
    for one in told:
        if one.what == "disjoint":
            continue  # judged by itself
        messages = by_told.get(one)
        if messages is None:
            here = [d for d in decisions if d.span.file == one.file and one.begin <= d.span.begin < one.end]
            if one.what == "packed":
                here = [d for d in here if d.side == "send" and one.name in (d.object, *re.findall(r"\w+", d.buffer))]
            what = "no send of it stands here" if one.what == "packed" else "no send or receive stands here"
            out.append(no_effect(one, f"the call stays anyway: {here[0].message}" if here else what))
        elif all(messages):
            out.append(no_effect(one, lines.told(messages[0], one.file)))
    return out


def entry_remarks(effects: Effects, path: Path, functions: Container[str], called: Container[str]) -> list[Decision]:
    """The entries of an opi.toml that say nothing about the program."""
    out = []
    span = Span(str(path), 0, 0, 1, 1, editable=False)
    for name, effect in effects.items():
        if not effect.user or (name in called and name not in functions):
            continue
        why = "its source is among the files, which counts" if name in functions else "nothing calls it"
        text = f"the entry of `{name}` does not count: {why}"
        out.append(Decision(span, "", "", "", "", "", "keep", "OPI908", text))
    return out


def no_effect(told: Told, message: str) -> Decision:
    """A remark about a comment that does not count."""
    words = "keep" if told.what == "keep" else f"assume {told.what}({told.name})"
    text = f"`{words}` does not count: {message}"
    return Decision(told.span, "", "", "", "", "", "keep", "OPI908", text)
