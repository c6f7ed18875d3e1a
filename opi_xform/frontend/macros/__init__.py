"""Macros as they are written, and text that the preprocessor leaves out."""
