"""Parses the sources of a run, in processes of their own when there are several."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from tempfile import TemporaryDirectory
from typing import TypeVar

from opi_xform.frontend import FrontendError, parse_unit, pickling
from opi_xform.frontend.headers.beginning import Beginning
from opi_xform.frontend.headers.system_part import beginnings
from opi_xform.frontend.parse import cached_unit, parse_packed
from opi_xform.ir.ast import Unit
from opi_xform.record import dataclass

Job = tuple[str, tuple[str, ...]]
"""A source file and its compiler flags."""
_T = TypeVar("_T")
Parse = Callable[[str, Sequence[str]], Unit]
"""``parse_unit``, or ``parse_outline`` where no more is asked than whether a file compiles."""


def parse_sources(
    jobs: Sequence[Job],
    processes: int,
    step: Callable[[], None],
    parse: Parse = parse_unit,
    meanwhile: Callable[[], None] = lambda: None,
) -> list[Unit | FrontendError]:
    """The unit of each job, or why there is none, in the order of the jobs.  ``step`` is called after each.

    meanwhile: what this process can do beside the parsers, any number of times, also on another thread.
    """
    results: list[Unit | FrontendError | None] = [None] * len(jobs)
    if parse is parse_unit:  # what is known is read here: sending it costs more than reading it
        for index, job in enumerate(jobs):
            results[index] = _known(job)
            if results[index] is not None:
                step()
    worklist = [index for index, result in enumerate(results) if result is None]
    with _beginnings([jobs[index] for index in worklist], parse, meanwhile) as known:
        workers = min(processes, (len(worklist) + 1) // 2)  # a process for less than two files costs more than it saves
        if workers > 1:
            for place, data in _parsed_elsewhere([jobs[index] for index in worklist], workers, known, meanwhile):
                results[worklist[place]] = data if isinstance(data, FrontendError) else pickling.loads(data)
                step()
        with _beside(meanwhile if None in results else None):
            for index, job in enumerate(jobs):
                if results[index] is None:
                    results[index] = _parse(known.unit, job)
                    step()
    return [result for result in results if result is not None]


@dataclass(frozen=True, slots=True)
class _Parser:
    """How the files of one run are parsed; to be sent to processes."""

    parse: Parse
    beginnings: Mapping[str, Beginning]

    def unit(self, path: str, flags: Sequence[str]) -> Unit:
        if self.parse is parse_unit:
            return parse_unit(path, flags, self.beginnings.get(path))
        return self.parse(path, flags)

    def packed(self, path: str, flags: Sequence[str]) -> bytes:
        """The unit as it travels; of ``parse_unit``'s, as the cache gets it."""
        if self.parse is parse_unit:
            return parse_packed(path, flags, self.beginnings.get(path))
        return pickling.dumps(self.parse(path, flags))


@contextmanager
def _beside(work: Callable[[], None] | None) -> Iterator[None]:
    """Something is done on a thread of its own."""
    if work is None:
        yield
        return
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join()


@contextmanager
def _beginnings(jobs: Sequence[Job], parse: Parse, meanwhile: Callable[[], None]) -> Iterator[_Parser]:
    """How to parse these files; while it is used, what many of them begin with is there precompiled."""
    with ExitStack() as stack:
        found: dict[str, Beginning] = {}
        if parse is parse_unit and jobs:
            with suppress(OSError):  # no room for it: it goes without
                folder = TemporaryDirectory(prefix="opi-xform-", ignore_cleanup_errors=True)
                found = beginnings(jobs, stack.enter_context(folder), meanwhile)
        yield _Parser(parse, found)


def _parsed_elsewhere(
    jobs: Sequence[Job], workers: int, parser: _Parser, meanwhile: Callable[[], None]
) -> Iterator[tuple[int, bytes | FrontendError]]:
    """What the workers send back, as it comes.  Nothing comes for a unit nested too deeply to travel, nor from a worker
    that died.

    Each worker has a pipe of its own: processes that share a lock can hang when one is killed, as Ctrl-C does to all.
    """
    # Forking is quick, but not safe beside other threads.
    forks = sys.platform.startswith("linux") and threading.active_count() == 1
    context = get_context("fork") if forks else get_context("spawn")
    worklist = iter(range(len(jobs)))
    running: dict[Connection, BaseProcess] = {}

    def hand_out(to: Connection) -> None:
        index = next(worklist, None)
        with suppress(OSError):  # it died: its sentinel tells
            to.send(None if index is None else (index, jobs[index]))

    try:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the worker has its own handler
        try:
            for _ in range(workers):
                here, there = context.Pipe()
                process = context.Process(
                    target=_work, args=(parser, there, (*running, here) if forks else ()), daemon=True
                )
                process.start()
                there.close()
                running[here] = process
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for connection in running:
            hand_out(connection)
        meanwhile()
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


def _work(parser: _Parser, connection: Connection, inherited: Sequence[Connection]) -> None:
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
            connection.send((index, _packed(parser, job)))


def _packed(parser: _Parser, job: Job) -> bytes | FrontendError | None:
    try:
        return _parse(parser.packed, job)
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
