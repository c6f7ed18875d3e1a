"""The families of scenarios that stand by themselves, one file a theme; the others mix homes, numbers and ways."""
