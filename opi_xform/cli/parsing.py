"""Parses the sources of a run, in processes of their own when there are several."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from opi_xform.frontend import FrontendError, parse_unit
from opi_xform.ir.ast import Unit

Job = tuple[str, tuple[str, ...]]
"""A source file and its compiler flags."""

_DEEP = 50_000  # a long chain of else-ifs is a deep tree, and so is its pickle


def parse_sources(jobs: Sequence[Job], processes: int, step: Callable[[], None]) -> list[Unit | FrontendError]:
    """The unit of each job, or why there is none, in the order of the jobs.  ``step`` is called after each."""
    results: list[Unit | FrontendError | None] = [None] * len(jobs)
    workers = min(processes, (len(jobs) + 1) // 2)  # a process for less than two files costs more than it saves
    if workers > 1:
        # Forking is quick, but not safe beside other threads, which a progress bar has.
        forks = sys.platform.startswith("linux") and threading.active_count() == 1
        context = multiprocessing.get_context("fork" if forks else "spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            futures = {pool.submit(_parse, job): index for index, job in enumerate(jobs)}
            for future in as_completed(futures):
                try:
                    results[futures[future]] = future.result()
                    step()
                except (BrokenProcessPool, RecursionError, MemoryError):
                    continue  # parsed below, in this process
    for index, job in enumerate(jobs):
        if results[index] is None:
            results[index] = _parse(job)
            step()
    return [result for result in results if result is not None]


def _parse(job: Job) -> Unit | FrontendError:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEP))
    path, flags = job
    try:
        unit: Unit = parse_unit(path, flags)
        return unit
    except FrontendError as error:
        return error
