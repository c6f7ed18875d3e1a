"""Traces of whole programs: who waits for whom, what is timed, how it is told."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from opi_xform.bench.whole import apps as bench_apps
from opi_xform.bench.whole.apps import APPS, PROFILE, Effort, results_of, wrapped
from opi_xform.bench.whole.apps_report import AppResult, FormTimes, Site, as_json, page_of, save_plot, text_of
from opi_xform.bench.whole.apps_trace import (
    AT_ROOT,
    FOR_ALL,
    FOR_ROOT,
    MESSAGES,
    NEVER,
    POLLED,
    RECEIVED,
    SENT,
    Call,
    Message,
    Times,
    Trace,
    read_trace,
    times_of,
)
from opi_xform.launch.mpi import LaunchError, Mpi


def trace(calls: list[Call], messages: list[Message] | None = None) -> Trace:
    return Trace(0.0, 100.0, tuple(calls), tuple(messages or []))


def seconds(*traces: Trace) -> tuple[float, float]:
    """Communication and waiting, summed over the ranks."""
    found = times_of(traces)
    return found.communication * len(traces), found.waiting * len(traces)


def test_a_receive_counts_from_when_its_sender_began() -> None:
    sender = trace([Call(7.0, 8.0, MESSAGES)], [Message(7.0, SENT, 1, 5, 1, 0)])
    receiver = trace([Call(2.0, 9.0, MESSAGES)], [Message(2.0, RECEIVED, 0, 5, 1, 0)])
    assert seconds(sender, receiver) == (1.0 + 2.0, 5.0)


def test_a_send_waits_only_for_a_receive_that_came_while_it_ran() -> None:
    receiver = trace([Call(6.0, 9.0, MESSAGES)], [Message(6.0, RECEIVED, 0, 5, 1, 0)])
    for leave, expected in ((8.0, (2.0 + 3.0, 5.0)), (2.0, (1.0 + 3.0, 0.0))):
        sender = trace([Call(1.0, leave, MESSAGES)], [Message(1.0, SENT, 1, 5, 1, 0)])
        assert seconds(sender, receiver) == expected


def test_messages_are_matched_in_order_by_partner_tag_and_communicator() -> None:
    sender = trace(
        [Call(1.0, 1.0, NEVER)] * 3,
        [Message(1.0, SENT, 1, 5, 1, 0), Message(4.0, SENT, 1, 6, 1, 1), Message(9.0, SENT, 1, 5, 1, 2)],
    )
    receiver = trace(
        [Call(0.0, 10.0, MESSAGES), Call(10.0, 11.0, MESSAGES)],
        [Message(0.0, RECEIVED, 0, 6, 1, 0), Message(0.0, RECEIVED, 0, 5, 1, 0), Message(10.0, RECEIVED, 0, 5, 1, 1)],
    )
    assert seconds(sender, receiver) == (6.0 + 1.0, 4.0)


@pytest.mark.parametrize(
    ("how", "waiting"),
    [(FOR_ALL, 5.0), (FOR_ROOT, 0.0), (AT_ROOT, 5.0)],  # rank 0, which is early, is the root
)
def test_collectives_wait_for_those_they_need(how: int, waiting: float) -> None:
    early = trace([Call(1.0, 8.0, how, True, 3, 2)])
    late = trace([Call(6.0, 8.0, how, False, 3, 2)])
    assert seconds(early, late) == (9.0 - waiting, waiting)


def test_a_broadcast_waits_for_its_root() -> None:
    root = trace([Call(6.0, 8.0, FOR_ROOT, True, 3, 2)])
    leaf = trace([Call(1.0, 8.0, FOR_ROOT, False, 3, 2)])
    assert seconds(root, leaf) == (4.0, 5.0)


def test_looks_that_find_nothing_are_waiting() -> None:
    assert seconds(trace([Call(1.0, 2.0, POLLED), Call(2.0, 4.0, NEVER)])) == (2.0, 1.0)


def test_a_trace_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trace.0"
    file.write_bytes(struct.pack("=dddQQQQ", 0.0, 1.0, 0.0, 3, 0, 0, 0))
    for path in (file, tmp_path / "nosuch"):
        with pytest.raises(LaunchError):
            read_trace(path)


def form(series: str, *runs: float, **ways: float) -> FormTimes:
    return FormTimes(series, "mpich", tuple(Times(run, run / 10, run / 100) for run in runs), ways)


def result() -> AppResult:
    forms = (
        form("mpich", 2.0, 8.0, 2.0),
        form("openmpi", 3.0, 4.0, 3.0),
        form("libopi", 4.0, 8.0, 4.0, heap=100.0),
        form("opi", 1.0, 2.0, 1.0, give=75.0, inline=25.0),
    )
    sites = (
        Site("a.c:3", "MPI_Send", "send", "b | c", "keep", "OPI101", "read after"),
        Site("a.c:4", "MPI_Recv", "recv", "r", "convert", None, ""),
    )
    return AppResult("prog", "A 1", 2, forms, sites)


def test_ratios_are_taken_within_a_round() -> None:
    """2/1, 8/2, 2/1 and 2/4, 8/8, 2/4: the machine was slow in the second round."""
    one = result()
    found = {form.series: one.ratio(form, lambda times: times.run) for form in one.forms}
    assert found["opi"] == 2.0
    assert found["libopi"] == 0.5


def test_ratios_are_to_the_mpi_with_the_better_median() -> None:
    """2/2, 9/2, 4/2; not to the luckier one of each round, which would give 2/2, 1/2, 4/2."""
    ours = form("opi", 2.0, 2.0, 2.0)
    forms = (form("mpich", 2.0, 9.0, 4.0), form("openmpi", 5.0, 1.0, 5.0), ours)
    assert AppResult("prog", "A 1", 2, forms, ()).ratio(ours, lambda times: times.run) == 2.0


def test_reports_hold_times_ratios_ways_and_sites(tmp_path: Path) -> None:
    data = json.loads(as_json([result()], "a machine"))
    (program,) = data["programs"]
    assert program["forms"][3] == {
        "series": "opi",
        "mpi": "mpich",
        "repeats": 3,
        "total_s": 1.0,
        "communication_s": 0.1,
        "waiting_s": 0.01,
        "ratio_total": 2.0,
        "ratio_communication": 2.0,
        "protocols_percent": {"give": 75.0, "inline": 25.0},
    }
    assert program["sites"][0]["code"] == "OPI101"
    assert "give 75, inline 25" in text_of([result()], "a machine")
    page = page_of([result()], "a machine", "opi-bench apps", "results.png")
    assert "| a.c:3 | `MPI_Send` | send | `b \\| c` | keep | OPI101 read after |" in page
    assert "by more than 5 %: prog (libopi, 0.50)." in page
    assert "](results.png)" in page


def test_the_bar_chart_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    save_plot([result()], "a machine", tmp_path / "bars.png")
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_all_calls_are_wrapped_and_opi_calls_only_with_libopi() -> None:
    source = PROFILE.read_text()
    plain, ours = wrapped(source, False), wrapped(source, True)
    assert {"-Wl,--wrap=MPI_Init", "-Wl,--wrap=MPI_Finalize", "-Wl,--wrap=MPI_Sendrecv"} < set(plain)
    assert "-Wl,--wrap=MPI_Barrier" in plain
    assert set(ours) - set(plain) == {
        f"-Wl,--wrap=OPI_{name}"
        for name in (
            *("Alloc", "Calloc", "Malloc", "Free", "Give", "Sgive", "Take", "Take_replace", "Igive", "Itake"),
            *("Itake_replace", "Givetake", "Giverecv", "Sendtake"),
        )
    }


def test_every_message_call_of_the_programs_is_timed() -> None:
    """A call that the profile does not know would be time that nobody sees."""
    from opi_xform.resources import resource

    known = {option.partition("=")[2] for option in wrapped(PROFILE.read_text(), False)}
    silent = {"Abort", "Comm_rank", "Comm_size", "Comm_split", "Comm_free", "Dims_create", "Get_count", "Wtime"}
    silent |= {"Cart_coords", "Cart_create", "Cart_shift", "Comm_group", "Group_free", "Group_incl"}  # before the work
    silent |= {"Type_commit", "Type_create_subarray", "Type_free", "Win_allocate", "Win_free"}
    for app in APPS:
        for file in map(Path, app.sources(resource("testdata"))):
            for name in re.findall(r"\bMPI_([A-Z]\w*)\(", file.read_text(encoding="utf-8")):
                assert name in silent or f"MPI_{name}" in known, (file, name)


def test_results_are_all_lines_but_times() -> None:
    assert results_of("a\ntime total: 3\n Time in seconds = 3\nb\n") == "a\nb"


def test_kernels_take_their_class_others_their_size() -> None:
    apps = {app.name: app for app in APPS}
    assert Effort(kernel_class="W").arguments(apps["ft-p2p"]) == ("W", "p2p")
    assert Effort(quick=True).arguments(apps["cg"]) == ("S",)
    assert Effort(kernel_class="W").arguments(apps["md"]) == ("12", "100")


@pytest.mark.parametrize("shared_heap", [False, True])
def test_the_allocator_is_linked_into_our_forms_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shared_heap: bool
) -> None:
    compilers: list[Sequence[str]] = []

    def compile_with(compiler: Sequence[str], _sources: object, target: Path, *_rest: object) -> Path:
        compilers.append(compiler)
        return target

    monkeypatch.setattr(bench_apps, "compile_with", compile_with)
    monkeypatch.setattr(bench_apps, "transform", lambda *_: ())
    monkeypatch.setattr(bench_apps, "pinned", lambda *_: ())
    mpi = Mpi(Path("/a/mpicc"), "mpich", "5", Path("/a/mpi.h"))
    app = next(app for app in APPS if app.name == "cannon")
    forms, _ = bench_apps.build(app, [mpi], 2, ("48", "2"), tmp_path / "work", shared_heap)
    assert [form.series for form in forms] == ["mpich", "libopi", "opi"]
    assert ["--shared-heap" in one for one in compilers] == [False, shared_heap, shared_heap]
