/**
 * What lies on a table, only to be looked at. A tile keeps its element while it moves from meld to meld.
 */

import { Board } from '/static/board.js';
import { el, setHidden } from '/static/dom.js';
import { describe, stillTile } from '/static/tiles.js';

const nothing = () => {};

export class Melds {
  #board = new Board(nothing, nothing);
  #discard = el('div', { class: 'lying-discard', hidden: true });
  #tiles = new Map();
  #shown = '';

  constructor() {
    this.node = el('div', { class: 'lying' }, this.#board.node, this.#discard);
  }

  /** `lying`: `{melds, discard}` as it comes; `empty`: what to say when nothing does. Marks what was not there before. */
  show(lying, empty) {
    const key = JSON.stringify([lying, empty]);
    if (key === this.#shown) return;
    const first = this.#shown === '';
    this.#shown = key;
    const before = this.#tiles;
    this.#tiles = new Map();
    const melds = lying.melds.map((meld) => ({
      kind: meld.kind, points: meld.points, bothWays: false, faulty: false, changed: false, jokers: [],
      tiles: meld.tiles.map((text, i) => this.#tile(text, meld.stands_for[i], before, first)),
    }));
    this.#board.show(melds, false, melds.length === 0 ? empty : '');
    setHidden(this.#discard, lying.discard === null);
    this.#discard.replaceChildren(...(lying.discard === null ? [] : [el('span', {}, 'Discard pile'), stillTile(lying.discard)]));
  }

  clear() {
    if (this.#shown === '') return;
    this.#shown = '';
    this.#tiles.clear();
    this.#board.show([], false, '');
    setHidden(this.#discard, true);
  }

  #tile(text, standsFor, before, first) {
    let copy = 0;
    while (this.#tiles.has(`${text}/${copy}`)) copy += 1;
    const key = `${text}/${copy}`;
    const node = before.get(key) ?? withRoom(stillTile(text));
    node.classList.toggle('new', !first && !before.has(key));
    describe(node, text, standsFor, []);
    this.#tiles.set(key, node);
    return node;
  }
}

function withRoom(node) {
  node.append(el('span', { class: 'stands', 'aria-hidden': 'true' }));
  return node;
}
