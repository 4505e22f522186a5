/**
 * Who sits at a table: whose turn it is, tiles left, points.
 */

import { arrange, el, setHidden, setText } from '/static/dom.js';
import { signed } from '/static/players.js';
import { winnersOf } from '/static/tabletext.js';

export class Seats {
  #rows = [];

  constructor() {
    this.node = el('ol', { class: 'sitters' });
  }

  show(table) {
    while (this.#rows.length < table.seats.length) this.#rows.push(makeRow());
    const winners = table.phase === 'over' ? winnersOf(table) : [];
    table.seats.forEach((seat, i) => showRow(this.#rows[i], seat, {
      turn: table.turn === i && !table.lost, won: winners.includes(i), lobby: table.phase === 'lobby', total: table.games > 0,
    }));
    arrange(this.node, this.#rows.slice(0, table.seats.length).map(({ node }) => node));
  }
}

function makeRow() {
  const parts = {
    name: el('span', { class: 'sitter-name' }),
    tags: el('span', { class: 'sitter-tags' }),
    total: el('span', { class: 'sitter-total' }),
    left: el('span', { class: 'player-left', role: 'img' }),
  };
  parts.node = el('li', { class: 'sitter' }, el('span', { class: 'sitter-who' }, parts.name, parts.tags), parts.total, parts.left);
  return parts;
}

function showRow(parts, seat, { turn, won, lobby, total }) {
  parts.node.classList.toggle('acting', turn);
  parts.node.classList.toggle('won', won);
  parts.node.classList.toggle('out', !seat.in_game);
  parts.node.classList.toggle('away', seat.away && seat.in_game);
  if (turn) parts.node.setAttribute('aria-current', 'true');
  else parts.node.removeAttribute('aria-current');
  setText(parts.name, seat.name);
  const state = !seat.in_game ? 'left' : seat.away ? 'out of contact' : '';
  setText(parts.tags, [seat.bot ? 'bot' : '', state].filter(Boolean).join(' · '));
  setText(parts.total, total ? signed(seat.total) : '');
  setText(parts.left, String(seat.tiles));
  parts.left.setAttribute('aria-label', `${seat.tiles} left${seat.opened ? ', opened' : ''}`);
  parts.left.classList.toggle('opened', seat.opened);
  setHidden(parts.left, lobby);
}
