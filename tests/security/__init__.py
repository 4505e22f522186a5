"""What hostile players may try, and what comes of it: the pitfalls of docs/dealing.md, section 6, one by one.

In reading order: `liars` and `tables`, `layouts`, `forgeries`, then the tests. Which one shows what: docs/security.md.
"""
