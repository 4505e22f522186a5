/**
 * Who sits at the table: tiles left, opened or not, connected or not, points, and whose turn it is.
 */

import { arrange, el, setText } from './dom.js';
import { WORDS, counted } from './words.js';

export class Players {
  #rows = [];
  #list = el('ul', { class: 'player-list' });
  #left = el('span', { class: 'pool-count' });
  #words = el('span', { class: 'pool-words' });
  #pool = el('p', { class: 'pool', testid: 'pool' }, this.#left, this.#words);

  constructor() {
    this.node = el('section', { class: 'players', 'aria-label': 'Players' }, this.#list, this.#pool);
  }

  show(table) {
    const { view } = table;
    while (this.#rows.length < view.players.length) this.#rows.push(makeRow());
    const over = view.result !== null;
    const words = WORDS[table.deck];
    const [opened, unopened] = table.deck === 'cards' ? ['has laid cards', 'nothing laid yet'] : ['opened', 'not opened yet'];
    view.players.forEach((player, i) => {
      showRow(this.#rows[i], {
        name: player.name,
        me: player.seat === view.seat,
        turn: !over && player.in_game && player.seat === view.turn && view.phase === 'play',
        left: player.tiles_left,
        leftWords: `${counted(player.tiles_left, words)} left`,
        opened: player.in_game && player.opened,
        state: !player.in_game ? 'left the game' : player.opened ? opened : unopened,
        out: !player.in_game,
        away: table.connected[i] === false,
        bot: table.bots[i] === true,
        total: player.total,
      }, player.seat);
    });
    arrange(this.#list, this.#rows.slice(0, view.players.length).map(({ node }) => node));
    setText(this.#left, String(view.pool));
    setText(this.#words, ` ${view.pool === 1 ? words.one : words.many} in the ${words.stock}`);
    this.#words.dataset.stock = words.stock;
  }
}

function makeRow() {
  const parts = {
    name: el('span', { class: 'player-name' }),
    tags: el('span', { class: 'player-tags' }),
    left: el('span', { class: 'player-left' }),
    state: el('span', { class: 'player-state' }),
    total: el('span', { class: 'player-total' }),
  };
  parts.node = el(
    'li', { class: 'player' },
    el('span', { class: 'player-who' }, parts.name, parts.tags), parts.left, parts.state, parts.total,
  );
  return parts;
}

function showRow(parts, player, seat) {
  parts.node.dataset.testid = `player-${seat}`;
  parts.node.classList.toggle('acting', player.turn);
  parts.node.classList.toggle('away', player.away && !player.out);
  parts.node.classList.toggle('out', player.out);
  parts.node.classList.toggle('opened', player.opened);
  if (player.turn) parts.node.setAttribute('aria-current', 'true');
  else parts.node.removeAttribute('aria-current');
  setText(parts.name, player.name);
  parts.name.title = player.name;
  setText(parts.tags, [player.me ? 'you' : '', player.bot ? 'bot' : ''].filter(Boolean).join(' · '));
  setText(parts.left, String(player.left));
  parts.left.setAttribute('aria-label', player.leftWords);
  setText(parts.state, player.away && !player.out ? 'out of contact' : player.state);
  setText(parts.total, player.total === 0 ? '' : `${signed(player.total)} points`);
}

/** A number with its sign; a real minus. */
export function signed(number) {
  return number > 0 ? `+${number}` : String(number).replace('-', '−');
}
