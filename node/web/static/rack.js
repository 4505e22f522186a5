/**
 * The own rack as it is seen.
 */

import { arrange, el, setText } from './dom.js';
import { covers, gapAt } from './places.js';
import { counted } from './words.js';

export class Rack {
  #tiles;
  #count;

  constructor() {
    this.#tiles = el('div', { class: 'rack-tiles', role: 'group', 'aria-label': 'Your rack' });
    this.#count = el('span', { class: 'rack-count', 'aria-hidden': 'true' });
    this.node = el('section', { class: 'rack', testid: 'rack' }, this.#tiles, this.#count);
  }

  /** Shows the tiles (elements, in order); `words` of the game. */
  show(tiles, words) {
    arrange(this.#tiles, tiles);
    setText(this.#count, counted(tiles.length, words));
    this.#tiles.setAttribute('aria-label', `Your ${words.rack}`);
    this.node.classList.toggle('many', tiles.length > 16);
  }

  /** The tiles, for the keyboard. */
  get stops() {
    return [...this.#tiles.children];
  }

  /** What lies under a point: `{zone: 'rack', before, mark, node}` (before: id or null) or null. */
  hit(x, y) {
    if (!covers(this.node, x, y)) return null;
    const tiles = this.stops;
    const { at, mark } = gapAt(tiles, x, y);
    return { zone: 'rack', before: at < tiles.length ? Number(tiles[at].dataset.id) : null, mark, node: this.node };
  }
}
