"""``python -m tests.machines.scale.measure [LINES|DIR…]``: how long opi-xform takes, by part, as a table.

LINES: a program of so many lines is generated.  DIR: a program of somebody's; a file ``DIR.facts`` beside it says how
it is built (``tests/machines/real.py``).  It is copied, and stays as it is.

Each program is analysed three times, with -j 2: with nothing in the cache, again as it is, and with one file touched.
Times are what a clock on the wall says, those of the machine when it is busy; processor time, and ``us/line`` of it,
are the program's own.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.machines.real import Program, programs
from tests.machines.scale.generate import write

LINES = (1000, 5000, 10000, 20000, 40000, 80000)
PARTS = ("parse", "merge", "calls", "relevance", "graph", "values", "decide", "self-check")
COMMAND = "from opi_xform.cli.main import script; script()"


def measured(program: Program, cache: Path) -> dict[str, float]:
    """Seconds by part of one run; ``all``: of the command from start to end; ``MiB`` of memory at most.

    ``processor``: what all its processes used, which is what can be compared on a busy machine.
    """
    options = ["--root", ".", "-v", "-j", "2", "--output-format", "json", "-o", f"{program.folder}.out"]
    path = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *program.sources, *options, "--", *program.compiled()],
        cwd=program.folder,
        env={**os.environ, "OPI_CACHE": str(cache), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - begin
    if done.returncode != 0:
        raise SystemExit(f"opi-xform: exit code {done.returncode}\n{done.stderr}")
    times = {name: float(seconds) for name, seconds in re.findall(r"^ *([\w-]+) +([\d.]+) s$", done.stderr, re.M)}
    processor = re.search(r"^processor +([\d.]+) s", done.stderr, re.M)
    memory = re.search(r"^memory +(\d+) MiB", done.stderr, re.M)
    times["processor"] = float(processor[1]) if processor else 0.0
    return {**times, "all": took, "MiB": float(memory[1]) if memory else 0.0}


def program_in(scratch: Path, wanted: str) -> Program:
    """A program that is generated, or a copy of a directory, in a scratch folder.

    Raises:
        ValueError: it is neither a number nor a directory.
    """
    folder = scratch / "program"
    if wanted.isdecimal():
        write(int(wanted), folder)
        return next(programs([folder], {}, False))
    found = list(programs([Path(wanted).resolve()], {}, False))
    if not found:
        raise ValueError(f"{wanted}: neither a number of lines nor a directory")
    shutil.copytree(found[0].folder, folder, symlinks=True)
    return replace(found[0], folder=folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("wanted", metavar="LINES|DIR", nargs="*", default=[str(lines) for lines in LINES])
    arguments = parser.parse_args()
    heads = ("program", "lines", "run", *PARTS, "all", "processor", "us/line", "MiB")
    print("".join(f"{name:>11}" for name in heads), flush=True)
    for wanted in arguments.wanted:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                program, cache = program_in(Path(scratch), wanted), Path(scratch) / "cache"
            except ValueError as problem:
                parser.error(str(problem))
            lines = program.lines()
            for run in ("first", "again", "one file"):
                if run == "one file":
                    with (program.folder / program.sources[0]).open("a", encoding="utf-8") as file:
                        file.write("/* touched */\n")
                found = measured(program, cache)
                numbers = [f"{found.get(part, 0.0):11.2f}" for part in (*PARTS, "all", "processor")]
                numbers += [f"{1e6 * found['processor'] / lines:11.0f}", f"{found['MiB']:11.0f}"]
                print(f"{Path(wanted).name[:10]:>11}{lines:11d}{run:>11}", *numbers, sep="", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
