"""The player's page: what a person sees of the table, served by the player's own node.

In reading order: `commands` (what a page may say), `serving` (what the servers of all our pages share), `server`
(`PageServer`, which serves the page and keeps every open one up to date) and `static/` (the page itself: HTML, CSS and
plain ES modules, from `app.js` on).

Never in here: rules of the game, agreement, keys. The page knows only what the node's `Desk` tells it.
"""
