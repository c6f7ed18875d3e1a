"""Changes of the program's own text with which a site that stays would convert, each tried before it is told.

``model`` says what a change is; ``find`` which a site has; ``guards`` and ``copies`` make them, ``call`` spells them,
``ground`` knows what words mean in a file, ``behind`` what a receive changes. What the program does stays the same with
each: a person may ask for one by `--fix` (``cli/output/fix.py``, which tries them).
"""
