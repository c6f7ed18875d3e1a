"""The documentation keeps its word: its commands run, its links lead somewhere, and every code has a page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import MPIS, MpiUser

from opi_xform.report.codes import CODES, page
from opi_xform.report.diagram import drawn_tables, svg

CHECKOUT = Path(__file__).resolve().parents[3]
DOCS = CHECKOUT / "docs"
CODE_PAGES = DOCS / "codes"
PAGES = [CHECKOUT / "README.md", *sorted(p for p in DOCS.rglob("*.md") if p.parent != CODE_PAGES)]
"""But for the pages of codes, which have tests of their own."""

COMMAND = re.compile(
    r"(?:\$ +)?((?:[A-Z_]+=\S+ +)*"
    r"(?:opi-xform|opicc|opirun|opi-bench|make|mpiexec|mpicc|pip|sed|diff|eval|cmake|git|srun|python3)\s.*)"
)
BEFORE_COMMENT = re.compile(r"(?:'[^']*'|(?!\s+#|\s{4,}).)*")
# Commands with tests of their own, or that take minutes; a new one must be put here or run below.
ELSEWHERE = (
    "make demo",
    "make lint",
    "make test",
    "make bench",
    "make fuzz",
    "make npb",
    "make CC=",
    "make docs",
    "make -C runtime",
    "pip install",
    "opi-bench run",
    "opi-bench tune",
    "cmake ",
    "git clone",
    "python3 -m venv",
    "srun ",
)


def without_code(text: str) -> str:
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


@dataclass(frozen=True, slots=True)
class File:
    """A block of code that the reader saves, whole or in place of one function."""

    name: str
    function: str
    text: str

    def save(self, folder: Path) -> None:
        path = folder / self.name
        text = self.text
        if self.function:
            before = path.read_text()
            old = re.search(rf"^[^\n]*\b{self.function}\([^;]*?\)\n\{{\n.*?^\}}\n", before, re.M | re.S)
            assert old is not None, f"{self.name} has no {self.function}"
            text = before.replace(old[0], text)
        path.write_text(text)


def steps(path: Path) -> Iterator[str | File]:
    """What a page asks its reader to do, in order.

    Commands: lines of code blocks, indented or fenced as console or sh; comments cut off.  Files: blocks with a title.
    """
    fence, file, function, text = "", "", "", ""
    for line in path.read_text().split("\n"):
        if line.startswith("```"):
            if fence and file:
                yield File(file, function, text)
            fence = "" if fence else line[3:].strip() or "text"
            named = re.search(r'title="([^"]+)"', fence)
            file, text = named[1] if named else "", ""
            function = function if fence else ""
            continue
        if fence and file:
            text += f"{line}\n"
        replaced = re.fullmatch(r"<!-- replaces: (\w+) -->", line)
        function = replaced[1] if replaced else function
        if fence in ("console", "sh") or (not fence and line.startswith("    ")):
            found = COMMAND.fullmatch(line.strip())
            if found:
                told = BEFORE_COMMENT.match(found.group(1))
                assert told is not None
                yield told[0].strip()


def commands(path: Path) -> list[str]:
    """The commands of a page."""
    return [step for step in steps(path) if isinstance(step, str)]


def test_there_are_commands_to_check() -> None:
    assert "opi-xform src/*.c -o out/" in commands(CHECKOUT / "README.md")
    assert "opicc -O2 out/*.c -o app" in commands(DOCS / "usage.md")


@pytest.mark.mpi
@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_commands_run(path: Path, tmp_path: Path, mpi_user: MpiUser) -> None:
    """In order, beside a small program in src/; with two ranks, where the page has more."""
    if path.name != "README.md" and mpi_user.mpi != MPIS[0]:
        pytest.skip("the other pages under the first MPI")
    worklist = [s for s in steps(path) if isinstance(s, File) or not s.startswith(ELSEWHERE)]
    if not worklist:
        return
    (tmp_path / "src").mkdir()
    shutil.copy(CHECKOUT / "tests" / "cases" / "send_recv" / "convert" / "send_recv_1.c", tmp_path / "src" / "app.c")
    shutil.copy(tmp_path / "src" / "app.c", tmp_path / "app.c")
    tools = f"{Path(sys.executable).parent}:{mpi_user.mpi.mpicc.parent}"
    environment = {
        **mpi_user.environment,
        "PATH": f"{mpi_user.mpi.mpicc.parent}:{tools}:{mpi_user.environment['PATH']}",
    }
    if any("./unmodified" in step for step in worklist if isinstance(step, str)):
        mpi_user.mpicc("-O1", tmp_path / "app.c", "-o", tmp_path / "unmodified")
    for line in worklist:
        if isinstance(line, File):
            line.save(tmp_path)
            continue
        launch = f"{mpi_user.mpi.mpicc.parent / 'mpiexec'} {oversubscribe(mpi_user)}-n 2"
        line = re.sub(r"mpiexec -n \d+", launch, line)
        line = re.sub(r"(opirun(?: --\S+)*) -n \d+", r"\1 -n 2", line)
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def oversubscribe(user: MpiUser) -> str:
    return "--oversubscribe " if user.mpi.kind == "openmpi" else ""


def anchors(path: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    heads = re.findall(r"^#+ +(.*)$", path.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads}


@pytest.mark.parametrize(
    "path",
    [*PAGES, *sorted(CODE_PAGES.glob("*.md")), CHECKOUT / "CHANGELOG.md", CHECKOUT / "tests/cases/README.md"],
    ids=lambda p: p.relative_to(CHECKOUT).as_posix(),
)
def test_links(path: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(path.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(target)
    assert broken == []


def test_the_index_has_every_page() -> None:
    index = (DOCS / "index.md").read_text()
    names = [p.relative_to(DOCS).as_posix() for p in PAGES[1:]]
    assert [name for name in names if name != "index.md" and f"]({name})" not in index] == []


TOP = tuple(path.name for path in CHECKOUT.iterdir() if path.is_dir())


def named_paths(cell: str) -> Iterator[str]:
    """The files and folders that a cell of the table names, as patterns; one without a folder is beside the last."""
    beside = ""
    for name in re.findall(r"`([\w/.*-]+)`", re.sub(r"<[^>]*>", "*", cell)):
        if "/" in name:
            whole = name if name.partition("/")[0] in TOP else f"opi_xform/ownership/{name}"
            beside = whole.rpartition("/")[0]
            yield whole
        elif name.endswith((".py", ".toml", ".c", ".h")):
            yield f"{beside or 'opi_xform/ownership'}/{name}"


def test_what_the_architecture_names_is_there() -> None:
    page = (DOCS / "book" / "architecture.md").read_text("utf-8")
    table = page[page.index("## Where to change what") : page.index("### Words")]
    cells = [row.split(" | ")[1] for row in table.split("\n") if row.startswith("| ") and not row.startswith("| to |")]
    named = [name for cell in cells for name in named_paths(cell)]
    assert len(named) > 100
    assert [name for name in named if not list(CHECKOUT.glob(name))] == []


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_page(code: str) -> None:
    text = page(code)
    assert text is not None
    assert code in text.split("\n", 1)[0]
    assert len(text.split()) > 30


def test_every_page_is_of_a_code() -> None:
    assert {p.stem for p in CODE_PAGES.glob("*.md")} == {*CODES, "README"}
    listed = re.findall(
        r"^\| \[(OPI\d+)\]\((OPI\d+)\.md\) \| (.*?) \| (.*) \|$", (CODE_PAGES / "README.md").read_text(), re.M
    )
    assert listed == [(code.code, code.code, code.title, code.meaning) for code in CODES.values()]


def test_the_diagrams_are_those_of_the_tables() -> None:
    drawn = {p.stem: p.read_text("utf-8") for p in (DOCS / "book" / "automata").glob("*.svg")}
    assert drawn == {table.name: svg(table) for table in drawn_tables()}, (
        "python -m opi_xform.report.diagram docs/book/automata"
    )
    page = (DOCS / "book" / "how-it-works.md").read_text("utf-8")
    assert all(f"(automata/{name}.svg)" in page for name in drawn)


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=CHECKOUT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    pages = {p.relative_to(site).as_posix() for p in site.rglob("*.html")}
    assert {"index.html", "tutorial.html", "codes/OPI101.html", "codes/index.html"} <= pages
    page = (site / "book" / "how-it-works.html").read_text("utf-8")
    assert '<a href="../soundness.html">Soundness and assumptions</a> lists' in page
    assert ".md</a>" not in page
    assert "(../../opi_xform/bench/" in (DOCS / "measurements" / "ranks-performance.md").read_text("utf-8")
    page = (site / "measurements" / "ranks-performance.html").read_text("utf-8")
    assert "(<code>opi_xform/bench/sources/ranks/threads.c</code> in the repository)" in page
    loaded = re.findall(r'(?:src|href)="(https?://[^"]+)"', (site / "tutorial.html").read_text("utf-8"))
    assert [url for url in loaded if "squidfunk" not in url] == []  # the theme's own credit
    front = re.findall(r'(?:src|href)="(?!\w+:)([^"#]+)', (site / "index.html").read_text("utf-8"))
    assert "tutorial.html" in front
    assert [link for link in front if not (site / link).is_file()] == [], "read without a server, a folder is a list"


def test_the_site_needs_what_the_makefile_installs_for_it() -> None:
    makefile = (CHECKOUT / "Makefile").read_text("utf-8")
    installed = re.search(r"\.docs-ready: \|.*\n\t\$\(PIP\) '(.*)'\n", makefile)
    assert installed is not None
    assert f'"{installed[1]}"' in (CHECKOUT / "pyproject.toml").read_text("utf-8")
    assert re.search(r"^docs: \$\(VENV\)/\.docs-ready$", makefile, re.M)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_codes_that_are_mentioned_exist(path: Path) -> None:
    assert sorted(set(re.findall(r"\bOPI\d{3}\b", path.read_text())) - set(CODES)) == []


def test_options_in_the_guide_are_those_of_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "opi_xform.cli.main", "--help"], capture_output=True, text=True, timeout=60
    )
    told = (
        done.stdout
        or subprocess.run(
            [str(Path(sys.executable).parent / "opi-xform"), "--help"], capture_output=True, text=True, timeout=60
        ).stdout
    )
    offered = set(re.findall(r"--[a-z][a-z-]+", told))
    guide = (DOCS / "usage.md").read_text()
    table = guide[guide.index("## Options") :]
    assert offered <= set(re.findall(r"--[a-z][a-z-]+", table))
