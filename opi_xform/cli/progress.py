"""How far a run is: a bar on a terminal when it takes longer than a second, and times per phase for -v."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

SHOW_AFTER_S = 1.0


class Progress:
    """Phases, some with steps.  The bar is on stderr, only on a terminal, and gone when the run ends."""

    def __init__(self) -> None:
        self.times: list[tuple[str, float]] = []
        self._show_at = time.monotonic() + SHOW_AFTER_S
        self._wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._phase, self._total, self._done = "", 0, 0

    @contextmanager
    def phase(self, name: str, steps: int = 0) -> Iterator[None]:
        """One phase; its time is kept even when it fails.

        One without steps that lasts brings up the bar by a timer; one with steps does so at a step, because it may fork
        processes, and a timer is a thread.
        """
        begin, place = time.monotonic(), len(self.times)
        self._phase, self._total, self._done = name, steps, 0
        self._show()
        if self._wanted and self._bar is None and not steps:
            self._timer = threading.Timer(max(0.0, self._show_at - begin), self._show)
            self._timer.daemon = True
            self._timer.start()
        try:
            yield
        finally:
            self._stop_timer()
            self.times.insert(place, (name, time.monotonic() - begin))

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A part of the phase: only its time is kept."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.times.append((f"  {name}", time.monotonic() - begin))

    def step(self, done: int = 1) -> None:
        """``done`` more steps of the phase are finished."""
        self._done += done
        self._show()

    def close(self) -> None:
        """Removes the bar: nothing may be printed before."""
        self._stop_timer()
        with self._lock:
            self._wanted = False
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
            self._timer = None

    def _show(self) -> None:
        with self._lock:
            if not self._wanted or time.monotonic() < self._show_at:
                return
            text = f"{self._phase} {self._done}/{self._total}" if self._total else self._phase
            total = self._total or None  # None: the bar only shows that something goes on
            if self._bar is None:
                from rich.console import Console
                from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
                from rich.progress import Progress as Rich

                columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
                self._bar = Rich(*columns, console=Console(stderr=True), transient=True)
                self._task = self._bar.add_task(text, total=total, completed=self._done)
                self._bar.start()
            assert self._task is not None
            self._bar.update(self._task, description=text, total=total, completed=self._done)


def peaks_mib() -> tuple[int, int] | None:
    """The most memory that this process took so far, and the largest of those it started; None where nobody counts."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    own, started = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own // unit, started // unit
