/**
 * The end of a game: who won and how, the points, and everybody's remaining tiles; in a series the totals, whether the
 * next game is wished, and at its end the final standings.
 */

import { el } from './dom.js';
import { signed } from './players.js';
import { saveGame } from './savegame.js';
import { stillTile } from './tiles.js';
import { WORDS, listed } from './words.js';

/** A new element that shows the result in `table`. `hooks`: `next()` wishes the next game, `lobby()` goes back there. */
export function resultPanel(table, hooks) {
  const { view, series } = table;
  const { result, players } = view;
  const nameOf = (seat) => (seat === view.seat ? 'You' : players[seat]?.name ?? 'Nobody');
  const single = series.over && series.played.length === 1;
  const last = [
    el('h2', { id: 'result-title' }, headline(result.winners.map(nameOf), single ? '' : ` game ${view.game + 1}`)),
    el('p', { class: 'result-why' }, [why(table, nameOf), single ? '' : length(series)].filter(Boolean).join(' ')),
  ];
  const games = el('ol', { class: 'result-list' }, ...gameRows(table));
  const lobby = el('button', { type: 'button', class: series.over ? 'primary' : 'plain', testid: 'new-lobby', on: { click: hooks.lobby } }, 'Back to the lobby');
  const panel = el('section', { class: 'result', testid: 'result', 'aria-labelledby': 'result-title' });
  if (single) panel.append(...last, games, lobby);
  else if (series.over) {
    panel.append(
      el('h2', { id: 'result-title' }, headline(series.winners.map(nameOf), ' the series')), standings(table),
      el('h3', {}, `The last game: ${headline(result.winners.map(nameOf), '').replace(/!$/, '')}`), last[1], games, lobby);
  } else {
    panel.append(...last, next(table, hooks.next), games, standings(table), lobby);
  }
  panel.append(saveGame('save-result'));
  return panel;
}

function gameRows({ view }) {
  const { result, players } = view;
  const ranking = [...players].sort(
    (a, b) => result.scores[b.seat] - result.scores[a.seat] || result.winners.includes(b.seat) - result.winners.includes(a.seat),
  );
  const places = ranking.map((player) => 1 + ranking.filter((other) => result.scores[other.seat] > result.scores[player.seat]).length);
  return ranking.map((player, i) => el(
    'li', { class: `result-row${result.winners.includes(player.seat) ? ' winner' : ''}`, testid: `result-${player.seat}` },
    el('span', { class: 'result-place' }, String(places[i])),
    el('span', { class: 'result-name' }, el('span', { class: 'result-who' }, player.name),
      player.seat === view.seat && el('span', { class: 'player-tags' }, 'you')),
    el('span', { class: 'result-score' }, signed(result.scores[player.seat])),
    el('span', { class: 'result-tiles' }, ...leftover(result.racks[player.seat] ?? [], players[player.seat])),
  ));
}

/** All games of the series and the totals, the best first. */
function standings({ view, series }) {
  const order = series.standings;
  const cell = (tag, text, more = {}) => el(tag, more, text);
  const head = el('tr', {}, cell('th', 'Player', { scope: 'col' }),
    ...series.played.map((_, i) => cell('th', String(i + 1), { scope: 'col', 'aria-label': `Game ${i + 1}` })), cell('th', 'Total', { scope: 'col' }));
  const rows = order.map((seat) => el(
    'tr', { testid: `standing-${seat}`, class: series.winners.includes(seat) ? 'winner' : '' },
    el('th', { scope: 'row', class: 'standing-name' }, view.players[seat].name),
    ...series.played.map(({ scores, out }) => el('td', { class: out === seat ? 'went-out' : '' }, signed(scores[seat]))),
    el('td', { class: 'standing-total' }, signed(series.totals[seat])),
  ));
  return el('div', { class: 'standings', testid: 'standings', tabindex: series.played.length > 6 ? 0 : null },
    el('table', {}, el('caption', {}, series.over ? 'Final standings' : 'Standings'), el('thead', {}, head), el('tbody', {}, ...rows)));
}

/** The wish for the next game, and whose is still missing. */
function next({ view, series }, onNext) {
  const missing = view.players.filter(({ seat, in_game: inGame }) => inGame && !series.wishes[seat] && seat !== view.seat);
  const wished = view.seat !== null && series.wishes[view.seat];
  const names = listed(missing.map(({ name }) => name));
  let words = missing.length > 0 ? `${names} still ${missing.length === 1 ? 'has' : 'have'} to agree.` : 'Everybody else is ready for it.';
  if (wished) words = missing.length > 0 ? `You are ready. Waiting for ${names}.` : 'The next game is about to begin.';
  const button = el('button', { type: 'button', class: 'primary', testid: 'next-game', on: { click: onNext } }, wished ? 'Next game ✓' : 'Next game');
  if (!series.can_wish) {
    button.setAttribute('aria-disabled', 'true');
    button.title = wished ? words : 'You cannot ask for the next game.';
  }
  return el('div', { class: 'next-game' }, button, el('p', { testid: 'awaited', role: 'status' }, words));
}

function length({ games, target, played }) {
  const ends = target ? `The series ends at ${target} points` : '';
  if (!games) return ends ? `${ends}.` : '';
  return `${ends ? `${ends} or after` : `Game ${played.length} of`} ${games}${ends ? ' games' : ''}.`;
}

function leftover(rack, player) {
  if (rack.length > 0) return rack.map(({ text }) => stillTile(text));
  return [el('span', { class: 'none' }, player.in_game ? 'nothing left' : 'left the game')];
}

function headline(winners, what) {
  if (winners.length === 0) return `The${what || ' game'} is over`;
  if (winners.length > 1) return `${listed(winners)} share${what || ' the win'}`;
  return winners[0] === 'You' ? `You win${what}!` : `${winners[0]} wins${what}`;
}

function why({ view, deck }, nameOf) {
  const { result } = view;
  const words = WORDS[deck];
  if (result.ended_by === 'out' && result.out !== null) {
    const who = nameOf(result.out);
    const verb = who === 'You' ? 'are' : 'is';
    return deck === 'cards' ? `${who} ${verb} out: no card is left. The most points win.` : `${who} laid the last tile of ${who === 'You' ? 'your' : 'the'} rack.`;
  }
  if (result.ended_by === 'blocked') {
    return deck === 'cards' ? 'The discard pile was turned over as often as agreed. The most points win.'
      : `The ${words.stock} is empty and everybody passed: the lowest rack wins.`;
  }
  if (result.ended_by === 'last-seat') return 'Everybody else left the game.';
  return '';
}
