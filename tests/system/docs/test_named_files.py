"""Pages and comments name files that are there: modules in the pages of the architecture, pages everywhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import filter as fitting
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BOOK = ROOT / "docs" / "book"
FRONTEND = "opi_xform/frontend"
ARCHITECTURE = sorted(BOOK.glob("architecture*.md"))
OF_TOOLS = ("__pycache__", "_data", "build", "site")
"""Folders that tools make; so are those whose names begin with a dot or end in .egg-info."""
KINDS = (".py", ".toml", ".c", ".h", ".j2", ".json", ".md", "/")
"""Ends of what is a file or a folder wherever it is quoted; so is what has a slash."""
METAVAR = "FILE.md"
"""What the user names."""
PAGE = re.compile(r"(?<![\w/.*{}%<>-])(?:\.{0,2}/)*((?:[\w.-]+/)*[\w-]+\.md)\b(?!\w)")


def ours(path: Path) -> bool:
    return not (path.name.startswith(".") or path.name in OF_TOOLS or path.name.endswith(".egg-info"))


@cache
def paths() -> tuple[Path, ...]:
    """All files and folders of the checkout."""
    out: list[Path] = []
    work = [ROOT]
    while work:
        found = sorted(path for path in work.pop().iterdir() if ours(path))
        out += found
        work += (path for path in found if path.is_dir() and not path.is_symlink())
    return tuple(out)


@cache
def names() -> frozenset[str]:
    """Each by its name, with one folder, with two, ...; a folder has a slash at its end, too."""
    out = set()
    for path in paths():
        parts = path.relative_to(ROOT).parts
        tails = ["/".join(parts[i:]) for i in range(len(parts))]
        out.update(tails)
        if path.is_dir():
            out.update(f"{tail}/" for tail in tails)
    return frozenset(out)


def is_there(name: str) -> bool:
    return bool(fitting(names(), name)) if "*" in name else name in names()


def quoted(text: str) -> Iterator[str]:
    """Words in code quotes that may be names; ``<package>`` stands for any."""
    for word in re.findall(r"`([\w./*-]+)`", re.sub(r"<[^>]*>", "*", text)):
        if word != METAVAR:
            yield word


@pytest.mark.parametrize("page", ARCHITECTURE, ids=lambda p: p.name)
def test_files_that_the_architecture_names_are_there(page: Path) -> None:
    words = [word for word in quoted(page.read_text(encoding="utf-8")) if word.endswith(KINDS) or "/" in word]
    modules = [f"{word}.py" if page.name == "architecture-frontend.md" and "." not in word else word for word in words]
    named = [word if is_there(word) else module for word, module in zip(words, modules, strict=True)]
    assert len(named) > 10
    assert [name for name in named if not is_there(name)] == []


@cache
def defined() -> frozenset[str]:
    """Modules of the front end, and functions and classes of these and of the IR."""
    out = set()
    for package in (FRONTEND, "opi_xform/ir"):
        for path in (ROOT / package).rglob("*.py"):
            if package == FRONTEND:
                out.add(path.stem)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    out.add(node.name)
    return frozenset(out)


def test_modules_that_the_page_of_the_front_end_lists_are_there() -> None:
    page = (BOOK / "architecture-frontend.md").read_text(encoding="utf-8")
    rows = [line for line in page.split("\n") if line.startswith("| ")]
    words = {word for row in rows for word in quoted(row) if word.isidentifier()}
    assert len(words) > 20
    assert sorted(words - defined()) == []


def test_pages_that_are_named_anywhere_are_there() -> None:
    wrong = []
    for path in paths():
        if path.is_dir():
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for name in PAGE.findall(text):
            if name != METAVAR and not is_there(name):
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert wrong == []
