"""``python -m tests.machines.real DIR…``: programs of other people, before and after, as a table in Markdown.

Every directory is a program.  How it is built and run is one line, as for the command itself, in a file ``DIR.facts``
beside it or in ``--facts DIR=LINE``::

    src/a.c src/b.c -- -Iinclude -DN=100 -lm -- arguments of the program < its input

Sources, flags and arguments may each be left out: then they are all ``.c`` files, ``-lm``, and none.  With ``--each``
every ``.c`` file with a ``main`` is a program by itself.  The analysis starts with nothing in its cache, at ``-j 2``.

The exit code is 1 where a program shows that the tool is wrong: a traceback, no end, a result that does not build or
prints something else.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opi_xform.launch.mpi import Mpi, find_mpi

COMMAND = "from opi_xform.cli.main import script; script()"
FAULTS = ("traceback", "no end", "only before", "differs")
"""What a column says where the tool is at fault; all else is a fact about the program."""
RANKS = (2, 4)
MORE_RUNS = 3  # of an original, to see whether it prints the same each time
_MAIN = re.compile(r"^\s*(?:int|void)?\s*main\s*\(", re.M)
_WORD = re.compile(r"[^\s,;:=()\[\]]+")


@dataclass(frozen=True, slots=True)
class Program:
    """A directory, and what its line of facts says."""

    folder: Path
    name: str
    sources: tuple[str, ...]
    flags: tuple[str, ...] = ("-lm",)
    arguments: tuple[str, ...] = ()
    input: str = os.devnull

    def lines(self) -> int:
        """Of the sources, as they are."""
        return sum(len((self.folder / name).read_bytes().splitlines()) for name in self.sources)

    def compiled(self) -> tuple[str, ...]:
        """The flags without those for the linker."""
        return tuple(flag for flag in self.flags if not flag.startswith(("-l", "-L", "-Wl,")))


@dataclass(slots=True)
class Row:
    """What was seen of a program, by column."""

    program: Program
    analysis: str = ""
    seconds: float = 0.0
    mib: float = 0.0
    convert: int = 0
    keep: Counter[str] = field(default_factory=Counter)
    builds: str = "–"
    runs: dict[int, str] = field(default_factory=dict)

    def faulty(self) -> bool:
        return any(said.startswith(FAULTS) for said in (self.analysis, self.builds, *self.runs.values()))

    def cells(self) -> list[str]:
        sites = self.convert + self.keep.total()
        codes = ", ".join(f"{code} {count}" for code, count in self.keep.most_common())
        numbers = [f"{self.program.lines()}", self.analysis, f"{self.seconds:.1f}", f"{self.mib:.0f}", f"{sites}"]
        return [self.program.name, *numbers, f"{self.convert}", codes, self.builds, *self.runs.values()]


HEADS = ("program", "lines", "analysis", "s", "MiB", "sites", "converted", "kept", "builds")


def program_of(folder: Path, line: str, name: str = "") -> Program:
    """Of a directory and its line.

    Raises:
        ValueError: a quotation in the line has no end, or ``<`` no file.
    """
    parts: list[list[str]] = [[]]
    words = iter(shlex.split(line))
    stdin = os.devnull
    for word in words:
        if word == "<":
            stdin = next(words, "")
            if not stdin:
                raise ValueError(f"{folder}: no file after < in: {line}")
        elif word == "--" and len(parts) < 3:
            parts.append([])
        else:
            parts[-1].append(word)
    sources = [str(p.relative_to(folder)) for word in parts[0] or ["**/*.c"] for p in sorted(folder.glob(word))]
    flags = tuple(parts[1]) if len(parts) > 1 else ("-lm",)
    arguments = tuple(parts[2]) if len(parts) > 2 else ()
    return Program(folder, name or folder.name, tuple(sources), flags, arguments, stdin)


def programs(folders: Sequence[Path], facts: dict[Path, str], each: bool) -> Iterator[Program]:
    """The programs of the directories, in their order."""
    for folder in filter(Path.is_dir, folders):
        beside = folder.with_name(folder.name + ".facts")
        line = facts.get(folder) or (beside.read_text(encoding="utf-8").strip() if beside.exists() else "")
        if not each:
            yield program_of(folder, line)
            continue
        for path in sorted(folder.rglob("*.c")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if _MAIN.search(text) and "MPI_Init" in text:
                own = str(path.relative_to(folder))
                yield program_of(path.parent, shlex.quote(path.name) + " " + line, own)


class Trial:
    """One program in a scratch folder: ``before`` and ``after`` are whole copies of its directory."""

    def __init__(self, program: Program, scratch: Path, mpi: Mpi, limit: float) -> None:
        self.row = Row(program)
        self.program = program
        self.scratch = scratch
        self.mpi = mpi
        self.limit = limit

    def all(self) -> Row:
        self._analyse()
        if self.row.analysis == "ends" and self.row.convert:
            self._build()
            if self.row.builds == "both":
                for ranks in RANKS:
                    self.row.runs[ranks] = self._run(ranks)
        for ranks in RANKS:
            self.row.runs.setdefault(ranks, "–")
        return self.row

    def _analyse(self) -> None:
        """Time, memory and sites; the transformed program lies in ``after`` then."""
        program, row = self.program, self.row
        for form in ("before", "after"):
            shutil.copytree(program.folder, self.scratch / form, symlinks=True)
        command = [sys.executable, "-c", COMMAND, *program.sources, "--root", ".", "-o", str(self.scratch / "out")]
        command += ["-j", "2", "--output-format", "json", "--", *program.compiled()]
        environment = {**os.environ, "OPI_CACHE": str(self.scratch / "cache")}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))
        report, said = self.scratch / "report.json", self.scratch / "stderr"
        begin = time.monotonic()
        with report.open("wb") as out, said.open("wb") as err:
            tool = subprocess.Popen(command, cwd=self.scratch / "before", env=environment, stdout=out, stderr=err)
            status, row.mib = self._ended(tool, begin)
        row.seconds = time.monotonic() - begin
        text = said.read_text(errors="replace")
        if status is None:
            row.analysis = "no end"
        elif "internal error" in text or "Traceback" in text:
            row.analysis = "traceback"
        elif status != 0:
            row.analysis = f"exit {status}"
        else:
            row.analysis = "ends"
            sites = json.loads(report.read_text())["sites"]
            row.convert = sum(site["decision"] == "convert" for site in sites)
            row.keep.update(site["code"] for site in sites if site["decision"] == "keep")
            shutil.copytree(self.scratch / "out", self.scratch / "after", dirs_exist_ok=True)

    def _ended(self, tool: subprocess.Popen[bytes], begin: float) -> tuple[int | None, float]:
        """Exit status, None after the limit, and the most memory that one of its processes had."""
        while True:
            done, status, used = os.wait4(tool.pid, os.WNOHANG)
            if done:
                tool.returncode = os.waitstatus_to_exitcode(status)
                return tool.returncode, used.ru_maxrss / 1024
            if time.monotonic() - begin > self.limit:
                tool.kill()
                return None, os.wait4(tool.pid, 0)[2].ru_maxrss / 1024
            time.sleep(0.02)

    def _build(self) -> None:
        compilers = {"before": [self.mpi.mpicc], "after": [sys.executable, "-m", "opi_xform.launch.opicc"]}
        built = {}
        for form, compiler in compilers.items():
            flags = [*self.program.sources, "-O2", "-w", *self.program.flags, "-o", str(self.scratch / f"{form}.exe")]
            # the compiler runs where the sources are: their own -I are relative to it
            # and __TIME__ is the same in both
            environment = {**os.environ, "PYTHONPATH": os.getcwd(), "SOURCE_DATE_EPOCH": "0"}
            done = subprocess.run([*compiler, *flags], cwd=self.scratch / form, env=environment, capture_output=True)
            built[form] = done.returncode == 0
        self.row.builds = {(True, True): "both", (True, False): "only before", (False, True): "only after"}.get(
            (built["before"], built["after"]), "neither"
        )

    def _run(self, ranks: int) -> str:
        """``same``, or what else; numbers that the original itself prints anew each time do not count."""
        first, second = self._ended_run("before", ranks, {}), self._ended_run("before", ranks, {})
        if first is None:
            return "before: no end"
        for environment in ({}, {"OPI_CHECK": "1"}):
            after = self._ended_run("after", ranks, environment)
            if after is None or not agree(first, second or first, after):
                how = " with OPI_CHECK=1" if environment else ""
                if self._varies(ranks, first, second):
                    return "varies"
                return "before: fails" if first[0] else f"differs{how}"
        return "same" if first[0] == 0 else f"same, exit {first[0]}"

    def _varies(self, ranks: int, first: tuple[int, str], second: tuple[int, str] | None) -> bool:
        """The original itself prints something else now and then: it tells nothing."""
        more = [self._ended_run("before", ranks, {}) for _ in range(MORE_RUNS)]
        return any(third is None or not agree(first, second or first, third) for third in more)

    def _ended_run(self, form: str, ranks: int, environment: dict[str, str]) -> tuple[int, str] | None:
        """Exit code, and what it printed in the order of the lines' text; None where it does not end."""
        program = [str(self.scratch / f"{form}.exe"), *self.program.arguments]
        command = [*self.mpi.run_command(ranks), *program]
        folder = self.scratch / form
        stdin = folder / self.program.input
        try:
            with stdin.open("rb") as given:
                done = subprocess.run(
                    command, cwd=folder, env={**os.environ, **environment}, stdin=given, capture_output=True, timeout=60
                )
        except subprocess.TimeoutExpired:
            return None
        return done.returncode, "\n".join(sorted(done.stdout.decode(errors="replace").splitlines()))


