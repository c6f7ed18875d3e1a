"""``python -m tests.fuzz.run --seeds N``: random programs before and after the transformation.

Memory that OPI_Alloc gives is filled with garbage first, so that a byte which nothing wrote shows in the output.
Prints what share of the sites converted, and each seed whose outputs differ; ``--keep`` names a folder for its text.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from case_tools import output, run_tool

from opi_xform.launch.mpi import Mpi, find_mpi
from opi_xform.launch.tools import OPICC, compile_with
from tests.fuzz.generate import program

POISON = """#include <stddef.h>
#include <string.h>
int __real_OPI_Alloc(void *place, size_t length);
int __wrap_OPI_Alloc(void *place, size_t length);
int __wrap_OPI_Alloc(void *place, size_t length)
{
    int code = __real_OPI_Alloc(place, length);
    void *memory;
    memcpy(&memory, place, sizeof memory);
    if (memory)
        memset(memory, 0x41, length);
    return code;
}
"""
FLAGS = ("-O1", "-w")


@dataclass(frozen=True, slots=True)
class Outcome:
    """``problem``: '' where the outputs agree.  convert, sites: how many of its sites converted."""

    problem: str
    convert: int
    sites: int


def compare(seed: int, folder: Path, mpi: Mpi) -> Outcome:
    """One random program, transformed and run both ways."""
    before, after = folder / "before", folder / "after"
    before.mkdir(parents=True, exist_ok=True)
    source = before / "program.c"
    source.write_text(program(seed), encoding="utf-8")
    code, out, err = run_tool([str(source), "--output-format", "json", "-j", "1", "-o", str(after)])
    if code != 0:
        return Outcome(f"opi-xform: exit code {code}\n{err[-2000:]}", 0, 0)
    sites = json.loads(out)["sites"]
    convert = sum(site["decision"] == "convert" for site in sites)
    poison = folder / "poison.c"
    poison.write_text(POISON, encoding="utf-8")
    first = compile_with((str(mpi.mpicc),), [str(source)], folder / "original.exe", mpi, FLAGS)
    wrapped = (*FLAGS, "-Wl,--wrap=OPI_Alloc")
    if convert == 0:
        return Outcome("", 0, len(sites))
    second = compile_with(OPICC, [str(after / "program.c"), str(poison)], folder / "transformed.exe", mpi, wrapped)
    expected, found = output(first, mpi), output(second, mpi)
    if expected == found:
        return Outcome("", convert, len(sites))
    lines = [
        f"{a!r} became {b!r}"
        for x, y in zip(expected[1], found[1], strict=False)
        for a, b in zip(x.splitlines(), y.splitlines(), strict=False)
        if a != b
    ]
    return Outcome(f"exit code {expected[0]} became {found[0]}\n" + "\n".join(lines[:5]), convert, len(sites))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for the files of seeds that fail")
    arguments = parser.parse_args()
    mpi = find_mpi()
    failed: list[int] = []
    convert = sites = 0
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            try:
                outcome = compare(seed, folder, mpi)
            except Exception as error:  # a crash of the tool is a finding like any other
                outcome = Outcome(f"{type(error).__name__}: {error}", 0, 0)
            convert, sites = convert + outcome.convert, sites + outcome.sites
            if outcome.problem:
                failed.append(seed)
                print(f"seed {seed}: {outcome.problem}", flush=True)
                if arguments.keep is not None:
                    arguments.keep.mkdir(parents=True, exist_ok=True)
                    (arguments.keep / f"seed{seed}.c").write_text(program(seed), encoding="utf-8")
        if (seed - arguments.first) % 10 == 9:
            print(f"up to seed {seed}: {convert} of {sites} sites converted, {len(failed)} failed", flush=True)
    share = 100 * convert / max(sites, 1)
    print(f"{arguments.seeds} programs, {sites} sites, {convert} converted ({share:.0f} %); failed: {failed or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
