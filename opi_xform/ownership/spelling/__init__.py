"""Carriers as text: where a name is visible, how it is written there, what the text demands of it."""
