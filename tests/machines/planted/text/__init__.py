"""Planted bugs in what is known of the text: macros, spellings, text that is left out, OpenMP."""
