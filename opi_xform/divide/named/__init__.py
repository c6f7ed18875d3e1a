"""Allocations whose parts have pointer variables of their own."""
