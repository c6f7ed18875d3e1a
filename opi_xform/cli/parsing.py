"""Parses the sources of a run, in processes of their own when there are several."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from opi_xform.frontend import FrontendError, parse_unit, pickling
from opi_xform.ir.ast import Unit

Job = tuple[str, tuple[str, ...]]
"""A source file and its compiler flags."""


def parse_sources(jobs: Sequence[Job], processes: int, step: Callable[[], None]) -> list[Unit | FrontendError]:
    """The unit of each job, or why there is none, in the order of the jobs.  ``step`` is called after each.

    Unlike ``frontend.parse_files`` it goes on after an error: a user wants to see those of all files.
    """
    results: list[Unit | FrontendError | None] = [None] * len(jobs)
    workers = min(processes, (len(jobs) + 1) // 2)  # a process for less than two files costs more than it saves
    if workers > 1:
        # Forking is quick, but not safe beside other threads, which a progress bar has.
        forks = sys.platform.startswith("linux") and threading.active_count() == 1
        context = multiprocessing.get_context("fork" if forks else "spawn")
        with ProcessPoolExecutor(workers, context, initializer=_end_on_interrupt) as pool:
            futures = {pool.submit(_parse_elsewhere, job): index for index, job in enumerate(jobs)}
            try:
                for future in as_completed(futures):
                    try:
                        data = future.result()
                    except BrokenProcessPool:
                        continue
                    if data is not None:
                        results[futures[future]] = data if isinstance(data, FrontendError) else pickling.loads(data)
                        step()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    for index, job in enumerate(jobs):
        if results[index] is None:
            results[index] = _parse(job)
            step()
    return [result for result in results if result is not None]


def _end_on_interrupt() -> None:
    """Ctrl-C goes to all processes of a terminal: a worker just ends, the command tells of it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _parse(job: Job) -> Unit | FrontendError:
    try:
        return parse_unit(*job)
    except FrontendError as error:
        return error


def _parse_elsewhere(job: Job) -> bytes | FrontendError | None:
    """In a worker: the unit as bytes, None for one nested too deeply to travel (it is parsed where it is needed)."""
    unit = _parse(job)
    try:
        return unit if isinstance(unit, FrontendError) else pickling.dumps(unit)
    except RecursionError:
        return None
