"""``python -m tests.mpich_suite.run PATH``: MPICH's own test suite with libopi, or with thread or fiber ranks.

PATH is the folder test/mpi of an unpacked source of MPICH, which is copied and configured once. Each program goes
through ``opi-xform --privatize`` (``=struct`` for fibers) and is linked as ``opicc --ranks`` does it; ``--carrier
processes`` runs the programs as they are, ``libopi`` linked with it. Each line of the
testlists runs with the number of ranks, the arguments and the variables that it names. Processes that wait let others
run where there are no fewer of them than processors: some lines take minutes else. What came out is kept in the folder
of --work, and a line that has a result is not run again, so that an interrupted run goes on where it was.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from opi_xform.launch.mpi import LaunchError, Mpi, find_mpi
from opi_xform.launch.ranks import Carrier, job
from tests.mpi4py_suite.run import WAITING
from tests.mpich_suite.build import Builder, BuildError, configured
from tests.mpich_suite.lists import DIRECTORIES, Line, read_lists

WORDS = ("pass", "skipped", "refused", "shared", "late", "unbuilt", "wrong")
"""How a line ends. `skipped`: it needs more memory than there is for it, or says itself that the MPI lacks something;
`refused`: libopi_ranks said by name what it does not have; `shared`: it did not pass, and opi-xform said by name which
variables it could not make private."""

FORMS = {"threads": "tls", "fibers": "struct", "processes": None, "libopi": None}
"""What ranks are, and the form of their private variables. `processes`: without libopi; `libopi`: linked with it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one line."""

    word: str
    why: str
    seconds: float


def judge(line: Line, code: int, text: str) -> tuple[str, str]:
    """As the suite's own `runtests` does it: a program prints No Errors and nothing else, and ends with 0."""
    if line.ends:
        return ("pass", "") if code else ("wrong", "it ended without an error")
    if refused := re.search(r"MPI_\w+: not available with .*", text):
        return "refused", refused[0]
    said = [row for row in text.splitlines() if row.strip() and row.strip() != "Test Passed"]
    rest = [row for row in said if row.strip().lower() != "no errors"]
    if code == 0 and any("Test Skipped" in row for row in said):
        return "skipped", said[0].strip()
    if code == 0 and said and not rest:
        return "pass", ""
    return "wrong", "\n".join(rest[:5]) or f"it ended with {code}{'' if said else ' and said nothing'}"


def crowd(ranks: int, carrier: Carrier | None) -> dict[str, str]:
    """What processes need in their environment to make way for each other; libopi_ranks does so by itself."""
    return WAITING if carrier is None and ranks >= (os.cpu_count() or 1) else {}


