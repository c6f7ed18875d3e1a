"""Parts of the report: which codes are shown, counts, labels that no other has, rows near a change, runs, SARIF."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ownership_support import Source, source

from opi_xform.dataflow.table import shipped_table, shipped_tables
from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.ownership.placement.states import HELD, NONE
from opi_xform.report.baseline import know
from opi_xform.report.choice import Choice, UnknownCodeError, codes_of, meant, unknown
from opi_xform.report.diagram import UNDRAWN, main, svg
from opi_xform.report.finding import Finding
from opi_xform.report.formats.columns import Columns
from opi_xform.report.formats.sarif import Context, sarif
from opi_xform.report.page.html_lives import arrows, call_svg, life_rows, roles
from opi_xform.report.page.html_profile import run_view
from opi_xform.report.page.html_sites import Site, Step, buffer_labels, lives_of_all, site_labels, sites_of, verdict
from opi_xform.report.page.html_source import Row, kind_of, near, plain
from opi_xform.report.page.lives import BufferLife
from opi_xform.report.page.moments import Moment
from opi_xform.report.page.story import Story
from opi_xform.report.page.touched import Named, happenings, moments_of, named_by, places
from opi_xform.report.profile import WAYS, Count, Run, Sender
from opi_xform.report.statistics import statistics, statistics_lines


def site(line: int, code: str = "", side: str = "send", column: int = 5, call: str = "MPI_Send") -> Decision:
    span = Span("a.c", 100 * line + column, 100 * line + column + 8, line, column)
    decision = "keep" if code else "convert"
    return Decision(span, "main", call, side, "b", "b", decision, code, "why", (Note(span, "here"),))


PLAN = Plan((site(1), site(2, "OPI101"), site(3, "OPI203", "recv", call="MPI_Recv"), site(4, "OPI101")))

# --- which codes are shown --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "lines"),
    [
        (Choice(), [1, 2, 3, 4]),
        (Choice(("OPI1",)), [2, 4]),
        (Choice(None, ("OPI101",)), [1, 3]),
        (Choice(("OPI",), ("OPI2",)), [2, 4]),
    ],
)
def test_sites_that_are_shown(choice: Choice, lines: list[int]) -> None:
    assert [d.span.line for d in choice.plan(PLAN).decisions] == lines
    assert choice.hidden(PLAN) == 4 - len(lines)
    assert choice.all is (len(lines) == 4)
    assert choice.counts("OPI906"), "an output that is out of date is no matter of choice"
    found = [Finding("a.c", 1, 1, code, "") for code in ("OPI101", "OPI203")]
    assert [f.code for f in choice.findings(found)] == [c for c in ("OPI101", "OPI203") if choice.counts(c)]


def test_codes_as_they_are_written() -> None:
    assert codes_of(["opi101, OPI2"]) == ("OPI101", "OPI2")
    assert codes_of(["all"]) == ("OPI",)
    with pytest.raises(UnknownCodeError):
        codes_of(["OPI999"])
    assert "did you mean" in unknown("OPI1011")
    assert "begin with it" in unknown("OPI10")
    assert meant("--explian", ["--explain", "--diff"]) == "did you mean --explain?"
    assert meant("xyz", ["--explain"]) == ""


def test_how_many_stay_for_which_reason() -> None:
    found = statistics(PLAN, PLAN)
    assert [(row["code"], row["send"], row["recv"]) for row in found["codes"]] == [("OPI101", 2, 0), ("OPI203", 0, 1)]
    assert found["calls"] == [
        {"call": "MPI_Recv", "side": "recv", "convert": 0, "keep": 1},
        {"call": "MPI_Send", "side": "send", "convert": 1, "keep": 2},
    ]
    texts = [line.text.split() for line in statistics_lines(PLAN, PLAN)]
    assert ["all", "2", "1", "3"] in texts
    assert ["all", "1", "3", "4"] in texts
    assert statistics_lines(Plan(()), Plan(())) == []


# --- diagrams ---------------------------------------------------------------------------------------------------------


def test_each_table_is_drawn_with_all_its_states(tmp_path: Path) -> None:
    for table in shipped_tables():
        drawn = ET.fromstring(svg(table))
        words = " ".join(drawn.itertext())
        assert all(state in words for state in table.states)
        assert all(event in words for event in table.events)
        assert svg(table).count('class="s"') == 1
        assert svg(table).count('class="n"') == (1 if table.allows else 0), "what a pattern does not allow"
    assert main([str(tmp_path)]) == 0
    assert {p.stem for p in tmp_path.iterdir()} | UNDRAWN == {table.name for table in shipped_tables()}


# --- labels -----------------------------------------------------------------------------------------------------------

lines = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 2), st.sampled_from(("send", "recv"))), max_size=7)


@given(lines)
def test_each_site_has_a_label_of_its_own(found: list[tuple[int, int, str]]) -> None:
    decisions = [site(line, "", side, column) for line, column, side in found]
    labels = site_labels(decisions, [f"a.c:{line}" for line, _, _ in found])
    assert len(set(labels)) == len(labels)
    assert all(label.startswith(f"a.c:{line}") for label, (line, _, _) in zip(labels, found, strict=True))


def life(name: str, function: str, sites: Sequence[int] = (), moments: Sequence[Moment] = ()) -> BufferLife:
    places_ = frozenset(("a.c", 100 * line + 5, "send") for line in sites)
    calls = frozenset({("main", function)})
    return BufferLife(name, places_, tuple(moments), {function: ("sends",)}, {"main": ("sends",)}, calls)


def test_each_buffer_has_a_label_of_its_own() -> None:
    found = [life("b", "f"), life("b", "g"), life("c", "f"), life("d", "f"), life("d", "f")]
    assert buffer_labels(found, lambda one: "a.c:1") == ["b in f", "b in g", "c", "d at a.c:1 #1", "d at a.c:1 #2"]


def test_sites_without_a_life_tell_their_own() -> None:
    known = life("b", "f", [1])
    found = lives_of_all([site(1), site(2), site(3)], [known])
    assert found[0] is known
    assert [one.note != "" for one in found] == [False, True]
    assert found[1].sites == {("a.c", 205, "send"), ("a.c", 305, "send")}
    assert verdict(2, 2) == ("converts", "convert")
    assert verdict(0, 2) == ("stays", "keep")
    assert verdict(1, 2) == ("1 of 2 convert", "convert")
    step = Step("a.c:1", "", "")
    one, two = (Site(str(i), site(i), "", "", step, (), ids) for i, ids in ((1, ("x", "y")), (2, ("y",))))
    assert sites_of([one, two]) == {"x": (one,), "y": (one, two)}


# --- lives ------------------------------------------------------------------------------------------------------------

SENT, RECEIVED = shipped_table("send-pattern").states, shipped_table("receive-pattern").states
MOMENTS = (
    Moment("a.c", 3, "f", "write", SENT["Packed"], RECEIVED["Packed"], HELD, (1,)),
    Moment("a.c", 4, "f", "send", SENT["End"] | SENT["Open"], RECEIVED["Unpack"], NONE | HELD, (0, 2), True),
    Moment("a.c", 5, "f", "free", 0, 0, NONE),
)


def test_moments_as_rows_with_arrows() -> None:
    rows = life_rows(life("b", "f", (), MOMENTS), lambda file: f"./{file}", lambda file, line: f"L{line}")
    assert [(r.place, r.link, r.text, r.state) for r in rows] == [
        ("./a.c:3", "L3", "written", "Packed"),
        ("./a.c:4", "L4", "sent", "End or Open / Unpack"),
        ("./a.c:5", "L5", "freed", ""),
    ]
    assert [r.holds for r in rows] == ["Held", "None or Held", "None"]
    assert rows[2].means == ("", shipped_table().holds["None"])
    assert rows[1].means[0].startswith(shipped_table("send-pattern").holds["End"] + " or ")
    drawn = arrows(MOMENTS)
    assert drawn.count("<circle") == 3
    assert drawn.count("<path") == 3
    assert drawn.count('class="b"') == 1, "one goes back"
    assert drawn.count('class="f"') == 1


def test_what_functions_do_to_buffers() -> None:
    found = [("b1", "b", life("b", "f")), ("b2", "c", life("c", "f"))]
    told = {role.function: role for role in roles(found)}
    assert told["f"].does == (("sends", (("b1", "b"), ("b2", "c"))),)
    assert told["f"].through == ()
    assert told["main"].does == ()
    assert told["main"].through == (("sends", (("b1", "b"), ("b2", "c"))),)
    assert told["f"].buffers == "b1 b2"
    drawn = call_svg([one for _, _, one in found], list(told.values()))
    assert ">f<" in drawn
    assert ">main<" in drawn
    assert call_svg([], []) == ""


# --- sources ----------------------------------------------------------------------------------------------------------


def test_what_became_of_a_line() -> None:
    assert kind_of(None, (1, "a")) == "add"
    assert kind_of((1, "a"), None) == "gone"
    assert kind_of((1, "a"), (1, "b")) == "edit"
    assert kind_of((1, "a"), (2, "a")) == ""
    assert plain((3, "a\u202eb")) == (3, f"a{chr(0x2329)}U+202E{chr(0x232A)}b")
    assert plain((3, "a b")) == (3, "a b")
    assert plain(None) is None


@given(st.lists(st.booleans(), max_size=20), st.integers(0, 3))
def test_rows_near_something_to_see(seen: list[bool], lines_: int) -> None:
    rows = [Row((i, "x"), (i, "x"), seen=s) for i, s in enumerate(seen)]
    found = near(rows, lines_)
    assert sum(row.skipped or 1 for row in found) == len(rows)
    kept = {row.old[0] for row in found if row.old is not None}
    assert kept == {i for i in range(len(rows)) if any(seen[max(0, i - lines_) : i + lines_ + 1])}


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_beside_the_sources() -> None:
    ways = {"passed": Count(2, 300), "copied": Count(1, 100), "inline": Count(0, 0)}
    named = dict(zip(WAYS, (*ways.values(), *[Count(0, 0)] * len(WAYS)), strict=False))
    senders = (Sender("a.c:7", "a.c", 7, named), Sender("?", "", 0, {}))
    matrix = {(0, 1): (Count(3, 400), Count(0, 0)), (1, 0): (Count(0, 0), Count(1, 40))}
    run = Run("r.json", 2, named, {"other nodes": Count(1, 100)}, 1, 2048, 2, matrix, 0.1, 0.2, senders)
    view = run_view(run, lambda file, line: (f"{file}:{line}", f"L{line}"))
    assert [w.percent for w in view.ways] == [60, 20]
    assert view.all == Count(4, 500)
    assert [(s.place, s.link) for s in view.senders] == [("a.c:7", "L7"), ("?", "")]
    assert view.cells is not None
    assert view.cells[0][1][1:] == (3, 9)
    assert view.cells[1][0][1:] == (1, 1)
    assert view.cells[0][0] == ("", 0, 0)


# --- SARIF ------------------------------------------------------------------------------------------------------------


def test_sarif_has_a_result_for_each_site_that_stays(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    file.write_text("\n".join(f"    MPI_Send(b, {i});" for i in range(9)))
    spans = [Span(str(file), 20 * i, 20 * i + 8, i + 1, 5) for i in range(3)]
    note = (Note(spans[2], "here"),)
    plan = Plan(
        (
            Decision(spans[0], "main", "MPI_Send", "send", "b", "b", "convert", "", "passes"),
            Decision(spans[1], "main", "MPI_Send", "send", "b", "b", "keep", "OPI101", "why", note),
            Decision(spans[2], "main", "MPI_Send", "send", "b", "b", "keep", "OPI102", "why"),
        )
    )

    def shown(name: str) -> str:
        return Path(name).name

    def data(name: str) -> bytes:
        return Path(name).read_bytes()

    sites = know(plan.decisions, shown, data)
    hidden = Choice(None, ("OPI102",))
    context = Context("1.0", sites, frozenset(), False, shown, Columns(data), hidden)
    (run,) = json.loads(sarif(plan, (), (), context))["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == "OPI101"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.c"
    assert result["partialFingerprints"].keys() == {"opiXform/v1"}
    assert re.search("here", json.dumps(result))
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= {"OPI101"}


# --- what happens to a buffer -----------------------------------------------------------------------------------------

TEXT = """
static double b[N], c[N], v[N]; static int which;
int main(int argc, char **argv)
{
    double *p = which ? b : c;
    for (int i = 0; i < N; i++)
        b[i] = i;
    MPI_Send(b, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    MPI_Send(p, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    v[0] = b[3];
    double *h = malloc(80);
    h[1] = 2;
    MPI_Send(h, 10, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    free(h);
    return 0;
}
"""


@pytest.fixture(scope="module")
def told() -> Source:
    return source(TEXT)


def test_objects_that_a_use_may_be_of(told: Source) -> None:
    table = told.program.values.objects.table
    found = [sorted(table[o].name for o in named_by(told.program, use)) for use in told.uses]
    assert found[:2] == [["b"], ["b", "c"]]
    named = Named(told.program, told.uses)
    (b,) = told.buffers["b"].objects
    assert named.sides(told.uses[1].node, {b}) == {"send"}
    assert named.sides(told.uses[0].node, {b}) == set(), "that one is certain"


def test_what_happens_to_objects_in_order(told: Source) -> None:
    named = Named(told.program, told.uses)
    (b,) = told.buffers["b"].objects
    uses = [told.uses[0]]
    found = happenings(told.program, frozenset({b}), uses, named)
    assert [h.what for h in found] == ["write", "send", "send", "read"]
    moments = moments_of(told.program, found)
    assert [m.line for m in moments] == [told.line(t) for t in ("b[i] = i", "MPI_Send(b", "MPI_Send(p", "v[0] = b")]
    (h,) = told.buffers["h"].objects
    of_h = happenings(told.program, frozenset({h}), [told.uses[2]], named)
    assert [x.what for x in of_h] == ["alloc", "write", "send", "free"]
    assert places(told.program, [b, h]) == ["`b`", f"memory allocated at line {told.line('malloc')} of f0.c"]


def test_the_states_of_a_buffer_along_the_flow(told: Source) -> None:
    buffer = told.buffers["h"]
    story = Story(told.program, buffer, buffer.objects[0], False, set(), Named(told.program, told.uses))
    moments = {m.line: m for m in story.moments({}, 0)}
    assert moments[told.line("MPI_Send(h")].what == "send"
    assert moments[told.line("malloc")].what == "alloc"
    assert moments[told.line("free")].what == "free"
    assert moments[told.line("h[1] = 2")].sender
    words = {word for n in story.nodes for word in story.words(n)}
    assert {"allocates", "sends", "frees"} <= words
