"""Blocks that would be given or taken but for tests of their pointers against NULL: the tests are what is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import Source, source_in

from opi_xform.ownership.decide import decide
from opi_xform.ownership.last.tested import kept_by_tests, only_tests
from opi_xform.ownership.model.buffers import Options

FREED = """
void all(double *a, double *b)
{
    free(a);
    free(b);
}
int main(int argc, char **argv)
{
    double *a, *b;
    a = malloc(8000);
    b = malloc(8000);
    TEST
    a[0] = b[0] = argc;
    MPI_Send(a, 1000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    all(a, b);
    return 0;
}
"""
OPTIONS = Options()


def program(folder: Path, test: str) -> Source:
    return source_in(folder, FREED.replace("TEST", test))


@pytest.mark.parametrize(
    ("test", "only"),
    [
        ('if (a == NULL) printf("no");', True),
        ('if (a == NULL || b == NULL) puts("no");', True),
        ("if (a == NULL) exit(1);", False),
        ("", False),
        ('if (a == b) printf("no");', False),
    ],
)
def test_a_block_is_kept_by_its_tests_only(tmp_path: Path, test: str, only: bool) -> None:
    found = program(tmp_path, test)
    uses = [u for u in found.uses if u.side == "send"]
    tests: set[int] = set()
    assert only_tests(found.units, found.program, OPTIONS, uses, (), tests) is only
    assert bool(tests) is only


def told(folder: Path, test: str) -> str:
    found = program(folder, test)
    (decision,) = decide(found.units, found.program, OPTIONS).decisions
    return decision.message


def test_the_test_is_told_and_what_would_mend_it(tmp_path: Path) -> None:
    message = told(tmp_path, 'if (a == NULL || b == NULL) puts("no");')
    assert message.startswith("`a` is compared with NULL where it could not be shown that the program ends")
    assert message.endswith("would let it convert")
    assert "another address" in told(tmp_path, 'if (a == b) puts("no");'), "the test is not of a pointer against NULL"


def test_nothing_is_asked_where_nothing_is_refused(tmp_path: Path) -> None:
    found = program(tmp_path, "")
    kept_by_tests(found.units, found.program, OPTIONS, found.uses, [], [])
    assert told(tmp_path, "") == "ownership passes"
