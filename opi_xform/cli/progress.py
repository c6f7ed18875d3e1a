"""How far a run is: a bar on a terminal when it takes longer than a second, and times per phase for -v."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

SHOW_AFTER_S = 1.0

EVERY_S = 0.25
"""How often the bar is drawn anew."""


class Progress:
    """Phases, some with steps.  The bar is on stderr, only on a terminal, and gone when the run ends.

    It is drawn when a timer's signal comes, not by a thread: a process with threads is not forked, and would judge
    nothing side by side.  A fork has no timer.
    """

    def __init__(self) -> None:
        self.times: list[tuple[str, float]] = []
        self._wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._ticks, self._drawing = False, False
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._phase, self._total, self._done = "", 0, 0

    @contextmanager
    def phase(self, name: str, steps: int = 0) -> Iterator[None]:
        """One phase; its time is kept even when it fails."""
        begin, place = time.monotonic(), len(self.times)
        self._phase, self._total, self._done = name, steps, 0
        if self._wanted and not self._ticks:
            self._start()
        try:
            yield
        finally:
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

    def close(self) -> None:
        """Removes the bar: nothing may be printed before."""
        self._wanted = False
        if self._ticks:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._ticks = False
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _start(self) -> None:
        """Has the bar drawn from now on, where the system and the thread allow such a timer."""
        with suppress(AttributeError, ValueError):
            signal.signal(signal.SIGALRM, lambda *_: self._tick())
            signal.setitimer(signal.ITIMER_REAL, max(SHOW_AFTER_S, 1e-6), EVERY_S)
            self._ticks = True

    def _tick(self) -> None:
        """Draws the bar; a signal that comes meanwhile changes nothing."""
        if not self._wanted or self._drawing:
            return
        self._drawing = True
        # A terminal that is gone, and a module that the interrupted code has half imported: perhaps next time.
        with suppress(OSError, ImportError):
            self._show()
        self._drawing = False

    def _show(self) -> None:
        text = f"{self._phase} {self._done}/{self._total}" if self._total else self._phase
        total = self._total or None  # None: the bar only shows that something goes on
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Rich

            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            bar = Rich(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
            self._task = bar.add_task(text, total=total, completed=self._done)
            bar.start()
            self._bar = bar
        assert self._task is not None
        self._bar.update(self._task, description=text, total=total, completed=self._done, refresh=True)


def peaks_mib() -> tuple[int, int] | None:
    """The most memory that this process took so far, and the largest of those it started; None where nobody counts."""
    try:
        import resource
    except ImportError:
        return None
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    own, started = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own // unit, started // unit
