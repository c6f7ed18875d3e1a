"""``by_part`` of ``opi_xform.ownership.explain.other_memory``: pointers of tables into the block of a message."""

from __future__ import annotations

import json
from pathlib import Path

from case_tools import run_tool
from told_programs import HEAD, MAIN, TAIL, line_of

BODY = """    double *out[4], *in[4], *low[4];
    for (int g = 0; g < 4; g++) {
        out[g] = malloc(3 * n * (g + 1) * sizeof(double));
        in[g] = out[g] + n * (g + 1);
        low[g] = out[g] + 2 * n * (g + 1);
    }
    for (int t = 0; t < 9; t++) {
        int g = t % 4;
        for (int i = 0; i < n * (g + 1); i++)
            out[g][i] = low[g][i] = t + i;
        MPI_Send(out[g], n * (g + 1), MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        MPI_Send(low[g], n * (g + 1), MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in[g], n * (g + 1), MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < n * (g + 1); i++)
            s += in[g][i];
    }
"""


def test_what_is_read_by_a_pointer_into_the_block(tmp_path: Path) -> None:
    """The first row is the block's own pointer, the others are parts of it: that is told before what may be read."""
    text = HEAD + MAIN + BODY + TAIL
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    first, second, third = json.loads(out)["sites"]
    made, read = line_of(text, "in[g] = out[g] +"), line_of(text, "s += in[g][i]")
    points = f"line {made} makes `in` point into the block of `out`, which this call sends"
    shown = f"could not show that line {read}, which reads it after the send, reads beside the message"
    assert (first["code"], first["message"]) == ("OPI101", f"{points}, and {shown}")
    assert [note["line"] for note in first["notes"]] == [made, read]
    rows = "makes its rows parts of one block; a message needs a buffer of its own"
    part = f"the call names a row of `low`, and line {line_of(text, 'low[g] = out')} {rows}"
    assert (second["code"], second["message"]) == ("OPI104", part)
    assert third["code"] == "OPI204"
