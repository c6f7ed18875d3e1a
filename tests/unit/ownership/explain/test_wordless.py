"""What is said is looked for only where somebody reads it: the same plans, with the same words in the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case_tools import run_tool
from core_support import HEADER, MPI

from opi_xform.analysis import known
from opi_xform.effects.table import load_effects
from opi_xform.frontend import parse_unit
from opi_xform.graph.whole import merge
from opi_xform.ownership.decide import decide
from opi_xform.ownership.deciding import agreement
from opi_xform.ownership.model.buffers import Options
from opi_xform.ownership.model.plan import Plan

EFFECTS = load_effects()
HELPER = """
static double A[64], B[64], C[64], u[64];
static int n = 64, peer;
static void give(double *b) { MPI_Send(b, n, MPI_DOUBLE, peer, 0, 0); }
static void pack(double *b) { for (int i = 0; i < n; i++) b[i] = u[i]; }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(0, &peer);
    BODY
    MPI_Finalize();
    return 0;
}
"""
KEPT = "pack({0}); give({0}); u[1] = {0}[3];"
CONVERTED = "pack({0}); give({0});"


def planned(path: Path, more_than: int = -1) -> Plan:
    """The file stays where it is: words are read there."""
    units = [parse_unit(str(path), ["-I", str(path.parent)])]
    return decide(units, known.program(merge(units), EFFECTS, everything=False), Options(more_than=more_than))


def written(folder: Path, kept: tuple[int, ...]) -> Path:
    """A program in which three buffers come to one send; some of them are read after it."""
    (folder / "mpi.h").write_text(HEADER)
    body = " ".join((KEPT if i in kept else CONVERTED).format(name) for i, name in enumerate("ABC"))
    path = folder / "t.c"
    path.write_text(MPI + HELPER.replace("BODY", body))
    return path


@pytest.mark.parametrize("kept", [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
def test_the_words_are_those_of_all_that_is_looked_for(
    kept: tuple[int, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Three buffers come to one send: whichever stay, the plan is that of a search for all reasons."""
    text = written(tmp_path, kept)
    found = planned(text)
    monkeypatch.setattr(agreement, "_told_by_others", lambda groups: [set() for _ in groups])
    assert found == planned(text)
    (decision,) = found.decisions
    assert decision.decision == ("keep" if kept else "convert")
    assert ("is read at line" in decision.message) == bool(kept)


@pytest.mark.parametrize("kept", [(), (0,), (2,), (0, 1, 2)])
def test_a_plan_that_is_no_better_has_the_same_decisions(kept: tuple[int, ...], tmp_path: Path) -> None:
    """Without words where no more sites convert than asked for; with all of them where more do."""
    text = written(tmp_path, kept)
    whole, silent = planned(text), planned(text, more_than=1)
    assert [(d.span, d.side, d.decision) for d in whole.decisions] == [
        (d.span, d.side, d.decision) for d in silent.decisions
    ]
    assert whole.edits == silent.edits
    assert "is read at line" not in silent.decisions[0].message
    if not kept:
        assert planned(text, more_than=0) == whole


def test_macros_are_not_written_out_for_sites_that_stay_whatever_the_words_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A message that is too small stays; one that a macro's body sends may convert."""
    from opi_xform.attempts import macros

    tried: list[int] = []
    run = macros.WritingOut.run
    monkeypatch.setattr(macros.WritingOut, "run", lambda self: (tried.append(1), run(self))[1])
    folder = tmp_path_factory.mktemp("macros")
    start = "#include <mpi.h>\n#define GIVE(b, n) MPI_Send(b, n, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD)\n#define N 64\n"
    main = "int main(int c, char **v) { MPI_Init(&c, &v); BODY MPI_Finalize(); return 0; }\n"
    small = "double x[2] = {c, 1}; MPI_Send(x, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);"
    large = "static double x[N]; for (int i = 0; i < N; i++) x[i] = i; GIVE(x, N);"
    for body, expected in ((small, []), (large, [1])):
        tried.clear()
        file = folder / f"made_{len(expected)}.c"
        file.write_text(start + main.replace("BODY", body))
        assert run_tool([str(file)])[0] == 0
        assert tried == expected


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("head", ["int head[2] = {n, 1};", "int *head = malloc(8); head[0] = n, head[1] = 1;"])
def test_a_small_message_tells_nothing_where_others_come_to_the_same_call(
    first: bool, head: str, tmp_path: Path
) -> None:
    """Whichever caller stands first: it is the large one whose data would have to go."""
    calls = [f"{head} put(head, 2, MPI_INT);", "put(data, n, MPI_DOUBLE);"]
    text = f"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static void put(void *p, int n, MPI_Datatype type) {{ MPI_Send(p, n, type, 1, 3, MPI_COMM_WORLD); }}
int main(int argc, char **argv)
{{
    int n = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    double *data = malloc(n * 8);
    for (int i = 0; i < n; i++)
        data[i] = i;
    {" ".join(calls if first else calls[::-1])}
    printf("%g\\n", data[n / 2]);
    free(data);
    MPI_Finalize();
    return 0;
}}
"""
    (tmp_path / "a.c").write_text(text)
    code, out, err = run_tool([str(tmp_path / "a.c"), "--output-format", "json"])
    assert code == 0, err
    (site,) = json.loads(out)["sites"]
    assert (site["code"], site["message"]) == ("OPI101", "`data` is read at line 13 after the send")
    alone = text.replace('    printf("%g\\n", data[n / 2]);\n', "")
    (tmp_path / "a.c").write_text(alone)
    (site,) = json.loads(run_tool([str(tmp_path / "a.c"), "--output-format", "json"])[1])["sites"]
    assert site["message"].startswith("the same call sends or receives `head`, which stays: the message has 8 bytes")
