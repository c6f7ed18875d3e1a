"""Bugs planted into the analyser one by one: the annotated cases have to catch each of them."""
