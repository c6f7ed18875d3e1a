"""What the suite's directories say: the lines of a testlist, and what a program is built from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

DIRECTORIES = (
    *("attr", "coll", "comm", "datatype", "errhan"),
    *("errors/attr", "errors/coll", "errors/comm", "errors/datatype", "errors/group", "errors/pt2pt", "errors/topo"),
    *("group", "info", "init", "topo", "pt2pt", "threads/init"),
    *("rma", "errors/rma"),
)
"""Those that have programs in C about what libopi_ranks has, and one-sided communication: not io, part, spawn,
mpi_t, nor those whose ranks call MPI from several threads."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a testlist: a program, and how it is run."""

    folder: str
    program: str
    ranks: int
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    limit: int = 0
    """Seconds that the suite gives it; 0: as many as to all."""
    ends: bool = False
    """It passes when it ends with an error, whatever it prints (`resultTest=TestErrFatal`, `TestStatus`)."""
    memory: float = 0
    """GB that all of its ranks need together, where that is much (`mem=`)."""

    @property
    def name(self) -> str:
        """As the testlist has it; no other line of the same list has the same one."""
        settings = (f"{key}={value}" for key, value in self.environment)
        return " ".join((f"{self.folder}/{self.program}", str(self.ranks), *self.arguments, *settings))


def read_line(folder: str, text: str) -> Line | None:
    """None for a comment. What the suite says of known failures and of strictness changes nothing here."""
    words = text.split()
    if not words or words[0].startswith("#"):
        return None
    settings = [(key, value) for key, _, value in (word.partition("=") for word in words[2:])]
    return Line(
        folder,
        words[0],
        int(words[1]) if len(words) > 1 else 2,
        tuple(value for key, value in settings if key == "arg"),
        tuple(value.partition("=")[::2] for key, value in settings if key == "env"),
        max((int(value) for key, value in settings if key == "timeLimit"), default=0),
        any(key == "resultTest" and value in ("TestErrFatal", "TestStatus") for key, value in settings),
        max((float(value) for key, value in settings if key == "mem"), default=0.0),
    )


def read_lists(source: Path, folders: Iterable[str], lists: Iterable[str]) -> list[Line]:
    """The lines of these directories, in order. ``lists`` are names such as `testlist` and `testlist.dtp`."""
    files = [(folder, source / folder / name) for folder in folders for name in lists]
    texts = [(folder, file.read_text(encoding="utf-8").splitlines()) for folder, file in files if file.is_file()]
    return [line for folder, text in texts for row in text if (line := read_line(folder, row))]


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a program is built from."""

    sources: tuple[str, ...]
    defines: tuple[str, ...]
    hosted: bool = False
    """It has no main: `util/run_mpitests.c`, which many such tests share, calls its `run`."""


def _hosted(source: Path, folder: str, program: str) -> bool:
    """As the suite's own generator of makefiles has it; the list that it reads is there before it has run."""
    made, asked = source / folder / "Makefile_mpitests.mk", source / "maint" / "all_mpitests.txt"
    if made.is_file():
        return f"\n{program}_LDADD = $(run_mpitests_obj)" in "\n" + made.read_text(encoding="utf-8")
    rows = asked.read_text(encoding="utf-8").splitlines() if asked.is_file() else []
    return any(row.split()[:1] == [f"{folder}/{program}"] for row in rows)


def read_recipe(source: Path, folder: str, program: str) -> Recipe:
    """From Makefile.am: a program that it says nothing of is the file of its name."""
    text = (source / folder / "Makefile.am").read_text(encoding="utf-8").replace("\\\n", " ")

    def said(what: str) -> list[str]:
        found = re.search(rf"^{re.escape(program)}_{what}\s*=(.*)$", text, re.MULTILINE)
        return found[1].split() if found else []

    defines = tuple(word for word in said("CPPFLAGS") if word.startswith("-D"))
    sources = tuple(word for word in said("SOURCES") if not word.endswith(".h"))
    return Recipe(sources or (f"{program}.c",), defines, _hosted(source, folder, program))
