"""--report: everything is on one page, marked where it is, and the page works in a browser where there is one."""

from __future__ import annotations

import html as markup
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from case_tools import run_tool
from conftest import CHECKOUT

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Plan
from opi_xform.report.globals import GlobalDecision
from opi_xform.report.page import html as report_html
from opi_xform.report.page.html import Known, html
from opi_xform.report.profile import WAYS, ProfileError, read_profile

VOID = {"meta", "link", "col", "br", "input"}
READ = "    u[0] += 0.0 * sbuf[0][0];\n"
WAIT = "    MPI_Waitall(2 * NDIR, rq, MPI_STATUSES_IGNORE);\n"


class Outline(HTMLParser):
    """Ids, links and what would be loaded; every element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values["href"] or ""] if tag == "a" else []
        self.loads += [str(values[key]) for key in ("src", "href") if key in values and tag != "a"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of halo2d with a read of the sent buffer."""
    folder = tmp_path_factory.mktemp("report")
    shutil.copytree(CHECKOUT / "testdata" / "halo2d", folder / "halo2d")
    file = folder / "halo2d" / "exchange.c"
    file.write_text(file.read_text("utf-8").replace(WAIT, WAIT + READ), encoding="utf-8")
    code, out, err = run_tool([str(folder / "halo2d"), "--report", str(folder / "r.html"), "-j", "1"])
    assert (code, err) == (0, "")
    assert "r.html written" in out
    return (folder / "r.html").read_text("utf-8")


def test_the_page_is_whole_and_loads_nothing(page: str) -> None:
    outline = Outline(page)
    assert len(set(outline.ids)) == len(outline.ids)
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)
    assert outline.loads == ["data:,"]
    assert "http" not in page


def test_what_is_to_see(page: str) -> None:
    assert "<title>opi-xform: 1 of 2 sites converted</title>" in page
    assert re.search(r"<b>A1</b>: nothing of a receive buffer .*\(1 site\)", page)
    assert re.search(r"<summary>OPI101 read after send</summary><code>sbuf</code> is read at line \d+ after ", page)
    line = CHECKOUT.joinpath("testdata/halo2d/exchange.c").read_text("utf-8").split(WAIT)[0].count("\n") + 2
    step = re.search(r'<li><a href="#(f\d+L\d+)">line (\d+)</a> <code>sbuf</code> is read here</li>', page)
    assert step is not None
    assert int(step[2]) == line
    row = next(text for text in page.splitlines() if f'id="{step[1]}"' in text)
    assert markup.escape(READ.rstrip("\n"), quote=False) in row
    assert ">step 1 of exchange.c:39</a>" in row


def test_inserted_calls_stand_beside_what_was_there(page: str) -> None:
    rows = [row for row in page.splitlines() if row.startswith("<tr") and "OPI_" in row]
    assert any("MPI_Irecv(" in row and "OPI_Itake(&amp;rbuf[d]" in row and 'class="kind-edit"' in row for row in rows)
    freed = [row for row in rows if "OPI_Free(&amp;rbuf[d])" in row]
    assert freed
    assert all('data-b="b0"' in row and 'class="kind-add"' in row for row in freed)


def moments(life: str) -> list[tuple[str, str, str]]:
    """File and line, what happens, and the states beside it."""
    rows = re.findall(r"<li><a [^>]*>(\S+)</a> (.*?) <span class=.soft.>in \w+</span>(.*?)</li>", life)
    return [
        (place.rsplit("/")[-1], what, " ".join(re.findall(r">([^<>]+)</span>", rest))) for place, what, rest in rows
    ]


def test_the_life_of_a_buffer(page: str) -> None:
    lives = dict(re.findall(r'aria-label="The life of (\w+)">(.*?)</section>', page, re.DOTALL))
    assert list(lives) == ["rbuf", "sbuf"]
    assert moments(lives["rbuf"]) == [
        ("exchange.c:32", "received into", "Empty then Pending"),
        ("pack.c:46", "read", "Unpack then Held"),
    ]
    assert [what for what, _ in re.findall(r"<code>(OPI_\w+)</code>: (.*?)</li>", lives["rbuf"])] == ["OPI_Free"]
    # Of the buffer that is read after the send, the send is what its pattern does not allow: no pointer is held.
    assert [what for _, what, _ in moments(lives["sbuf"])] == ["written", "sent", "read"]
    assert [states for _, _, states in moments(lives["sbuf"])] == ["Open", "Open", "Open"]
    assert 'class="state fails"' in lives["sbuf"]
    assert "then" not in "".join(states for _, _, states in moments(lives["sbuf"]))


