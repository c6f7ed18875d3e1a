"""The one way in which rewriting can fail."""

from __future__ import annotations

from opi_xform.ir.span import Span


class PlanError(Exception):
    """An edit of the plan cannot be carried out, or two edits contradict each other.

    ``span`` is the place, ``reason`` what is wrong there.  Nothing of the plan is applied then.
    """

    def __init__(self, span: Span, reason: str) -> None:
        super().__init__(f"{span.file}:{span.line}: {reason}")
        self.span = span
        self.reason = reason
