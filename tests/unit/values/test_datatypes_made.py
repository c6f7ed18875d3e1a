"""How often a program is looked at whose datatypes are made of addresses: those that hold none are found early.

``opi_xform.values.made_datatypes``: at such a call nothing is given away, which the first look does not know.
"""

from __future__ import annotations

import pytest
from ownership_support import source

from opi_xform.analysis import known
from opi_xform.memory.objects import Objects
from opi_xform.memory.values import Values

TOP = """
int MPI_Type_create_struct(int, const int[], const MPI_Aint[], const MPI_Datatype[], MPI_Datatype *);
int MPI_Type_commit(MPI_Datatype *);
static struct { double x[4]; int n; } one, *kept;
static double b[100];
static void work(void) { WORK }
"""
MADE = """
{
    MPI_Aint at[2];
    int lengths[2] = {4, 1};
    MPI_Datatype of[2] = {MPI_DOUBLE, MPI_INT}, made;
    MPI_Get_address(&one.x, &at[0]);
    MPI_Get_address(&one.n, &at[1]);
    RELATIVE
    MPI_Type_create_struct(2, lengths, at, of, &made);
    MPI_Type_commit(&made);
}
"""
WORK = "if (b[0] > 1) b[1] = b[2]; if (b[1] > 1) b[2] = b[3]; if (b[2] > 1) b[3] = b[4];\n" * 4
RELATIVE = "at[1] -= at[0]; at[0] = 0;"
SENT = "MPI_Send(b, 100, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);"


def looked_at(body: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Of each look: calls that were known to make such types, and whether it came to the end."""
    seen: list[tuple[int, bool]] = []
    before = known.interpret

    def noted(*given: object) -> Values:
        objects = given[3]
        assert isinstance(objects, Objects)
        values = before(*given)  # type: ignore[arg-type]
        seen.append((len(objects.relative), values.whole))
        return values

    monkeypatch.setattr(known, "interpret", noted)
    text = f"{TOP.replace('WORK', WORK)}\nint main(void)\n{{\n{body}\nreturn 0;\n}}\n"
    source(text)
    return seen


@pytest.mark.parametrize(
    ("body", "looks"),
    [
        (MADE.replace("RELATIVE", RELATIVE) + "work();" + SENT, [(0, False), (1, True)]),
        ("work();" + MADE.replace("RELATIVE", RELATIVE) + SENT, [(0, True), (1, True)]),
        (MADE.replace("RELATIVE", RELATIVE) * 2 + "work();work();work();work();" + SENT, [(0, False), (2, True)]),
        (MADE.replace("RELATIVE", "") + "work();" + SENT, [(0, True)]),  # addresses: they are given away
        ("work();" + SENT, [(0, True)]),
    ],
)
def test_what_is_found_early_on_is_known_in_the_next_look(
    body: str, looks: list[tuple[int, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looked_at(body, monkeypatch) == looks


def test_a_later_graph_of_the_program_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look for a pointer in memory that becomes a variable finds nothing anew."""
    member = (
        "static struct { double *p; } s, *at;\nat = &s; at->p = malloc(800); MPI_Send(at->p, 100, MPI_DOUBLE, 1, 7, 0);"
    )
    assert looked_at(MADE.replace("RELATIVE", RELATIVE) + "work();" + member, monkeypatch) == [
        (0, False),
        (1, True),
        (1, True),
    ]
