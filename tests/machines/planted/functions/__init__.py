"""Planted bugs in what is known of calls: recursion, summaries, functions of libraries."""
