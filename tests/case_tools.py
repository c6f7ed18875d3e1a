"""The annotated cases of tests/cases: reading them, analysing, transforming and running them.

tests/cases/README.md describes the comments. Lines count from 1; a file is named by its path below the case's folder.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar
from zlib import crc32

from opi_xform.launch.mpi import Mpi
from opi_xform.launch.opicc import link_flags
from opi_xform.launch.runtime import ensure_runtime
from opi_xform.launch.tools import captured, compile_with
from opi_xform.ownership.decisions import REPLACING
from opi_xform.resources import runtime_include_dir

CASES = Path(__file__).resolve().parent / "cases"
GROUPS = ("convert", "keep", "either")
RANKS = 2
FLAGS = ("-O2", "-w")
USED = tuple(f"-Werror=unused-{what}" for what in ("variable", "parameter", "function"))
"""Without but-set-variable: GCC says it of arrays, too, of which clang says nothing."""

_WISH = re.compile(r"\b(give|take)\(([^)]*)\)|\b(keep|replace)\b(?:\(([^)]*)\))?(?:\s+(OPI\d+))?")


class Named(Protocol):
    """What a sample may be taken of."""

    @property
    def name(self) -> str: ...


C = TypeVar("C", bound=Named)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is expected of a site. kind: give, take, keep or replace.  buffer and code are '' where none is named."""

    file: str
    line: int
    kind: str
    buffer: str
    code: str
    stale_count: bool

    def meets(self, site: Site) -> bool:
        """The site is the one this is about."""
        side = {"give": "send", "take": "recv", "keep": site.side, "replace": "recv"}[self.kind]
        named = not self.must or not self.buffer or self.buffer in site.buffer
        return (site.file, site.line, site.side) == (self.file, self.line, side) and named

    @property
    def must(self) -> bool:
        """It is about soundness: what is forbidden, and no wish."""
        return self.kind in ("keep", "replace")

    def broken_by(self, site: Site) -> bool:
        """The site does what this forbids: it converts, or (replace) by a call that loses what was there."""
        return site.decision == "convert" or (self.kind == "keep" and site.decision == "replace")


@dataclass(frozen=True, slots=True)
class Site:
    """A site of the report; ``why``: its code, message and notes for a failing test's message.

    decision: keep, convert, or replace where it converts and keeps what is there from MPI_PROC_NULL.
    """

    file: str
    line: int
    side: str
    buffer: str
    decision: str
    code: str
    why: str


