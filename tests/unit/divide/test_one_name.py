"""Memory that is allocated again and again: whether one variable alone has its address, parameters aside."""

from __future__ import annotations

from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.divide.passages.one_name import one_name

SEND = "MPI_Send(p, k, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (SEND, True),
        (f"k += p[0] > 0; {SEND}", True),
        (f"kept = p; {SEND}", False),  # another name, after the call
        (f"if (k > 3) p = kept; {SEND}", False),  # it is set to something else
        (f"p++; {SEND}", False),
    ],
)
def test_parameters_have_the_address_while_their_function_runs(tmp_path: Path, body: str, expected: bool) -> None:
    text = f"""static double *kept, u[9];
static void put(double *p, int k) {{ {body} }}
int main(int argc, char **argv)
{{
    for (int t = 0; t < 3; t++) {{
        double *b = malloc(80 * argc);
        b[0] = u[t];
        put(&b[t], argc);
        free(b);
    }}
    return 0;
}}
"""
    found = source_in(tmp_path, text)
    objects = found.program.values.objects.table
    o = next(info.number for info in objects if info.kind == "heap")
    assert one_name(found.program, o) is expected
