"""``make check-testdata``: what got worse in the programs of testdata/ than their baselines say.

Which folders make a program is what `opi-bench apps` goes by; the baseline is named after the first of them.
``--write`` writes the baselines anew.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from opi_xform.bench.whole.apps import APPS
from opi_xform.cli.main import main as xform

TESTDATA = Path(__file__).resolve().parent.parent / "testdata"
PROGRAMS: tuple[tuple[str, ...], ...] = tuple(dict.fromkeys([*(app.folders for app in APPS), ("opbench",)]))
"""The folders of each program, below testdata/."""


def baseline(folders: tuple[str, ...]) -> Path:
    """Below testdata/."""
    return Path("baselines", f"{folders[0]}.json")


def check(folders: tuple[str, ...]) -> list[str]:
    """The arguments of opi-xform, in testdata/."""
    return ["--check", *folders, "--baseline", str(baseline(folders))]


def main() -> int:
    """The exit code: the worst that opi-xform had."""
    options = argparse.ArgumentParser(prog="python -m tests.baselines", description=__doc__)
    options.add_argument("--write", action="store_true", help="write what the programs give now")
    write = options.parse_args().write
    os.chdir(TESTDATA)
    worst = 0
    for folders in PROGRAMS:
        print(" ".join(folders), flush=True)
        worst = max(worst, xform([*folders, "--write-baseline", str(baseline(folders))] if write else check(folders)))
    return worst


if __name__ == "__main__":
    sys.exit(main())
