"""Adversaries by construction: cases that convert, each with one disturbance from a table (README.md)."""
