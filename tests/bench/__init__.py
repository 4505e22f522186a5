"""`make bench`: what this program costs on this machine, see `tests/bench/__main__.py`."""
