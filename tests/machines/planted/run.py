"""``make planted``: each planted bug, and the case that catches it.

A bug is one replacement in one module's text, made while the module is loaded; nothing is written.  It is caught when
a site that a case says must stay converts.  The second way to the decision is not asked then.  Of a bug that says so
(``other_way``) it is: such a bug is caught when the two ways disagree.  Every bug runs in a process of its own, forked
from one that has loaded the tool as it is (``loaded.py``).
"""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from opi_xform.report.codes import DISAGREE  # noqa: E402
from tests.machines.planted.bug import Bug  # noqa: E402
from tests.machines.planted.bugs import BUGS  # noqa: E402

SECONDS = 200
BY_THE_OTHER = ", by the other way"
PATTERNS = "opi_xform.ownership.patterns."
ONE_WAY = Bug(
    "the second way is not asked",
    "opi_xform.ownership.conditions.contents.two_ways",
    "return disagreement(site.program, site.buffer, site.uses, site.facts.patterns)",
    "return None",
    (),
)


class _Planted(importlib.machinery.SourceFileLoader):
    """Compiles the module's text with the bugs in it, past all byte code that is kept."""

    bugs: Sequence[Bug]

    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text(encoding="utf-8")
        for bug in self.bugs:
            text = text.replace(bug.old, bug.new)
        return compile(text, self.path, "exec")


class _Finder:
    def __init__(self, bug: Bug) -> None:
        self.bug = bug

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        bugs = [bug for bug in planted(self.bug) if bug.module == fullname]
        if not bugs:
            return None
        loader = _Planted(fullname, str(file_of(bugs[0])))
        loader.bugs = bugs
        return importlib.util.spec_from_file_location(fullname, loader.path, loader=loader)


def file_of(bug: Bug) -> Path:
    """The file of the module that the bug is planted into."""
    return ROOT / (bug.module.replace(".", "/") + ".py")


def chain(bug: Bug) -> list[Bug]:
    """The bug, and those that go with it."""
    return [bug] if bug.also is None else [bug, *chain(bug.also)]


def planted(bug: Bug) -> list[Bug]:
    """What is planted; unless a bug is about the two ways, the second one is not asked: a case has to catch it."""
    found = chain(bug)
    two_ways = bug.other_way or any(one.module.startswith(PATTERNS) for one in found)
    return found if two_ways else [*found, ONE_WAY]


def applies(bug: Bug) -> bool:
    """What it replaces stands there, once."""
    return all(file_of(b).read_text(encoding="utf-8").count(b.old) == 1 for b in planted(bug))


def converted_by(names: Sequence[str]) -> str:
    """The first case in which a site that must stay converts, or the two ways disagree; '' when there is none."""
    from case_tools import analyse, named_cases

    for case in named_cases(names):
        sites = analyse(case, case.folder)
        for wish in case.wishes:
            mine = [s for s in sites if wish.meets(s)]
            if wish.must and any(wish.broken_by(s) for s in mine):
                return case.name
            if any(s.code == DISAGREE for s in mine):
                return f"{case.name}{BY_THE_OTHER}"
    return ""


_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(["tests.machines.planted.loaded"])


def caught(bug: Bug) -> str:
    """What catches the bug, run in a process of its own; '' when nothing does."""
    here, there = _FORKED.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        changed = any(b.module.startswith(("opi_xform.frontend.", "opi_xform.ir.")) for b in planted(bug))
        # what such a bug makes of a file is remembered nowhere else
        cache = {"OPI_CACHE": folder} if changed else {}
        process = _FORKED.Process(target=_tell, args=(bug.name, {**os.environ, **cache}, there))
        process.start()
        there.close()
        try:
            return str(here.recv()) if here.poll(SECONDS) else ""
        except EOFError:  # it ended without a word
            return ""
        finally:
            process.kill()
            process.join()


def _tell(name: str, environment: dict[str, str], to: Connection) -> None:
    """In a process of its own: plant the bug, and send what catches it."""
    os.environ.update(environment)
    from tests.machines.planted.loaded import forget  # loaded where this process comes from

    (bug,) = (bug for bug in BUGS if bug.name == name)
    forget([one.module for one in planted(bug)])
    sys.meta_path.insert(0, _Finder(bug))  # type: ignore[arg-type]
    to.send(converted_by(bug.cases))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="bugs whose names contain it")
    arguments = parser.parse_args()
    missed = 0
    chosen = [bug for bug in BUGS if arguments.only in bug.name]
    for bug in chosen:
        where = caught(bug) if applies(bug) else ""
        missed += not where
        how = f"caught by {where}" if where else "NOT CAUGHT" if applies(bug) else "its place is no longer there"
        print(f"{bug.name}: {how}", flush=True)
    print(f"{len(chosen)} planted bugs, {len(chosen) - missed} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
