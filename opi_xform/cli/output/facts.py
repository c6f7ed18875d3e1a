"""What reports need beside the plan: the lives of buffers, the bytes of sites, runs of the program, its variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from opi_xform.record import dataclass

if TYPE_CHECKING:
    from opi_xform.cli.output.fix import Fixed
    from opi_xform.ownership.model.plan import Decision, SiteKey
    from opi_xform.report.advice import Weight
    from opi_xform.report.globals import GlobalDecision
    from opi_xform.report.page.lives import BufferLife
    from opi_xform.report.profile import Run


@dataclass(frozen=True, slots=True)
class Facts:
    """runs: of --profile, in the order given.  variables: those that ranks as threads would share;
    hindrances: what else stands in the way of such ranks.  fixed: the change that --fix asks for.
    fixes: what it would be, for sites that would convert with it.
    functions: of each file, where each begins, in order.
    """

    runs: tuple[Run, ...] = ()
    lives: tuple[BufferLife, ...] = ()
    functions: Mapping[str, tuple[tuple[int, str], ...]] = field(default_factory=dict)
    weights: Mapping[SiteKey, Weight] = field(default_factory=dict)
    variables: tuple[GlobalDecision, ...] = ()
    hindrances: tuple[Decision, ...] = ()
    fixed: Fixed | None = None
    fixes: Mapping[SiteKey, str] = field(default_factory=dict)
