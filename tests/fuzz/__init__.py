"""Random broken input for everything that reads what others send. A campaign on all cores: `python -m tests.fuzz`.

In reading order: `mutations` breaks bytes, values and signed messages; `corpus` plays the tables whose messages are
broken and stops them in every phase; `targets` says what is fed and what must hold whatever comes in; `campaign` runs
targets in many processes and tells how to repeat a failure. `coverage` lets atheris guide the search.
"""
