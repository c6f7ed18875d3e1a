"""The machine a benchmark runs on: which cores the two ranks get, and a description for the report."""

from __future__ import annotations

import os
import platform
from pathlib import Path

_CPU = Path("/sys/devices/system/cpu")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def cores_apart(count: int) -> tuple[int, ...]:
    """CPUs for ``count`` ranks: on different cores, sharing a last-level cache where possible; repeats when there are
    fewer."""
    allowed = sorted(os.sched_getaffinity(0))
    one_per_core: dict[str, int] = {}
    for cpu in allowed:
        siblings = _read(_CPU / f"cpu{cpu}" / "topology" / "thread_siblings_list") or str(cpu)
        one_per_core.setdefault(siblings, cpu)
    groups: dict[str, list[int]] = {}
    for cpu in one_per_core.values():
        groups.setdefault(_read(_CPU / f"cpu{cpu}" / "cache" / "index3" / "shared_cpu_list"), []).append(cpu)
    best = max(groups.values(), key=len)
    if len(best) < count:
        rest = [cpu for cpu in allowed if cpu not in best]
        best = best + rest
    return tuple(best[rank % len(best)] for rank in range(count))


def describe() -> str:
    """One line: processor, cores, kernel."""
    model = platform.processor() or platform.machine()
    for line in _read(Path("/proc/cpuinfo")).splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {len(os.sched_getaffinity(0))} CPUs, {platform.system()} {platform.release()}"
