"""What hostile players may try, and what comes of it: the pitfalls of docs/dealing.md, section 6, one by one.

In reading order: `liars`, `layouts`, then the tests.
"""
