"""The table device: what a node knows as screens of the display, and what its buttons ask of the table.

Reading order: `views` makes a view of a session, purely; `screen` keeps what a view needs besides and tells when it has
changed; `buttons` says what presses mean; `table` is the node without a seat: it finds its table and presses there;
`own` is the display of one player; `run` puts a display and its hardware together. What the extra `display` brings is
imported by `run` only.
"""
