"""What tests of large programs share."""

from __future__ import annotations

import pytest

from opi_xform.analysis import plans
from opi_xform.budget import TooLargeError


@pytest.fixture
def beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program is beyond the budget."""

    def too_large(*_: object) -> None:
        raise TooLargeError(["main"])

    monkeypatch.setattr(plans, "_decided", too_large)
