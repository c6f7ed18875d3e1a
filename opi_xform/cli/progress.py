"""How far a run is: a bar on a terminal when it takes longer than a second, and times per phase for -v."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

SHOW_AFTER_S = 1.0


class Progress:
    """Phases with steps.  The bar is on stderr, only on a terminal, and gone when the run ends."""

    def __init__(self) -> None:
        self.times: list[tuple[str, float]] = []
        self._started = time.monotonic()
        self._wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._bar: RichProgress | None = None
        self._task: TaskID | None = None
        self._phase, self._total, self._done = "", 0, 0

    @contextmanager
    def phase(self, name: str, steps: int = 1) -> Iterator[None]:
        """One phase; its time is kept even when it fails."""
        begin = time.monotonic()
        self._phase, self._total, self._done = name, steps, 0
        self._show()
        try:
            yield
        finally:
            self.times.append((name, time.monotonic() - begin))

    def step(self, done: int = 1) -> None:
        """``done`` more steps of the phase are finished."""
        self._done += done
        self._show()

    def close(self) -> None:
        """Removes the bar: nothing may be printed before."""
        if self._bar is not None:
            self._bar.stop()
            self._bar, self._wanted = None, False

    def _show(self) -> None:
        if not self._wanted or time.monotonic() - self._started < SHOW_AFTER_S:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as Rich

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = Rich(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._phase, total=self._total)
        assert self._task is not None
        self._bar.update(self._task, description=self._phase, total=self._total, completed=self._done)
