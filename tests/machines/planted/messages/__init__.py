"""Planted bugs in what is known of messages: their requests, their sources, and the conditions of their calls."""
