"""Broken C programs: the command must refuse them, or transform what still compiles without changing what it prints."""