@dataclass(frozen=True, slots=True)
class Case:
    """``files``: all C files; ``analysed``: those the tool is given; ``texts``: of every file, headers too; ``flags``:
    further ones of the compiler.
    """

    name: str
    folder: Path
    files: tuple[str, ...]
    analysed: tuple[str, ...]
    texts: dict[str, str]
    wishes: tuple[Wish, ...]
    flags: tuple[str, ...] = ()

    @property
    def construct(self) -> str:
        """The name without its number: the construct a rewriting belongs to."""
        return self.name.rpartition("_")[0]

    def write(self, folder: Path, texts: dict[str, str] | None = None) -> None:
        """Put the case's files, or other texts under their names, into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (texts or self.texts).items():
            (folder / name).write_text(text, encoding="utf-8")


@cache
def load_cases(group: str) -> tuple[Case, ...]:
    """The cases of ``keep``, ``convert`` or ``either`` in all folders, or those of ``phrases``, by name."""
    found = (CASES / group).iterdir() if group not in GROUPS else CASES.glob(f"*/{group}/*")
    paths = sorted(found, key=lambda path: path.name)
    return tuple(_load(path) for path in paths if path.is_dir() or path.suffix == ".c")


def sample(cases: Sequence[C], one_in: int, salt: str = "") -> list[C]:
    """About one in ``one_in`` of what has names, chosen by a hash of ``salt`` and the name.

    What is in a sample stays in it when others come and go: a new case moves no other case in or out.
    """
    return [case for case in cases if crc32(f"{salt}{case.name}".encode()) % one_in == 0]


def named_cases(names: Sequence[str]) -> tuple[Case, ...]:
    """The cases of ``convert`` and ``keep`` with these names, in this order; no other case is read."""
    files = {path.stem: path for group in ("convert", "keep") for path in CASES.glob(f"*/{group}/*")}
    return tuple(_load(files[name]) for name in names)


def case_path(group: str, name: str) -> Path:
    """The file or the folder of a case: its name is that of one only."""
    (found,) = CASES.glob(f"*/{group}/{name}")
    return found


def _load(path: Path) -> Case:
    folder, inside = (path, sorted(path.glob("*.[ch]"))) if path.is_dir() else (path.parent, [path])
    texts = {file.name: file.read_text(encoding="utf-8") for file in inside}
    sources = tuple(name for name in texts if name.endswith(".c"))
    named = tuple(found[1] for text in texts.values() for found in re.finditer(r"//~ analyse (\S+)", text))
    wishes = tuple(wish for name, text in texts.items() for wish in _wishes(name, text))
    flags = tuple(
        flag for text in texts.values() for found in re.finditer(r"//~ flags (.+)", text) for flag in found[1].split()
    )
    return Case(path.stem, folder, sources, named or sources, texts, wishes, flags)


def _wishes(file: str, text: str) -> Iterator[Wish]:
    for number, line in enumerate(text.splitlines(), 1):
        _, mark, comment = line.partition("//~ ")
        if not mark or comment.startswith(("hole:", "analyse ", "flags ", "silent: ", "replaces: ", "points ")):
            continue
        for found in _WISH.finditer(comment):
            kind, buffer = (found[1], found[2]) if found[1] else (found[3], found[4] or "")
            yield Wish(file, number, kind, buffer, found[5] or "", "no-stale-count" not in comment)


def run_tool(arguments: list[str]) -> tuple[int, str, str]:
    """opi-xform inside this process: exit code, stdout, stderr."""
    from opi_xform.cli.main import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    texts = []
    for stream in (out, err):
        stream.flush()
        stream.seek(0)
        texts.append(stream.read())
    return code, texts[0], texts[1]


def analyse(case: Case, folder: Path, *more: str) -> tuple[Site, ...]:
    """The sites of a case whose files lie in ``folder``; ``more``: further arguments of opi-xform."""
    arguments = [str(folder / name) for name in case.analysed]
    code, out, err = run_tool([*arguments, "--output-format", "json", "-j", "1", *more, "--", *case.flags])
    assert code == 0, f"{case.name}: exit code {code}\n{err}"
    return tuple(_site(site) for site in json.loads(out)["sites"])


def _site(site: dict[str, Any]) -> Site:
    notes = "".join(f"\n      {note['line']}: {note['message']}" for note in site["notes"])
    why = f"{site['code']} {site['message']}{notes}"
    name = Path(site["file"]).name
    decision = "replace" if site["message"].startswith(REPLACING) else site["decision"]
    return Site(name, site["line"], site["side"], site["buffer"], decision, site["code"], why)


def transform(case: Case, folder: Path, out: Path) -> tuple[Site, ...]:
    """Transform a case into ``out``; the files that the tool is not given are put beside the result."""
    sites = analyse(case, folder, "-o", str(out))
    for name, text in case.texts.items():
        if not (out / name).exists():
            (out / name).write_text(text, encoding="utf-8")
    return sites


def output(program: Path, mpi: Mpi) -> tuple[int, tuple[str, ...]]:
    """Exit code and what each of two ranks printed, into a file of its own: a launcher may mix their lines."""
    printed = program.with_suffix(".out")
    into = 'exec "$0" > "$1.${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}"'
    done = captured([*mpi.run_command(RANKS), "sh", "-c", into, str(program), str(printed)], mpi, timeout_s=60)
    texts = tuple(file.read_text(encoding="utf-8") for file in sorted(printed.parent.glob(f"{printed.name}.*")))
    return done.returncode, texts


def build_original(case: Case, folder: Path, mpi: Mpi) -> Path:
    """The case as it is, built by the MPI's own compiler."""
    sources = [str(folder / name) for name in case.files]
    return compile_with((str(mpi.mpicc),), sources, folder / "original.exe", mpi, (*FLAGS, *case.flags))


def build_transformed(case: Case, folder: Path, mpi: Mpi) -> Path:
    """The transformed case, built by what opicc runs: starting Python takes as long as the compiler does.

    No case has something that nothing uses, and none may have it then (``rewrite/unused.py``).
    """
    sources = [str(folder / name) for name in case.files]
    compiler = (str(mpi.mpicc), "-isystem", str(runtime_include_dir()))
    flags = (*(flag for flag in FLAGS if flag != "-w"), *USED, *case.flags)
    return compile_with(compiler, [*sources, *_libopi(mpi)], folder / "transformed.exe", mpi, flags)


@cache
def _libopi(mpi: Mpi) -> tuple[str, ...]:
    """What links libopi, whose sources no test changes."""
    return tuple(link_flags(ensure_runtime(mpi)))
