"""--report: everything is on one page, marked where it is, and the page works in a browser where there is one."""

from __future__ import annotations

import html as markup
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from case_tools import run_tool
from conftest import CHECKOUT

from opi_xform.ownership.plan import Plan
from opi_xform.report import html as report_html
from opi_xform.report.html import html

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "link", "col", "br"}
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
    assert re.search(r"<summary>OPI101 read after send</summary>`sbuf` is read at line \d+ after the send", page)
    line = CHECKOUT.joinpath("testdata/halo2d/exchange.c").read_text("utf-8").split(WAIT)[0].count("\n") + 2
    step = re.search(r'<li><a href="#(f\d+L\d+)">\S*exchange.c:(\d+)</a> `sbuf` is read here</li>', page)
    assert step is not None
    assert int(step[2]) == line
    row = next(text for text in page.splitlines() if f'id="{step[1]}"' in text)
    assert markup.escape(READ.rstrip("\n"), quote=False) in row
    assert ">step 1</a>" in row


def test_inserted_calls_stand_beside_what_was_there(page: str) -> None:
    rows = [row for row in page.splitlines() if row.startswith("<tr") and "OPI_" in row]
    assert any("MPI_Irecv(" in row and "OPI_Itake(&amp;rbuf[d]" in row and 'class="edit"' in row for row in rows)
    freed = [row for row in rows if "OPI_Free(&amp;rbuf[d])" in row]
    assert freed
    assert all('data-b="b0"' in row for row in freed)


def test_the_life_of_a_buffer(page: str) -> None:
    lives = dict(re.findall(r'aria-label="The life of (\w+)">(.*?)</section>', page, re.DOTALL))
    assert list(lives) == ["rbuf", "sbuf"]
    taken = re.findall(r"<code>(\w+)[^<]*</code>: (.*?)</li>", lives["rbuf"])
    assert [what for what, _ in taken] == ["MPI_Irecv", "OPI_Free"]
    assert "stays: the message is copied" in lives["sbuf"]


def test_text_of_the_program_is_text(tmp_path: Path) -> None:
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


@pytest.mark.skipif(BROWSER is None, reason="no Chromium")
def test_a_buffer_is_chosen_in_a_browser(page: str, tmp_path: Path) -> None:
    probe = """<script>
    const bad = []; window.addEventListener("error", e => bad.push(e.message));
    </script>"""
    click = """<script>
    const wanted = document.querySelectorAll("[data-buffer]")[1]; wanted.click();
    const shown = [...document.querySelectorAll(".life")].filter(l => !l.hidden).map(l => l.id).join();
    const marked = [...document.querySelectorAll("tr.on")].every(r => r.dataset.b.split(" ").includes("b1"));
    const some = document.querySelectorAll("tr.on").length > 0;
    wanted.click();
    const cleared = document.querySelectorAll("tr.on").length;
    document.title = JSON.stringify([shown, marked, some, cleared, bad.length]);
    </script>"""
    file = tmp_path / "page.html"
    file.write_text(page.replace("<body>", "<body>" + probe).replace("</body>", click + "</body>"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [str(BROWSER), *options, file.as_uri()], capture_output=True, text=True, timeout=120, check=False
    )
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None, done.stderr
    assert markup.unescape(title[1]) == '["life-b1",true,true,0,0]'
