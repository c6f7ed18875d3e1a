"""Planted bugs in what is known of numbers: counters, products, how often loops run, and which bytes they make live."""
