"""--report in a browser, at the width of a phone and of a desk: all of it fits, every site is there, links lead."""

from __future__ import annotations

import html as markup
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from report_page import Page, page_of

from opi_xform.ir.span import Span
from opi_xform.ownership.model.plan import Decision, Note, Plan
from opi_xform.report.globals import GlobalDecision
from opi_xform.report.page.html import Known, html
from opi_xform.report.profile import WAYS, read_profile

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
WIDTHS = (390, 1280)
LONG = "a_name_that_is_as_long_as_names_of_generated_code_are_and_then_some_more_of_it"
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: chromium, chromium-browser, google-chrome")

PROGRAM = f"""
static double grid[N], {LONG}[N], east[N];
static double *spare(int n) {{ return malloc(n * sizeof(double)); }}
static void pack(double *p) {{ for (int i = 0; i < N; i++) p[i] = grid[i]; }}
static void hand_on(double *p) {{ MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }}
void nobody(double *p) {{ MPI_Send(p, N, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); }}
int main(int argc, char **argv)
{{
    int rank; double *other = spare(N), *mine = argc > 1 ? other : grid;
    MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pack({LONG}); hand_on({LONG});
    MPI_Sendrecv(grid, N, MPI_DOUBLE, 1, 2, east, N, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(mine, 9, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD); MPI_Send(mine + 9, 9, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    /* {"a long line of text " * 20} */
    free(other);
    MPI_Finalize();
    return grid[0] + east[0] > 1;
}}
"""

LOOK = """
const told = {}, all = (what, from = document) => [...from.querySelectorAll(what)];
const seen = element => element.getClientRects().length > 0, box = element => element.getBoundingClientRect();
const root = document.documentElement;
told.width = innerWidth;
told.beside = root.scrollWidth - innerWidth;
const scrolls = element => element.closest(".scroll, .moments") !== null;
told.cut = all("body *").filter(e => seen(e) && !scrolls(e) && box(e).right > innerWidth + 1)
  .map(e => e.tagName + "." + e.className).slice(0, 3);
told.sideways = all(".scroll").filter(s => s.querySelector("table:not(.matrix)") && s.scrollWidth > s.clientWidth + 1)
  .map(s => s.textContent.trim().slice(0, 20));
told.labels = all("a.site").map(a => a.textContent);
told.buffers = all("[data-buffer]").map(b => b.querySelector("code").textContent);
told.dangling = all("a[href]").map(a => a.getAttribute("href"))
  .filter(h => !h.startsWith("#") || !document.getElementById(h.slice(1)));
told.hidden = all("[data-decision]").filter(r => !seen(r)).length;
told.reasons = all("[data-decision=keep] details").every(d => box(d).right <= innerWidth);
told.small = all("button, input, nav a").filter(b => seen(b) && box(b).height < 30).length;
const press = text => all("[data-only]").find(b => b.dataset.only === text).click();
press("keep");
told.stay = all("[data-decision]").filter(seen).map(r => r.dataset.decision);
press("");
const levels = all("h1, h2, h3").filter(seen).map(h => Number(h.tagName[1]));
told.headings = levels.filter((level, i) => level - (levels[i - 1] ?? 0) > 1);
told.anchors = all("a.site").every(a => all(`a.tag[href="#${a.closest("tr").id}"]`).length === 1);
const query = document.getElementById("find");
const type = text => { query.value = text; query.dispatchEvent(new Event("input", {bubbles: true})); };
const found = () => all("[data-decision]").filter(seen).map(r => r.querySelector("a.site").textContent);
type("SENDRECV  east");
told.found = [found(), document.getElementById("found").value];
type("no such site");
told.none = found().length;
press("keep");
told.kept = found().length;
location.hash = "#" + all("[data-decision]")[0].id;
dispatchEvent(new HashChangeEvent("hashchange"));
told.back = [found().length, query.value];
const lives = () => all(".life").filter(seen).map(l => l.id);
const first = document.querySelector("[data-buffer]");
first.focus();
told.focused = document.activeElement === first;
first.click();
told.chosen = [lives().join(), first.getAttribute("aria-pressed")];
told.wide = root.scrollWidth - innerWidth;
const marked = all("tr.on");
told.lines = marked.length > 0 && marked.every(r => r.dataset.b.split(" ").includes(first.dataset.buffer));
first.click();
told.cleared = all("tr.on, .fn.on, [data-state]").length + lives().length;
const last = all(".life").at(-1).id;
location.hash = "#" + last;
dispatchEvent(new HashChangeEvent("hashchange"));
told.followed = lives().join() === last;
told.errors = bad;
answer(told);
"""


