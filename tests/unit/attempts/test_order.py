"""Which attempts are tried together: in a program that takes long to analyse, few are."""

from __future__ import annotations

from pathlib import Path

from other_texts import whole

from opi_xform.attempts.order import LONGEST, Attempts
from opi_xform.ownership.model.buffers import Options

CALL = """int main(int argc, char **argv)
{
MPI_Send(u, 64, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
return 0;
}
"""


def attempts(folder: Path, body: str) -> Attempts:
    found = whole(folder, body)

    def flags(_path: str) -> tuple[str, ...]:
        return ()

    return Attempts(found.program, found.units, flags, found.sources, Options(root=str(folder)), list, found.again)


def test_a_short_program_is_tried_with_later_attempts_too(tmp_path: Path) -> None:
    short = attempts(tmp_path, "static double u[64];\n" + CALL)
    assert short.with_later("macros").further is not None


def test_a_long_file_is_not_however_little_of_it_is_followed(tmp_path: Path) -> None:
    long = attempts(tmp_path, "static double u[64];\n" + CALL + "\n" * LONGEST)
    assert long.with_later("macros").further is None
    assert long.with_later("given").further is not None  # arrays leave their structs: only that shows more