def test_who_does_what(page: str) -> None:
    section = page[page.index('id="functions"') : page.index('id="files"')]
    told = re.findall(r"<tr><td><code>(\w+)</code></td><td[^>]*>(.*?)</td><td[^>]*>(.*?)</td></tr>", section)
    said = {function: [re.sub(r"<.*?>", "", words) for words in both] for function, *both in told}
    assert said == {
        "exchange": ["sends sbuf; receives rbuf; reads sbuf", "packs sbuf; unpacks rbuf"],
        "pack": ["packs sbuf", ""],
        "unpack": ["unpacks rbuf", ""],
        "main": ["", "packs sbuf; sends sbuf; receives rbuf; unpacks rbuf; reads sbuf"],
    }
    drawn = re.findall(r'<g class="fn[^"]*"[^>]*><title>(\w+):', section)
    assert sorted(drawn) == ["exchange", "main", "pack", "unpack"]
    assert section.count("<path d=") == 3


PROFILE = {
    "version": 1,
    "ranks": 2,
    "on_node": {way: {"messages": 0, "bytes": 0} for way in ("all", *WAYS)} | {"give": {"messages": 4, "bytes": 4096}},
    "left_to_mpi": {"all": {"messages": 1, "bytes": 8}, "disabled": {"messages": 1, "bytes": 8}},
    "off_node": {"messages": 0, "bytes": 0},
    "outside": {"messages": 0, "bytes": 0},
    "copies": {"made": 0, "made_bytes": 0, "saved": 8, "saved_bytes": 8192, "buffers_passed": 4},
    "time": {"calls": 9, "library_s": 0.5, "waiting_s": 0.25},
    "matrix": [
        {"from": 0, "to": 1, "on_node": {"messages": 3, "bytes": 3072}, "mpi": {"messages": 1, "bytes": 8}},
        {"from": 1, "to": 0, "on_node": {"messages": 1, "bytes": 1024}, "mpi": {"messages": 0, "bytes": 0}},
    ],
    "sites": [
        {"at": "/build/a.c:2", "give": {"messages": 4, "bytes": 4096}},
        {"at": "lib+0x10", "mpi": {"messages": 1, "bytes": 8}},
    ],
}


def test_a_run_is_shown() -> None:
    run = read_profile("run.json", json.dumps(PROFILE).encode())
    site = Decision(Span("a.c", 6, 9, 2, 1), "f", "MPI_Send", "send", "b", "b", "convert", "", "")
    before, after = b"first\nold\n", b"new\nnew; OPI_Give\n"
    text = html(Plan((site,)), {"a.c": after}, str, lambda _: before, lambda path: path, "1", Known((), (run,)))
    Outline(text)
    section = text[text.index('id="run"') : text.index('id="files"')]
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section))
    assert "2 ranks, 5 messages, 4.01 KiB (4,104) . 4 buffers passed without a copy; 8 KiB (8,192) not copied" in plain
    assert "give 4 4 KiB (4,096) 100 % the buffer itself" in plain
    assert "by the MPI: disabled 1 8 B" in plain
    assert 'title="4 messages">3.01 KiB<' in section
    assert re.search(
        r'<a href="#f0L2">a.c:2</a></td><td>4</td><td>4 KiB <[^>]*>.4,096.</span></td><td class="l">4', section
    )
    assert "lib+0x10 1 8 B 1 mpi" in plain


def test_a_run_of_ranks_that_count_windows_alone_is_none() -> None:
    told = {"version": 1, "ranks": 3, "windows": {"put": {"direct": {"operations": 1, "bytes": 8}}}}
    with pytest.raises(ProfileError, match="a profile of thread or fiber ranks, which count windows alone"):
        read_profile("run.json", json.dumps(told).encode())


VARIABLES = (
    GlobalDecision("seed", Span("a.c", 11, 15, 2, 5), "private"),
    GlobalDecision("<table>", Span("a.c", 21, 25, 3, 5), "shared", "", "nothing writes it"),
    GlobalDecision("handler", Span("b.c", 0, 1, 1, 1), "refused", "OPI505", "a signal handler uses it"),
)


