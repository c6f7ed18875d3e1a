"""Blocks whose parts elements of arrays name: which are found, and how they are written.

The proof (``named/by_arrays_proof``) has the cases ``parts_rows_*``.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from ownership_support import source_in

from opi_xform.divide.flow import Trouble
from opi_xform.divide.named.by_arrays import RowsSpelling, rows_of
from opi_xform.divide.named.by_arrays_proof import RowsProof
from opi_xform.text.edit import apply_edits
from opi_xform.text.sources import Sources

FIRST = "out[g] = malloc(2 * n[g] * sizeof(double)); "


def program(body: str) -> str:
    return (
        "int printf(const char *, ...);\nstatic double *kept[3];\n"
        "int main(int argc, char **argv)\n{\ndouble *out[3], *in[3], *more[3];\nint n[3], h = 0, k = argc;\n"
        "for (int g = 0; g < 3; g++) n[g] = argc;\n"
        f"for (int g = 0; g < 3; g++) {{ {body} }}\n"
        "out[h][0] = 1; in[h][0] = 2;\nfree(out[1]);\nreturn 0;\n}\n"
    )


def written(tmp_path: Path, body: str) -> str:
    """The program with blocks for the parts; '' where there are no such parts."""
    found = source_in(tmp_path, program(body))
    groups = rows_of(found.program)
    if not groups:
        return ""
    sources = Sources()
    (edits,) = [RowsSpelling(found.program, rows, sources.data).run() for rows in groups]
    ((file, ones),) = edits.items()
    return apply_edits(sources.data(file), ones).decode()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{FIRST}in[g] = out[g] + n[g];", "malloc(sizeof *out[g] * n[g]); in[g] = malloc(sizeof *in[g] * n[g]);"),
        (f"{FIRST}in[g] = &out[g][n[g]];", "malloc(sizeof *out[g] * n[g]); in[g] = malloc(sizeof *in[g] * n[g]);"),
        (
            "out[g] = malloc(4 * k * sizeof(double)); in[g] = out[g] + k;",
            "malloc(sizeof *out[g] * k); in[g] = malloc(sizeof *in[g] * 3 * k);",
        ),
        (
            "out[g] = malloc(3 * k * sizeof(double)); in[g] = out[g] + k; more[g] = in[g] + k;",
            "malloc(sizeof *out[g] * k); in[g] = malloc(sizeof *in[g] * k); more[g] = malloc(sizeof *more[g] * k);",
        ),
        (
            "out[g] = calloc(2 * (k + 1), sizeof(double)); in[g] = out[g] + (k + 1);",
            "calloc((k + 1), sizeof *out[g]); in[g] = calloc((k + 1), sizeof *in[g]);",
        ),
        (f'{FIRST}if (!out[g]) printf("none"); kept[g] = malloc(8); in[g] = out[g] + n[g];', "in[g] = malloc("),
    ],
)
def test_each_part_gets_a_block_where_it_is_named(tmp_path: Path, body: str, expected: str) -> None:
    text = written(tmp_path, body)
    assert expected in text
    assert "\nfree(out[1]);\nfree(" in text


@pytest.mark.parametrize(
    "body",
    [
        f"{FIRST}in[h] = out[g] + n[g];",  # another row
        f"{FIRST}in[g] = out[h] + n[g];",
        f"{FIRST}in[g] = kept[g] + n[g];",  # another table
        f"{FIRST}in[g] = out[g] - n[g];",
        f"{FIRST}n[g]++; in[g] = out[g] + n[g];",  # another length
        f"{FIRST}h++; out[g] = kept[g]; in[g] = out[g] + n[g];",
        f"{FIRST}if (h) continue; in[g] = out[g] + n[g];",  # not named in each turn
        "kept[g] = malloc(8); in[g] = out[g] + n[g];",
        "out[h++] = malloc(2 * k * sizeof(double)); in[g] = out[g] + k;",
    ],
)
def test_what_names_no_part_of_a_block_for_sure(tmp_path: Path, body: str) -> None:
    assert not written(tmp_path, body)


@pytest.mark.parametrize(
    "body",
    [
        f"{FIRST}in[g] = out[g] + (n[g] - 1);",  # no multiple
        "out[g] = malloc(3 * k + 5); in[g] = out[g] + k;",
        "out[g] = malloc(2 * k * sizeof(double)); in[g] = out[g] + k; more[g] = out[g] + k;",  # one part, two names
        "out[g] = malloc(2 * k * sizeof(double)); in[g] = out[g] + 2 * k; more[g] = out[g] + k;",  # an empty part
    ],
)
def test_parts_that_do_not_lie_one_after_the_other_stay(tmp_path: Path, body: str) -> None:
    with suppress(Trouble):
        assert not written(tmp_path, body)


def test_names_that_are_set_to_other_memory_are_not_proved(tmp_path: Path) -> None:
    found = source_in(tmp_path, program(f"{FIRST}in[g] = out[g] + n[g];"))
    (rows,) = rows_of(found.program)
    with pytest.raises(Trouble):  # that program has one block for both
        RowsProof(found.program, rows[0].tables).run()
