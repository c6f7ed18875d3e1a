"""Writes docs/mpi/functions.md: each function of MPI, and what process, thread and fiber ranks do with it.

``python -m opi_xform.bindings.coverage PAGE TESTS MPICC...`` compiles the tests of thread and fiber ranks: one counts
for a function that its object file calls. TESTS may be several directories with colons between them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from opi_xform.bindings.header import HeaderError, read_header
from opi_xform.bindings.ranks import RanksTable, kind_of, ranks_source_dir, read_ranks_table, written
from opi_xform.bindings.table import read_table
from opi_xform.resources import runtime_include_dir

HEAD = """# Functions of MPI, one by one

Written by `python -m opi_xform.bindings.coverage`. *Process ranks* are those of libopi: it takes part in the calls that
are marked so ([which, and how tested](coverage.md)), all others are the MPI's own. *Thread and fiber ranks* are
those of [libopi_ranks](../ranks.md), one engine for both: `yes` is its own, `MPI below` is passed to the MPI, whose
object or value it concerns; `no` ends the job with the function's name. The last column names programs of
`runtime/tests/ranks` and `runtime/tests/onesided` that call it, run on both carriers
(`tests/runtime/ranks/test_ranks.py`, `tests/runtime/test_onesided.py`); `-` says that none does.

| function | process ranks | thread and fiber ranks | tested by |
|---|---|---|---|
"""


def calls(mpicc: Path, source: Path) -> frozenset[str]:
    """The functions of MPI that a program calls. Raises HeaderError when it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "test.o"
        command = [str(mpicc), f"-I{runtime_include_dir()}", "-c", str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise HeaderError(f"{source}: {done.stderr.strip()[:300]}")
        listed = subprocess.run(["nm", "-u", str(made)], capture_output=True, text=True, check=True).stdout
    return frozenset(word for word in listed.split() if word.startswith("MPI"))


def verdict(name: str, table: RanksTable, by_hand: frozenset[str]) -> str:
    """What thread and fiber ranks do with a function."""
    kind = kind_of(name, table, by_hand)
    return {"missing": "no", "below": "MPI below"}.get(kind, "yes")


def page(names: Iterable[str], programs: Mapping[str, frozenset[str]]) -> str:
    """The text of the page; ``programs`` are the tests and what they call."""
    processes, table, by_hand = read_table(), read_ranks_table(), written(ranks_source_dir())
    lines = []
    for name in sorted(set(names)):
        ranks = verdict(name, table, by_hand)
        tests = ", ".join(test for test, called in programs.items() if name in called) or "-"
        below = "libopi" if name in processes.covered else "MPI"
        lines.append(f"| {name} | {below} | {ranks} | {'' if ranks == 'no' else tests} |\n")
    return HEAD + "".join(lines)


def directories(text: str) -> list[Path]:
    """Paths with colons between them."""
    return [Path(part) for part in text.split(":")]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m opi_xform.bindings.coverage", description="The list of functions.")
    parser.add_argument("page", type=Path)
    parser.add_argument("tests", type=directories, help="the directories of the tests of thread and fiber ranks: A:B")
    parser.add_argument("mpicc", nargs="+", type=Path, help="compilers of the MPIs whose mpi.h is read")
    options = parser.parse_args(arguments)
    try:
        names = [name for mpicc in options.mpicc for name in read_header(mpicc)]
        sources = sorted((c for folder in options.tests for c in folder.glob("*.c")), key=lambda c: c.name)
        programs = {
            source.name: frozenset[str]().union(*(calls(mpicc, source) for mpicc in options.mpicc))
            for source in sources
        }
    except HeaderError as error:
        print(f"bindings: {error}", file=sys.stderr)
        return 2
    options.page.write_text(page(names, programs), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
