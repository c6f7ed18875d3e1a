"""Many sources in worker processes: order, errors, units too deep to travel, workers that die."""

import os
import signal
from pathlib import Path

import pytest

import opi_xform.cli.inputs.parsing as parsing
from opi_xform.cli.inputs.parsing import Job, parse_sources
from opi_xform.frontend import FrontendError
from opi_xform.ir.ast import Unit


def jobs(tmp_path: Path, count: int) -> list[Job]:
    paths = [tmp_path / f"u{i}.c" for i in range(count)]
    for i, path in enumerate(paths):
        path.write_text(f"int g{i}[N]; int f{i}(void) {{ return g{i}[0] + {i}; }}\n")
    return [(str(path), (f"-DN={i + 1}",)) for i, path in enumerate(paths)]


def parsed(work: list[Job], processes: int) -> list[Unit]:
    steps: list[int] = []
    results = parse_sources(work, processes, lambda: steps.append(1))
    assert len(steps) == len(work)
    units = [result for result in results if isinstance(result, Unit)]
    assert len(units) == len(work)
    return units


def test_order_and_flags_are_kept(tmp_path: Path) -> None:
    work = jobs(tmp_path, 7)
    units = parsed(work, 3)
    assert [list(u.functions) for u in units] == [[f"f{i}"] for i in range(7)]
    assert [u.globals[f"g{i}"].type.size for i, u in enumerate(units)] == [4 * (i + 1) for i in range(7)]
    assert units == parsed(work, 1)


def test_every_error_is_told(tmp_path: Path) -> None:
    work = jobs(tmp_path, 4)
    for path, _ in work[1:3]:
        Path(path).write_text("int = 3;\n")
    results = parse_sources(work, 2, lambda: None)
    assert [isinstance(r, FrontendError) for r in results] == [False, True, True, False]


def test_a_deep_unit_is_parsed_at_home(tmp_path: Path) -> None:
    work = jobs(tmp_path, 4)
    Path(work[0][0]).write_text(f"int deep(int a) {{ return {'+'.join(['a'] * 5000)}; }}\n")
    assert [list(u.functions) for u in parsed(work, 2)] == [["deep"], ["f1"], ["f2"], ["f3"]]


def test_a_worker_that_dies_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = jobs(tmp_path, 6)
    home, real = os.getpid(), parsing._parse

    def deadly(parse: parsing.Parse, job: Job) -> Unit | FrontendError:
        if os.getpid() != home and job == work[1]:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(parse, job)

    monkeypatch.setattr(parsing, "_parse", deadly)
    assert [list(u.functions) for u in parsed(work, 2)] == [[f"f{i}"] for i in range(6)]