def test_variables_and_their_decisions_are_shown_where_there_are_some() -> None:
    def page(known: Known) -> str:
        text = html(Plan(()), {}, str, lambda _: b"one\ntwo\nthree\n", lambda path: path, "1", known)
        assert {link.removeprefix("#") for link in Outline(text).links} <= set(Outline(text).ids)
        return text

    assert 'id="globals"' not in page(Known())
    text = page(Known(variables=VARIABLES))
    section = text[text.index('id="globals"') : text.index('id="files"')]
    rows = [re.sub("<[^>]*>", " ", row).split() for row in re.findall("(?s)<tr><td>.*?</tr>", section)]
    assert [" ".join(words) for words in rows] == [
        "a.c:2 seed private",
        "a.c:3 &lt;table&gt; shared nothing writes it",
        "b.c:1 handler refused OPI505 used by threads of the program: a signal handler uses it",
    ]
    assert re.findall('class="tag (\\w+)"', section) == ["convert", "soft", "keep"]
    assert 'id="f0L2"' in text


def test_of_a_large_program_the_declarations_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_html, "WHOLE_LINES", 50)
    known = Known(variables=(GlobalDecision("x", Span("a.c", 0, 1, 70, 1), "private"),))
    before = "".join(f"line {i};\n" for i in range(1, 101)).encode()
    text = html(Plan(()), {}, str, lambda _: before, lambda path: path, "1", known)
    assert set(map(int, re.findall(r">line (\d+);", text))) == set(range(62, 79))


def test_remarks_lead_to_their_lines_where_the_file_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_html, "WHOLE_LINES", 50)
    remarks = tuple(
        Decision(Span(file, 0, 0, line, 1), "", "", "", "", "", "keep", "OPI907", "unused")
        for file, line in (("a.c", 70), ("opi.toml", 2))
    )
    before = "".join(f"line {i};\n" for i in range(1, 101))
    after = before.replace("line 40;", "edit 40;").encode()
    text = html(Plan((), diagnostics=remarks), {"a.c": after}, str, lambda _: before.encode(), lambda path: path, "1")
    assert '<li><a href="#f0L70">a.c:70</a>: OPI907 unused</li>' in text
    assert "<li>opi.toml:2: OPI907 unused</li>" in text
    assert {link.removeprefix("#") for link in Outline(text).links} <= set(Outline(text).ids)


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1}', json.dumps({**PROFILE, "version": 2}), "broken"])
def test_what_is_no_profile_is_one_line(text: str, tmp_path: Path) -> None:
    shutil.copy(CHECKOUT / "testdata" / "fft2d" / "fft.c", tmp_path / "a.c")
    text = json.dumps({**PROFILE, "copies": {}}) if text == "broken" else text
    (tmp_path / "p.json").write_text(text, encoding="utf-8")
    report = ["--report", str(tmp_path / "r.html")]
    code, _, err = run_tool([str(tmp_path / "a.c"), *report, "--profile", str(tmp_path / "p.json")])
    assert (code, err.count("\n")) == (2, 1)
    assert "p.json: error: is " in err
    assert not (tmp_path / "r.html").exists()
    assert run_tool([str(tmp_path / "a.c"), *report, "--profile", str(tmp_path / "none.json")])[0] == 2
    assert run_tool([str(tmp_path / "a.c"), "--profile", str(tmp_path / "p.json")])[0] == 2


def test_text_of_the_program_is_text(tmp_path: Path) -> None:
    odd = Decision(Span("a.c", 0, 1, 1, 1), "f", "MPI_Send", "send", "b", "b", "keep", "OPI104", "no `x<y` & `z`")
    told = html(Plan((odd,)), {}, str, lambda _: b"x\n", lambda path: path, "1")
    assert "no <code>x&lt;y</code> &amp; <code>z</code>" in told
    Outline(told)
    evil = b"</table><script>alert(1)</script>\n"
    text = html(Plan(()), {"a.c": evil}, str, lambda _: b"", lambda path: path, "1")
    assert "<script>alert" not in text
    Outline(text)


def test_of_large_files_what_is_near_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_html, "WHOLE_LINES", 50)
    before = "".join(f"line {i};\n" for i in range(1, 101))
    after = before.replace("line 40;", "edit 40;")
    text = html(Plan(()), {"a.c": after.encode()}, str, lambda _: before.encode(), lambda path: path, "1")
    shown = set(map(int, re.findall(r">line (\d+);", text)))
    assert shown == set(range(32, 49))
    assert re.findall(r">(\d+) lines<", text) == ["31", "52"]


def test_a_page_that_would_be_too_large_shows_less() -> None:
    before = "".join(f"{'x' * 3000} {i};\n" for i in range(1, 2001))
    after = before.replace(" 500;", " edit;").replace(" 1500;", " edit;")
    text = html(Plan(()), {"a.c": after.encode()}, str, lambda _: before.encode(), lambda path: path, "1")
    assert len(text) < report_html.LARGEST
    shown = set(map(int, re.findall(r"x (\d+);", text)))
    assert shown == {*range(492, 509), *range(1492, 1509)}
