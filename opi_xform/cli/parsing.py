"""Parses the sources of a run, in processes of their own when there are several."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

from opi_xform.frontend import FrontendError, parse_unit, pickling
from opi_xform.frontend.parse import cached_unit, parse_packed
from opi_xform.ir.ast import Unit

Job = tuple[str, tuple[str, ...]]
"""A source file and its compiler flags."""
_T = TypeVar("_T")
Parse = Callable[[str, Sequence[str]], Unit]
"""``parse_unit``, or ``parse_outline`` where no more is asked than whether a file compiles."""


def parse_sources(
    jobs: Sequence[Job], processes: int, step: Callable[[], None], parse: Parse = parse_unit
) -> list[Unit | FrontendError]:
    """The unit of each job, or why there is none, in the order of the jobs.  ``step`` is called after each."""
    results: list[Unit | FrontendError | None] = [None] * len(jobs)
    if parse is parse_unit:  # what is known is read here: sending it costs more than reading it
        for index, job in enumerate(jobs):
            results[index] = _known(job)
            if results[index] is not None:
                step()
    todo = [index for index, result in enumerate(results) if result is None]
    workers = min(processes, (len(todo) + 1) // 2)  # a process for less than two files costs more than it saves
    if workers > 1:
        for place, data in _parsed_elsewhere([jobs[index] for index in todo], workers, parse):
            results[todo[place]] = data if isinstance(data, FrontendError) else pickling.loads(data)
            step()
    for index, job in enumerate(jobs):
        if results[index] is None:
            results[index] = _parse(parse, job)
            step()
    return [result for result in results if result is not None]


def _parsed_elsewhere(jobs: Sequence[Job], workers: int, parse: Parse) -> Iterator[tuple[int, bytes | FrontendError]]:
    """What the workers send back, as it comes.  Nothing comes for a unit nested too deeply to travel, nor from a worker
    that died.

    Each worker has a pipe of its own: processes that share a lock can hang when one is killed, as Ctrl-C does to all.
    """
    # Forking is quick, but not safe beside other threads, which a progress bar has.
    forks = sys.platform.startswith("linux") and threading.active_count() == 1
    context = get_context("fork") if forks else get_context("spawn")
    todo = iter(range(len(jobs)))
    running: dict[Connection, BaseProcess] = {}

    def hand_out(to: Connection) -> None:
        index = next(todo, None)
        with suppress(OSError):  # it died: its sentinel tells
            to.send(None if index is None else (index, jobs[index]))

    try:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the worker has its own handler
        try:
            for _ in range(workers):
                here, there = context.Pipe()
                process = context.Process(
                    target=_work, args=(parse, there, (*running, here) if forks else ()), daemon=True
                )
                process.start()
                there.close()
                running[here] = process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for connection in running:
            hand_out(connection)
        while running:
            ready = wait([*running, *(process.sentinel for process in running.values())])
            for connection, worker in list(running.items()):
                if connection in ready:
                    try:
                        index, data = connection.recv()
                    except (EOFError, OSError):  # it is done, or dead
                        del running[connection]
                        worker.join()
                        continue
                    hand_out(connection)
                    if data is not None:
                        yield index, data
                elif worker.sentinel in ready:
                    del running[connection]
    finally:
        for connection, worker in running.items():
            connection.close()
            worker.kill()


def _work(parse: Parse, connection: Connection, inherited: Sequence[Connection]) -> None:
    """A worker: parses what it is handed, until it is handed None or the command is gone.

    inherited: the command's ends of the pipes, which a fork copies; while one is open, no end of the pipe is seen.
    """
    for other in inherited:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C goes to all: a worker just ends, the command tells of it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    with suppress(EOFError, OSError):
        while (message := connection.recv()) is not None:
            index, job = message
            connection.send((index, _packed(parse, job)))


def _packed(parse: Parse, job: Job) -> bytes | FrontendError | None:
    try:
        if parse is parse_unit:
            return _parse(parse_packed, job)  # what the cache gets is what is sent
        unit = _parse(parse, job)
        return pickling.dumps(unit) if isinstance(unit, Unit) else unit
    except RecursionError:
        return None


def _known(job: Job) -> Unit | FrontendError | None:
    try:
        return cached_unit(*job)
    except FrontendError as error:
        return error


def _parse(parse: Callable[[str, Sequence[str]], _T], job: Job) -> _T | FrontendError:
    try:
        return parse(*job)
    except FrontendError as error:
        return error
