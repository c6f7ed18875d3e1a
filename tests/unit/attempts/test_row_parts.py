"""Blocks whose parts elements of arrays name: a block for each part, where more sites convert."""

from __future__ import annotations

from pathlib import Path

from other_texts import Whole, whole

from opi_xform.attempts.divided import PARTED
from opi_xform.attempts.tables.row_parts import RowParts

PROGRAM = """static double u[64];
int main(int argc, char **argv)
{
double *out[2], *in[2];
MPI_Init(&argc, &argv);
for (int g = 0; g < 2; g++) {
    out[g] = malloc(2 * 400 * sizeof(double));
    in[g] = out[g] + 400;
}
for (int t = 0; t < 3; t++)
    for (int g = 0; g < 2; g++) {
        MPI_Request rq[2];
        MPI_Irecv(in[g], 400, MPI_DOUBLE, 0, g, MPI_COMM_WORLD, &rq[0]); // IN
        for (int i = 0; i < 400; i++) out[g][i] = u[i % 64] + g;
        MPI_Isend(out[g], 400, MPI_DOUBLE, 0, g, MPI_COMM_WORLD, &rq[1]); // OUT
        MPI_Waitall(2, rq, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 400; i++) u[i % 64] += in[g][i];
    }
for (int g = 0; g < 2; g++) LATER
MPI_Finalize();
return 0;
}
"""


def parts(found: Whole) -> RowParts:
    return RowParts(found.program, found.units, found.plan, found.again)


def test_each_part_becomes_a_block(tmp_path: Path) -> None:
    found = whole(tmp_path, PROGRAM.replace("LATER", "free(out[g]);"))
    assert set(found.decisions.values()) == {"keep"}
    better = parts(found).run()
    assert better is not None
    (sent,) = [d for d in better.plan.decisions if d.side == "send"]
    assert (sent.decision, sent.message) == ("convert", f"ownership passes; a block of `out` becomes 2, {PARTED}")


def test_a_block_that_is_read_across_its_parts_stays_one(tmp_path: Path) -> None:
    found = whole(tmp_path, PROGRAM.replace("LATER", "u[g] += out[g][401];"))
    assert parts(found).run() is None