def seen(text: str, width: int, folder: Path, script: str = LOOK) -> Any:
    """What a script finds out about a page in a frame of so many pixels; a window cannot be as narrow as a phone."""
    catch = "<script>const bad = []; addEventListener('error', e => bad.push(e.message));</script>"
    answer = "const answer = value => { parent.document.title = JSON.stringify(value); };"
    inner = text.replace("<body>", "<body>" + catch).replace("</body>", f"<script>{answer}{{{script}}}</script></body>")
    frame = f'<iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{markup.escape(inner)}"></iframe>'
    file = folder / "page.html"
    file.write_text(f"<!DOCTYPE html><title></title><body style='margin: 0'>{frame}</body>", encoding="utf-8")
    options = [
        "--window-size=1400,1000",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        *(f"--disable-{what}" for what in ("quic", "background-networking", "component-update", "sync")),
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
    ]
    done = subprocess.run(
        [str(BROWSER), *options, file.as_uri()], capture_output=True, text=True, timeout=120, check=False
    )
    title = re.search(r"<title>(.+?)</title>", done.stdout, re.DOTALL)
    assert title is not None, done.stderr[-400:]
    return json.loads(markup.unescape(title[1]))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return page_of(tmp_path_factory.mktemp("report"), {"a.c": PROGRAM})


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_of_a_program(page: Page, width: int, tmp_path: Path) -> None:
    told = seen(page.text, width, tmp_path)
    assert told["errors"] == []
    assert told["width"] == width
    assert (told["beside"], told["wide"], told["cut"], told["sideways"]) == (0, 0, [], [])
    sites = page.report["sites"]
    assert len(told["labels"]) == len(sites) == 6
    assert len(set(told["labels"])) == len(sites)
    places = [f"{site['file']}:{site['line']}" for site in sites]
    assert all(label.startswith(place) for label, place in zip(told["labels"], places, strict=True))
    assert (told["hidden"], told["small"], told["reasons"]) == (0, 0, True)
    assert told["stay"] == [site["decision"] for site in sites if site["decision"] == "keep"]
    assert len(set(told["buffers"])) == len(told["buffers"])
    assert LONG in told["buffers"]
    assert told["dangling"] == []
    assert told["headings"] == [], "none is left out on the way down"
    assert told["anchors"] is True, "each site is marked in the sources"
    [received] = [label for label in told["labels"] if label.endswith("recv")]
    assert told["found"] == [[received], "1 of 6"]
    assert (told["none"], told["kept"], told["back"]) == (0, 0, [6, ""])
    assert told["chosen"] == ["life-b0", "true"]
    assert (told["lines"], told["cleared"], told["focused"], told["followed"]) == (True, 0, True, True)


