"""Buffers judged in several processes: the same verdicts in the same order, whatever becomes of a process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from case_tools import run_tool

from opi_xform import parallel
from opi_xform.attempts import macros
from opi_xform.ownership import decide
from opi_xform.parallel import each

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.machines.scale.generate import write

HOME = os.getpid()


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The processes that a test starts: few items are worth one, and none is left behind."""
    children: list[int] = []
    real = parallel._forked

    def noted(*arguments: Any) -> tuple[int, int]:
        children.append((made := real(*arguments))[0])
        return made

    monkeypatch.setattr(parallel, "_forked", noted)
    monkeypatch.setattr(parallel, "ENOUGH", 2)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # the test runner's own threads hold nothing of ours
    yield children
    for child in children:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
def test_order(processes: int) -> None:
    assert each(lambda i: (i, i * i), range(10), processes) == [(i, i * i) for i in range(10)]


def test_others_do_the_work() -> None:
    found = each(lambda _: os.getpid(), range(9), 3)
    assert found[0::3] == [HOME] * 3
    assert len(set(found)) == 3
    assert each(lambda _: os.getpid(), range(1), 3) == [HOME]


def test_the_longest_go_to_different_processes() -> None:
    found = each(lambda _: os.getpid(), range(6), 2, 0, [1, 9, 1, 9, 1, 1])
    assert found[1] != found[3]
    assert each(lambda i: i * i, range(6), 3, 0, [4, 0, 7, 7, 1, 2]) == [0, 1, 4, 9, 16, 25]


def test_not_beside_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert set(each(lambda _: os.getpid(), range(9), 3)) == {HOME}


def test_a_process_that_dies_loses_nothing() -> None:
    def work(item: int) -> int:
        if item == 5 and os.getpid() != HOME:
            os.kill(os.getpid(), signal.SIGKILL)
        return item

    assert each(work, range(12), 3) == list(range(12))


def test_an_answer_that_cannot_travel() -> None:
    assert [one() for one in each(lambda item: lambda: item, range(6), 2)] == list(range(6))


@pytest.mark.parametrize("bad", [2, 3])
def test_what_is_raised_is_met_at_home(bad: int) -> None:
    def work(item: int) -> int:
        if item == bad:
            raise KeyError(item)
        return item

    with pytest.raises(KeyError, match=str(bad)):
        each(work, range(6), 2)


def test_large_answers() -> None:
    assert [len(one) for one in each(lambda item: b"x" * (1 << 20), range(8), 3)] == [1 << 20] * 8


def test_a_program_judged_by_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: list[int]) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "program"
    write(1500, folder)
    alone = run_tool([str(folder), "-j", "1"])
    assert alone[0] == 0, alone[2]
    assert run_tool([str(folder), "-j", "3"]) == alone
    assert forked


def test_files_whose_macros_are_written_out_are_read_by_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: list[int]
) -> None:
    """Whoever reads them: the same texts, also where one is no program."""
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    head = "#include <mpi.h>\n#define GIVE(b) MPI_Send(b, 64, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD)\n"
    body = "static double b{0}[64];\nvoid put{0}(int k) {{ for (int i = 0; i < 64; i++) b{0}[i] = k; GIVE(b{0}); }}\n"
    for i in range(4):
        (tmp_path / f"{i}.c").write_text(head + body.format(i))
    calls = "".join(f"void put{i}(int); " for i in range(4)), "".join(f"put{i}(c); " for i in range(4))
    main = "int main(int c, char **v) {{ MPI_Init(&c, &v); {1}MPI_Finalize(); return 0; }}\n"
    (tmp_path / "4.c").write_text(head + (calls[0] + main).format(*calls))
    readers: list[list[int]] = []
    real = macros.each

    def noted(work: Any, items: Any, *rest: int) -> Any:
        found = real(lambda item: (work(item), os.getpid()), items, *rest)
        readers.append([pid for _, pid in found])
        return [one for one, _ in found]

    monkeypatch.setattr(macros, "each", noted)
    files = [str(tmp_path / f"{i}.c") for i in range(5)]
    results = []
    for processes in ("1", "3"):
        out = tmp_path / processes
        code, said, err = run_tool([*files, "-j", processes, "-o", str(out), "--output-format", "json"])
        assert code == 0, err
        results.append((said, {path.name: path.read_text() for path in sorted(out.glob("*.c"))}))
    assert results[0] == results[1]
    assert "OPI_Give" in results[0][1]["0.c"]
    assert {len(set(pids)) for pids in readers} == {1, 3}


def test_few_buffers_of_a_large_program_are_worth_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forked: list[int]
) -> None:
    monkeypatch.setenv("OPI_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(parallel, "ENOUGH", 1000)
    folder = tmp_path / "program"
    write(1500, folder)
    alone = run_tool([str(folder), "-j", "3"])
    assert not forked
    monkeypatch.setattr(decide, "SMALL", 1)  # as if it were so large
    assert run_tool([str(folder), "-j", "3"]) == alone
    assert forked
