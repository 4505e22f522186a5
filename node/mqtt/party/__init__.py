"""One page that shows all tables of a broker live, with standings over tables: for a projector and for phones.

In reading order: `standings` (finished games and who is ahead), `board` (what is known of every table; no clock, socket
or file), `resultsfile`, `feed` (the connection to the broker), `server` (the page's), `run`, and `static/` (the page,
from `party.js` on).
"""
