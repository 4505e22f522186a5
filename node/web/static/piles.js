/**
 * Stock and discard pile of the card game: both can be pressed, and a card can be dropped on the discard pile.
 */

import { arrange, el, setText } from './dom.js';
import { covers } from './places.js';
import { spoken, stillTile } from './tiles.js';
import { WORDS, counted } from './words.js';

export class Piles {
  #stock;
  #stockCount = el('span', { class: 'pile-words' });
  #discard;
  #top = el('span', { class: 'pile-card' });
  #topText = null;
  #discardCount = el('span', { class: 'pile-words' });

  /** `onStock()`, `onDiscard()`: pressed. */
  constructor(onStock, onDiscard) {
    this.#stock = el('button', { type: 'button', class: 'pile', testid: 'stock', on: { click: onStock } },
      el('span', { class: 'pile-card back', 'aria-hidden': 'true' }), this.#stockCount);
    this.#discard = el('button', { type: 'button', class: 'pile', testid: 'discard-pile', on: { click: onDiscard } }, this.#top, this.#discardCount);
    this.node = el('div', { class: 'piles', testid: 'piles', role: 'group', 'aria-label': 'Stock and discard pile' }, this.#stock, this.#discard);
  }

  /** `left`: cards in the stock; `discard`: the pile, top card last; `mine`: what may be taken is shown so. */
  show({ left, discard, mayDraw, mayTake, mayDiscard }) {
    const top = discard.at(-1)?.text ?? '';
    setText(this.#stockCount, `Stock: ${left}`);
    this.#stock.setAttribute('aria-label', `Stock, ${counted(left, WORDS.cards)}`);
    setText(this.#discardCount, discard.length > 1 ? `Discard pile: ${discard.length}` : 'Discard pile');
    this.#discard.setAttribute('aria-label', top ? `Discard pile, ${spoken(top)} on top` : 'Discard pile, empty');
    if (top !== this.#topText) {
      this.#topText = top;
      arrange(this.#top, top ? [stillTile(top)] : []);
    }
    this.#stock.classList.toggle('ready', mayDraw);
    this.#discard.classList.toggle('ready', mayTake || mayDiscard);
  }

  /** Whether a point lies on the discard pile: the place, or null. */
  hit(x, y) {
    return this.node.isConnected && !this.node.hidden && covers(this.#discard, x, y) ? { zone: 'discard', node: this.#discard } : null;
  }
}
