"""A merged program as what is known of it (``known.py``), and as a plan for its messages (``plans.py``)."""
