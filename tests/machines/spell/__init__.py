"""Equivalent programs: cases that convert, spelled in other ways, which must not change a decision (README.md)."""
