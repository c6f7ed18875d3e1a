"""Comments at calls: what statement they belong to, whether they hold, what they tell the analysis."""

from __future__ import annotations

from pathlib import Path

import pytest

from opi_xform.cli.inputs.annotations import Annotation, allowed, find_annotations, judge
from opi_xform.cli.inputs.channels import channels, with_channels
from opi_xform.cli.inputs.knowledge import told
from opi_xform.cli.inputs.shown import shown
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.text.sources import Sources

FILE = "/a.c"
TEXT = """void f(void) {
    MPI_Send(a); // opi: expect give
    /* opi: allow OPI101 */
    MPI_Send(b,
             1);
    x = 1; MPI_Recv(c); /* opi: match halo */
    MPI_Send("opi: keep"); /* of opi */
    MPI_Recv(d,
             2); // opi: assume packed( d )
}
"""


def found() -> list[Annotation]:
    return list(find_annotations(FILE, TEXT.encode()))


def site(call: str, side: str, decision: str = "convert", code: str = "") -> Decision:
    """Of the call that is written so."""
    at = TEXT.index(call)
    span = Span(FILE, at, at + len(call), TEXT.count("\n", 0, at) + 1, 5)
    return Decision(span, "f", "MPI_Send", side, call[-1], call[-1], decision, code, "why")


def judged(annotations: list[Annotation], *decisions: Decision) -> list[str]:
    return [verdict.message for verdict in judge(annotations, decisions, Sources())]


def test_what_a_comment_says_and_which_statement_it_belongs_to() -> None:
    said = [(a.line, a.verb, a.word, TEXT[a.begin : a.end].split("//")[0].strip()) for a in found()]
    assert [s[:3] for s in said] == [
        (2, "expect", "give"),
        (3, "allow", "OPI101"),
        (6, "match", "halo"),
        (9, "assume", "packed(d)"),
    ]
    wanted = ["MPI_Send(a);", "MPI_Send(b,\n             1);", "MPI_Recv(c);", "MPI_Recv(d,\n             2);"]
    for (*_, text), statement in zip(said, wanted, strict=True):
        assert statement in text


@pytest.mark.parametrize(
    ("comment", "decisions", "message"),
    [
        ("expect give", [site("MPI_Send(a", "send")], ""),
        ("expect give", [site("MPI_Send(a", "send", "keep", "OPI101")], "is unmet: MPI_Send of a stays, OPI101 why"),
        ("expect take", [site("MPI_Send(a", "send")], "no receive stands here"),
        ("expect give", [], "no send stands here"),
        ("allow OPI101", [site("MPI_Send(a", "send", "keep", "OPI101")], ""),
        ("allow OPI101", [site("MPI_Send(a", "send", "keep", "OPI103")], "is unused"),
        ("allow", [], "`opi: allow` is not understood"),
        ("expect given", [], "`opi: expect given` is not understood"),
        ("keep", [], ""),  # whether it applies is for the analysis to say
        ("assume packed(b)", [], ""),
        ("assume packed", [], "is not understood"),
        ("assume disjoint(a, b)", [], ""),
        ("match", [site("MPI_Send(a", "send")], "needs the name of a channel"),
        ("match halo", [], "no send or receive stands here"),
        ("match halo", [site("MPI_Send(a", "send")], "no receive has this name"),
    ],
)
def test_whether_a_comment_holds(comment: str, decisions: list[Decision], message: str) -> None:
    text = TEXT.replace("expect give", comment)
    annotations = [a for a in find_annotations(FILE, text.encode()) if a.line == 2]
    said = judged(annotations, *decisions)
    assert (said == []) if not message else (len(said) == 1 and message in said[0])


def test_what_the_analysis_says_of_a_comment_counts() -> None:
    at = Span(FILE, 0, 0, 9, 1)
    remark = Decision(at, "", "", "", "", "", "keep", "OPI908", "nothing is written into `d`")
    (verdict,) = judge([a for a in found() if a.verb == "assume"], [], Sources(), [remark])
    assert verdict.message == "nothing is written into `d`"


def test_sites_that_may_stay() -> None:
    first = site("MPI_Send(b", "send", "keep", "OPI101")
    others = [site("MPI_Send(b", "send", "keep", "OPI103"), site("MPI_Send(a", "send", "keep", "OPI101")]
    assert allowed(found(), [*others, first], Sources()) == {2}


def test_what_comments_tell_the_analysis() -> None:
    text = b"f(a); // opi: keep\nf(b); // opi: assume packed(h->b)\nf(c); // opi: assume disjoint(p, q)\n"
    text += b"f(d); // opi: allow OPI101\n"
    said = list(told(find_annotations(FILE, text), {FILE: "/real/a.c"}))
    assert [(t.what, t.name, t.span.line) for t in said] == [
        ("keep", "", 1),
        ("packed", "h->b", 2),
        ("disjoint", "p,q", 3),
    ]
    assert {t.file for t in said} == {"/real/a.c"}


@pytest.mark.parametrize(
    ("send", "recv", "message"),
    [
        ("convert", "convert", ""),
        ("keep", "keep", ""),
        ("convert", "keep", "of channel `halo` only the send converts: one copy of its messages remains"),
        ("keep", "convert", "of channel `halo` only the receive converts: one copy of its messages remains"),
    ],
)
def test_a_channel_of_which_one_side_stays(send: str, recv: str, message: str) -> None:
    annotations = [Annotation(FILE, a.line, "match", "halo", a.begin, a.end) for a in found() if a.line in (2, 6)]
    sites = (site("MPI_Send(a", "send", send, "OPI101"), site("MPI_Recv(c", "recv", recv, "OPI201"))
    plan = Plan(sites)
    assert channels(annotations, plan, Sources()) == {"halo": list(sites)}
    remarks = with_channels(annotations, plan, Sources()).diagnostics
    assert [(d.code, d.message) for d in remarks] == ([("OPI301", message)] if message else [])
    if message:
        (kept,) = (d for d in sites if d.decision == "keep")
        assert [note.span for note in remarks[0].notes] == [kept.span]


def test_files_are_shown_as_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown(str(tmp_path / "src" / "a.c")) == "src/a.c"
    assert shown("") == ""
