"""Runs in each rank: mpi4py's own tests, each outcome written to a file as it is known, so that a job that ends early
still tells how far it came.

    python record.py TEST_FOLDER OUTCOMES DONE [options of mpi4py's test/main.py]

Rank r appends to OUTCOMES.r. DONE is a file of tests to leave out, one identifier a line.
"""

from __future__ import annotations

import importlib
import sys
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

folder, prefix, done_file = sys.argv[1:4]
sys.dont_write_bytecode = True
sys.path.insert(0, folder)
suite_main: Any = importlib.import_module("main")
done = set(Path(done_file).read_text(encoding="utf-8").splitlines())


class Outcomes(unittest.TextTestResult):
    """`start` and one of the outcomes per test; a test with subtests may have several, the worst counts."""

    out: TextIO | None = None

    def _write(self, word: str, test: unittest.TestCase, why: str = "") -> None:
        if Outcomes.out is None:
            mpi = importlib.import_module("mpi4py.MPI")
            Outcomes.out = open(f"{prefix}.{mpi.COMM_WORLD.Get_rank()}", "a", encoding="utf-8")  # noqa: SIM115
        Outcomes.out.write(f"{word}\t{test.id()}\t{why!r}\t{time.monotonic():.3f}\n")
        Outcomes.out.flush()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._write("start", test)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self._write("ok", test)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._write("error", test, self.errors[-1][1])

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._write("failure", test, self.failures[-1][1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._write("skipped", test, reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self._write("expected failure", test)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._write("unexpected success", test)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._write("failure", test, f"{subtest.id()}: {err[1]}")


def cases(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from cases(item)
        else:
            yield item


class Runner(unittest.TextTestRunner):
    resultclass = Outcomes


class Program(suite_main.TestProgram):  # type: ignore[misc]
    """mpi4py's test program, without the tests that are done."""

    def createTests(self, *arguments: Any, **named: Any) -> None:
        super().createTests(*arguments, **named)
        self.test = unittest.TestSuite(case for case in cases(self.test) if case.id() not in done)


Program(module=None, argv=[str(Path(folder) / "main.py"), *sys.argv[4:]], testRunner=Runner)