def agree(first: tuple[int, str], second: tuple[int, str], after: tuple[int, str]) -> bool:
    """The third run ends as the first does, but for words in which two runs of the original differ."""
    if (first[0] == 0) != (after[0] == 0):
        return False
    if after[1] in (first[1], second[1]):
        return True
    words = [_WORD.findall(text) for _, text in (first, second, after)]
    if not len(words[0]) == len(words[1]) == len(words[2]):
        return False
    return all(a == c or a != b for a, b, c in zip(*words, strict=True))


def table(rows: Sequence[Row]) -> str:
    heads = [*HEADS, *(f"{ranks} ranks" for ranks in RANKS)]
    lines = [heads, ["---"] * len(heads), *(row.cells() for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+")
    parser.add_argument("--facts", metavar="DIR=LINE", action="append", default=[], help="how DIR is built and run")
    parser.add_argument("--each", action="store_true", help="every .c file with a main is a program")
    parser.add_argument("--limit", type=float, default=600, help="seconds after which an analysis has no end")
    arguments = parser.parse_args()
    facts = {Path(folder).resolve(): line for folder, _, line in (text.partition("=") for text in arguments.facts)}
    mpi = find_mpi()
    rows = []
    for program in programs([folder.resolve() for folder in arguments.folders], facts, arguments.each):
        with tempfile.TemporaryDirectory(prefix="real") as scratch:
            rows.append(Trial(program, Path(scratch), mpi, arguments.limit).all())
        print(*rows[-1].cells(), sep="\t", file=sys.stderr, flush=True)
    print(table(rows))
    return 1 if any(row.faulty() for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