def run_line(line: Line, words: Sequence[str], limit: int, folder: Path, more: Mapping[str, str]) -> Outcome:
    """Runs a command in the line's own directory, where its files are, with ``more`` in its environment; ends all of
    its processes when its time is over."""
    environment = {**os.environ, **more, **dict(line.environment)}
    if line.ends:
        environment["MPIEXEC_TIMEOUT"] = str(line.limit or limit)  # it waits for ever: the launcher ends it
    began = time.monotonic()
    with subprocess.Popen(
        [*words, *line.arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Outcome("late", f"not ended after {limit} s", limit)
    return Outcome(*judge(line, process.returncode, text), time.monotonic() - began)


def launched(mpi: Mpi, program: Path, ranks: int, processes: int, carrier: Carrier | None) -> list[str]:
    """The command for so many ranks of a kind; None: each a process."""
    if carrier is None:
        return [*mpi.run_command(ranks), str(program)]
    return job(mpi, ["-n", str(ranks), "-p", str(min(ranks, processes))], [str(program)], carrier)


class Results:
    """Outcomes by the names of lines, in a file that grows by a line for each."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.all: dict[str, Outcome] = {}
        if file.is_file():
            for row in file.read_text(encoding="utf-8").splitlines():
                name, word, why, seconds = json.loads(row)
                self.all[name] = Outcome(word, why, seconds)

    def add(self, line: Line, outcome: Outcome) -> None:
        """Keeps it, in the place of an earlier one."""
        self.all[line.name] = outcome
        row = json.dumps([line.name, outcome.word, outcome.why, round(outcome.seconds, 2)])
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{row}\n")


def table(lines: Iterable[Line], results: dict[str, Outcome]) -> str:
    """How many lines of each directory ended how, and what each says that did not pass."""
    counts: dict[str, dict[str, int]] = {}
    rest: list[str] = []
    for line in lines:
        if outcome := results.get(line.name):
            of_folder = counts.setdefault(line.folder, dict.fromkeys(WORDS, 0))
            of_folder[outcome.word] += 1
            if outcome.word != "pass":
                rest.append(f"{outcome.word}: {line.name}: {outcome.why}".replace("\n", "\n    "))
    together = {word: sum(count[word] for count in counts.values()) for word in WORDS}
    rows = [*counts.items(), ("together", together)]
    cells = [("directory", "lines", *WORDS), *((n, str(sum(c.values())), *map(str, c.values())) for n, c in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*shown, "", *rest]).rstrip()


def changes(lines: Iterable[Line], before: dict[str, Outcome], after: dict[str, Outcome]) -> list[str]:
    """The lines that ended in another way than before; each line that has both results is compared."""
    both = [line.name for line in lines if line.name in before and line.name in after]
    found = [(name, before[name].word, after[name]) for name in both if before[name].word != after[name].word]
    rows = [f"{was} -> {now.word}: {name}: {now.why}".replace("\n", "\n    ") for name, was, now in found]
    return [f"{len(both)} lines compared, {len(found)} differ", *rows]


def chosen(lines: Iterable[Line], patterns: Sequence[str]) -> list[Line]:
    """Lines whose directory, directory and program, or name one of the patterns is; without patterns, all."""
    return [
        line
        for line in lines
        if not patterns
        or any(
            fnmatch.fnmatchcase(text, pattern)
            for pattern in patterns
            for text in (line.folder, f"{line.folder}/{line.program}", line.name)
        )
    ]


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs lines of one kind of ranks."""

    builder: Builder
    results: Results
    carrier: Carrier | None
    processes: int
    limit: int
    until: float
    """No program is begun after this moment of the monotonic clock."""
    memory: float
    """GB: a line that says it needs more is not run."""

    def program(self, lines: Sequence[Line]) -> None:
        """Builds one program and runs all of its lines."""
        if time.monotonic() > self.until:
            return
        for line in lines:
            if line.memory > self.memory:
                why = f"it needs {line.memory:g} GB, and has {self.memory:g}"
                self.results.add(line, Outcome("skipped", why, 0))
        lines = [line for line in lines if line.memory <= self.memory]
        if not lines:
            return
        folder, name = lines[0].folder, lines[0].program
        try:
            program, shared = self.builder.program(folder, name)
        except (BuildError, LaunchError) as error:
            for line in lines:
                self.results.add(line, Outcome("unbuilt", str(error), 0))
            return
        for line in lines:
            words = launched(self.builder.mpi, program, line.ranks, self.processes, self.carrier)
            limit = max(line.limit + 10 if line.ends else 0, self.limit)
            outcome = run_line(line, words, limit, self.builder.source / folder, crowd(line.ranks, self.carrier))
            if outcome.word in ("late", "wrong") and shared:
                outcome = Outcome("shared", "; ".join(shared), outcome.seconds)
            self.results.add(line, outcome)
        if all(self.results.all[line.name].word == "pass" for line in lines):
            shutil.rmtree(program.parent, ignore_errors=True)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mpich_suite.run", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("suite", type=Path, help="the folder test/mpi of MPICH's source")
    parser.add_argument("--work", type=Path, default=Path("mpich-suite"), help="where it is built and results are kept")
    parser.add_argument("--carrier", choices=tuple(FORMS), default="threads")
    parser.add_argument("--processes", type=int, default=1, metavar="P", help="how many processes have the ranks")
    parser.add_argument("--stack", metavar="SIZE", help="of each rank")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN", help="coll, coll/bcast*, ...")
    parser.add_argument("--lists", default="testlist", help="testlist,testlist.dtp: which lists of a directory")
    parser.add_argument("--limit", type=int, default=180, metavar="SECONDS", help="of a line")
    parser.add_argument(
        "--until", type=int, default=10**6, metavar="SECONDS", help="begin nothing more after that time"
    )
    parser.add_argument("--memory", type=float, default=4.0, metavar="GB", help="run no line that needs more (mem=)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="how many programs at a time")
    parser.add_argument("--again", action="store_true", help="what has a result, too")
    parser.add_argument("--against", choices=tuple(FORMS), help="print the lines that end otherwise than with these")
    parser.add_argument("--table", action="store_true", help="run nothing, print what is known")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what has no result yet and prints the table; 1 when a line did not pass."""
    asked = parse(arguments)
    work: Path = asked.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    mpi = find_mpi()
    source = configured(asked.suite, work, mpi)
    results = Results(work / f"{asked.carrier}{asked.processes if asked.processes > 1 else ''}.jsonl")
    lines = chosen(read_lists(source, DIRECTORIES, asked.lists.split(",")), asked.only)
    if not asked.table:
        programs: dict[tuple[str, str], list[Line]] = {}
        for line in lines:
            if asked.again or line.name not in results.all:
                programs.setdefault((line.folder, line.program), []).append(line)
        carrier = None if FORMS[asked.carrier] is None else Carrier(asked.carrier, asked.stack)
        builder = Builder(source, work, mpi, FORMS[asked.carrier], asked.carrier == "libopi")
        for threads in sorted({folder.startswith("threads/") for folder, _ in programs}):
            builder.util(threads)
        runner = Runner(
            builder, results, carrier, asked.processes, asked.limit, time.monotonic() + asked.until, asked.memory
        )
        with ThreadPoolExecutor(asked.jobs) as pool:
            list(pool.map(runner.program, programs.values()))
    print(table(lines, results.all))
    if asked.against:
        print("\n".join(["", *changes(lines, Results(work / f"{asked.against}.jsonl").all, results.all)]))
    return 0 if all(line.name in results.all and results.all[line.name].word == "pass" for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
