"""``python -m tests.scale.measure [LINES…]``: how long opi-xform takes for generated programs, by part, as a table.

Each program is analysed three times, with -j 2: with nothing in the cache, again as it is, and with one file touched.
Times are what a clock on the wall says, those of the machine when it is busy; processor time, and ``us/line`` of it,
are the program's own.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.scale.generate import write

LINES = (1000, 5000, 10000, 20000, 40000, 80000)
PARTS = ("parse", "merge", "calls", "relevance", "graph", "values", "decide", "self-check")
COMMAND = "from opi_xform.cli.main import script; script()"


def measured(folder: Path, cache: Path) -> dict[str, float]:
    """Seconds by part of one run; ``all``: of the command from start to end; ``MiB`` of memory at most.

    ``processor``: what all its processes used, which is what can be compared on a busy machine.
    """
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(folder), "-v", "-j", "2", "--output-format", "json", "-o", f"{folder}.out"],
        env={**os.environ, "OPI_CACHE": str(cache)},
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", type=int, nargs="*", default=LINES)
    arguments = parser.parse_args()
    print("".join(f"{name:>11}" for name in ("lines", "run", *PARTS, "all", "processor", "us/line", "MiB")), flush=True)
    for wanted in arguments.lines:
        with tempfile.TemporaryDirectory() as scratch:
            folder, cache = Path(scratch) / "program", Path(scratch) / "cache"
            lines = write(wanted, folder)
            for run in ("first", "again", "one file"):
                if run == "one file":
                    with open(folder / "m0000.c", "a", encoding="utf-8") as file:
                        file.write("/* touched */\n")
                found = measured(folder, cache)
                numbers = [f"{found.get(part, 0.0):11.2f}" for part in (*PARTS, "all", "processor")]
                numbers += [f"{1e6 * found['processor'] / lines:11.0f}", f"{found['MiB']:11.0f}"]
                print(f"{lines:11d}{run:>11}", *numbers, sep="", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
