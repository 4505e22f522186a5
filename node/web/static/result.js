/**
 * The end of a game: who won and how, the points, and everybody's remaining tiles.
 */

import { el } from './dom.js';
import { signed } from './players.js';
import { stillTile } from './tiles.js';

/** A new element that shows the result of `view`; `onLobby()`: back to the lobby. */
export function resultPanel(view, onLobby) {
  const { result, players } = view;
  const nameOf = (seat) => (seat === view.seat ? 'You' : players[seat]?.name ?? 'Nobody');
  const ranking = [...players].sort(
    (a, b) => result.scores[b.seat] - result.scores[a.seat] || result.winners.includes(b.seat) - result.winners.includes(a.seat),
  );
  const places = ranking.map((player) => 1 + ranking.filter((other) => result.scores[other.seat] > result.scores[player.seat]).length);
  const series = players.some((player) => player.total !== result.scores[player.seat]);
  const rows = ranking.map((player, i) => el(
    'li', { class: `result-row${result.winners.includes(player.seat) ? ' winner' : ''}`, testid: `result-${player.seat}` },
    el('span', { class: 'result-place' }, String(places[i])),
    el('span', { class: 'result-name' }, el('span', { class: 'result-who' }, player.name),
      player.seat === view.seat && el('span', { class: 'player-tags' }, 'you')),
    el('span', { class: 'result-score' }, signed(result.scores[player.seat])),
    el('span', { class: 'result-total' }, series ? `${signed(player.total)} in all` : ''),
    el('span', { class: 'result-tiles' }, ...leftover(result.racks[player.seat] ?? [])),
  ));
  return el(
    'section', { class: 'result', testid: 'result', 'aria-labelledby': 'result-title' },
    el('h2', { id: 'result-title' }, headline(result.winners.map(nameOf))),
    el('p', { class: 'result-why' }, why(result, nameOf)),
    el('ol', { class: 'result-list' }, ...rows),
    el('button', { type: 'button', class: 'primary', testid: 'new-lobby', on: { click: onLobby } }, 'Back to the lobby'),
  );
}

function leftover(rack) {
  return rack.length > 0 ? rack.map(({ text }) => stillTile(text)) : [el('span', { class: 'none' }, 'no tiles left')];
}

function headline(winners) {
  if (winners.length === 0) return 'The game is over';
  if (winners.length > 1) return `${winners.slice(0, -1).join(', ')} and ${winners.at(-1)} share the win`;
  return winners[0] === 'You' ? 'You win!' : `${winners[0]} wins`;
}

function why(result, nameOf) {
  if (result.ended_by === 'out' && result.out !== null) {
    const who = nameOf(result.out);
    return `${who} laid the last tile of ${who === 'You' ? 'your' : 'the'} rack.`;
  }
  if (result.ended_by === 'blocked') return 'The pool is empty and everybody passed: the lowest rack wins.';
  if (result.ended_by === 'last-seat') return 'Everybody else left the game.';
  return '';
}