def run_of(ranks: int) -> str:
    """A file of OPI_PROFILE in which each rank sends to each."""
    one = {"messages": 1234567, "bytes": 9876543210}
    none = {"messages": 0, "bytes": 0}
    value = {
        "version": 1,
        "ranks": ranks,
        "on_node": dict.fromkeys(("all", *WAYS), one),
        "left_to_mpi": {"all": one, "communicator not followed": one},
        "off_node": none,
        "outside": none,
        "copies": {"made": 0, "made_bytes": 0, "saved": 8, "saved_bytes": 9876543210, "buffers_passed": 4},
        "time": {"calls": 9, "library_s": 0.5, "waiting_s": 0.25},
        "matrix": [
            {"from": i, "to": j, "on_node": one, "mpi": none} for i in range(ranks) for j in range(ranks) if i != j
        ],
        "sites": [{"at": f"/a/folder/with/a/name/{LONG}.c:2", **dict.fromkeys((*WAYS, "mpi"), one)}],
    }
    return json.dumps(value)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_with_all_parts(width: int, tmp_path: Path) -> None:
    sites = tuple(
        Decision(
            Span(f"deep/folder/of/{LONG}.c", 10 * i, 10 * i + 5, i, 1),
            LONG,
            "MPI_Sendrecv",
            side,
            f"({LONG} *)&{LONG}[{LONG} * {i}]",
            "",
            "convert" if i == 1 else "keep",
            "" if i == 1 else "OPI101",
            f"`{LONG}` is read",
            (Note(Span(f"deep/folder/of/{LONG}.c", 0, 1, 2, 1), f"`{LONG}` here"),),
            ("A1",),
        )
        for i in (1, 2)
        for side in ("send", "recv")
    )
    variables = (GlobalDecision(LONG, Span("b.c", 0, 1, 1, 1), "refused", "OPI505", f"`{LONG}` uses it"),)
    remark = (Decision(Span("opi.toml", 0, 0, 2, 1), "", "", "", "", "", "keep", "OPI907", f"`{LONG}` unused"),)
    run = read_profile(f"{LONG}.json", run_of(20).encode())
    before, after = f"int {LONG};\n{'x' * 300}\n".encode(), f"int *{LONG};\n{'y' * 300}\nmore\n".encode()
    text = html(
        Plan(sites, diagnostics=remark),
        {f"deep/folder/of/{LONG}.c": after},
        str,
        lambda _: before,
        lambda path: path,
        "1",
        Known(runs=(run,), variables=variables),
    )
    told = seen(text, width, tmp_path)
    assert told["errors"] == []
    assert (told["width"], told["beside"], told["wide"], told["cut"]) == (width, 0, 0, [])
    assert told["sideways"] == []
    assert len(set(told["labels"])) == len(told["labels"]) == 4
    assert told["dangling"] == []


def test_before_and_after_stand_below_one_another_where_there_is_no_room(page: Page, tmp_path: Path) -> None:
    script = """
    const edit = document.querySelector("tr.kind-edit");
    const [old, now] = [edit.querySelector(".old"), edit.querySelector(".new")].map(c => c.getBoundingClientRect());
    const same = [...document.querySelectorAll(".code tr:not([class])")].find(r => r.querySelector(".new"));
    answer({
      below: now.top >= old.bottom - 1, beside: now.left >= old.right - 1,
      twice: same.querySelector(".new").getClientRects().length > 0,
    });
    """
    narrow, wide = (seen(page.text, width, tmp_path, script) for width in WIDTHS)
    assert narrow == {"below": True, "beside": False, "twice": False}
    assert wide == {"below": False, "beside": True, "twice": True}


def test_light_and_dark_can_be_read(page: Page, tmp_path: Path) -> None:
    """The contrast of text on what it stands on, as WCAG counts it: at least 4.5."""
    script = """
    const pale = c => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    const weight = [0.2126, 0.7152, 0.0722];
    const light = rgb => rgb.match(/[0-9.]+/g).slice(0, 3).reduce((sum, c, i) => sum + weight[i] * pale(Number(c)), 0);
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const behind = e => {
      const colour = getComputedStyle(e).backgroundColor;
      return /, 0\\)|transparent/.test(colour) ? behind(e.parentElement) : colour;
    };
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const poor = [];
    for (const e of document.querySelectorAll("p, td, a, .tag, .soft, .state, button, summary, dt")) {
      if (e.closest("[aria-pressed=true]")) continue;
      const ratio = contrast(getComputedStyle(e).color, behind(e));
      if (ratio < 4.5) poor.push([e.tagName, e.className, ratio.toFixed(2)].join(" "));
    }
    answer({dark, poor: [...new Set(poor)].slice(0, 9)});
    """
    assert seen(page.text, 1280, tmp_path, script) == {"dark": False, "poor": []}
    swapped = page.text.replace("@media (prefers-color-scheme: dark)", "@media all")
    assert seen(swapped, 1280, tmp_path, script)["poor"] == []
