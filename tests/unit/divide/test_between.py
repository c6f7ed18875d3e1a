"""Whether what travels is dead where a passage begins and ends: only its bytes matter where they stay the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.divide.passages.between import Between
from opi_xform.divide.passages.proof import Marked, Proof


def between(folder: Path, start: str, behind: str) -> Between:
    body = f"""static double u[900], v[900];
int main(int argc, char **argv)
{{
    int at = 3 * argc, n = argc + 9;
    for (int t = 0; t < 3; t++) {{
        long p_at = {start}, p_count = n, p_end;
        for (int i = 0; i < n; i++)
            v[{start} + i] = u[i];
        MPI_Send(&v[{start}], n, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        p_end = 0;
        {behind}
    }}
    return 0;
}}
"""
    found = source_in(folder, body)
    proof = Proof(found.program, strict=False)
    (one,) = proof.stretches(Marked(found.uses[0].place, "p_at", "p_count", "p_end", frozenset()))
    (buffer,) = [b for b in proof.buffers if one.use.object in b.objects]
    return Between(found.program, buffer, one.use.object, False, [one])


@pytest.mark.parametrize(
    ("start", "behind", "same", "dead"),
    [
        ("at", "", True, True),
        ("at", "u[1] += v[at - 1];", True, True),  # beside the message
        ("at", "u[1] += v[at];", True, False),
        ("at + n * t", "u[1] += v[at + n * t - 1];", False, False),  # what the turn before has sent
    ],
)
def test_only_what_travels_is_asked_about(tmp_path: Path, start: str, behind: str, same: bool, dead: bool) -> None:
    found = between(tmp_path, start, behind)
    assert (found.bytes() is not None) is same
    assert (found.rests is not None) is dead
