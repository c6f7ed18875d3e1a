"""C's comparisons of numbers and addresses."""

from __future__ import annotations

NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
"""What holds where one does not; floating numbers need not be in order (NaN)."""
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
"""The same with its sides exchanged."""
COMPARISONS = frozenset(NEGATED)
