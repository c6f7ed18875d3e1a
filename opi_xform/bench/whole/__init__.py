"""Whole programs in several forms: testdata's, and anybody's."""
