"""The documentation keeps its word: its commands run, its links lead somewhere, and every code has a page."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import MpiUser

from opi_xform.report.codes import CODES, page

CHECKOUT = Path(__file__).resolve().parents[1]
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]
COMMAND = re.compile(r"(?:\$ +)?((?:[A-Z_]+=\S+ +)*(?:opi-xform|opicc|opi-bench|make|mpiexec|pip)\s.*)")
# Commands with tests of their own, or that take minutes; a new one must be put here or run below.
ELSEWHERE = (
    "make demo",
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
)


def without_code(text: str) -> str:
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def commands(path: Path) -> list[str]:
    """Lines of code blocks, indented or fenced as console or sh, that are commands; comments cut off."""
    out = []
    fence = ""
    for line in path.read_text().split("\n"):
        if line.startswith("```"):
            fence = "" if fence else line[3:].strip() or "text"
            continue
        if fence in ("console", "sh") or (not fence and line.startswith("    ")):
            found = COMMAND.fullmatch(line.strip())
            if found:
                out.append(re.split(r"\s+#|\s{4,}", found.group(1))[0].strip())
    return out


def test_there_are_commands_to_check() -> None:
    assert "opi-xform src/*.c -o out/" in commands(CHECKOUT / "README.md")
    assert "opicc -O2 out/*.c -o app" in commands(CHECKOUT / "docs" / "usage.md")


@pytest.mark.mpi
@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_commands_run(path: Path, tmp_path: Path, mpi_user: MpiUser) -> None:
    """In order, beside a small program in src/; with two ranks, where the page has more."""
    lines = [c for c in commands(path) if not c.startswith(ELSEWHERE)]
    if not lines:
        return
    (tmp_path / "src").mkdir()
    shutil.copy(CHECKOUT / "tests" / "cases" / "convert" / "send_recv_1.c", tmp_path / "src" / "app.c")
    shutil.copy(tmp_path / "src" / "app.c", tmp_path / "app.c")
    tools = f"{Path(sys.executable).parent}:{mpi_user.mpi.mpicc.parent}"
    environment = {
        **mpi_user.environment,
        "PATH": f"{mpi_user.mpi.mpicc.parent}:{tools}:{mpi_user.environment['PATH']}",
    }
    for line in lines:
        launch = f"{mpi_user.mpi.mpicc.parent / 'mpiexec'} {oversubscribe(mpi_user)}-n 2"
        line = re.sub(r"mpiexec -n \d+", launch, line)
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
    "path", [*PAGES, CHECKOUT / "CHANGELOG.md", CHECKOUT / "tests/cases/README.md"], ids=lambda p: p.name
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
    index = (CHECKOUT / "docs" / "index.md").read_text()
    assert [p.name for p in PAGES[1:] if p.name != "index.md" and f"]({p.name})" not in index] == []


@pytest.mark.parametrize("code", sorted(CODES))
def test_every_code_has_a_page(code: str) -> None:
    text = page(code)
    assert text is not None
    assert code in text.split("\n", 1)[0]
    assert len(text.split()) > 30


def test_every_page_is_of_a_code() -> None:
    assert {p.stem for p in (CHECKOUT / "docs" / "codes").glob("*.md")} == set(CODES)


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
    guide = (CHECKOUT / "docs" / "usage.md").read_text()
    table = guide[guide.index("## Options") :]
    assert offered <= set(re.findall(r"--[a-z][a-z-]+", table))
