/**
 * The board as it is seen: melds in a flow, each with a caption, and the place for a new meld.
 */

import { arrange, el, setText } from './dom.js';
import { covers, gapAt, under } from './places.js';

export class Board {
  #list;
  #melds = [];
  #empty;

  /** `onKind(index, kind)`: the player says how a meld is meant. `onExchange(id)`: and wants to exchange a joker. */
  constructor(onKind, onExchange) {
    this.newMeld = el('button', { type: 'button', class: 'new-meld', testid: 'new-meld', tabindex: -1 }, 'New meld');
    this.#empty = el('p', { class: 'empty' });
    this.#list = el('div', { class: 'melds' });
    this.node = el('section', { class: 'board', testid: 'board', 'aria-label': 'Board' }, this.#list);
    this.#list.addEventListener('click', (event) => {
      const kind = event.target.closest('[data-kind-of]');
      if (kind) onKind(Number(kind.dataset.kindOf), kind.dataset.kind);
      const joker = event.target.closest('[data-joker]');
      if (!joker) return;
      event.stopPropagation(); // the button is gone after this: nobody could tell that it was no press on the board
      onExchange(Number(joker.dataset.joker));
    });
  }

  /**
   * Shows `melds`: `{tiles: [element], kind, points, bothWays, faulty, changed, jokers}`; `jokers`: `{id, label}` of
   * those that can be exchanged with notice. `open`: the player may work on it.
   * `empty`: what to say when nothing lies there.
   */
  show(melds, open, empty) {
    while (this.#melds.length < melds.length) this.#melds.push(makeMeld(this.#melds.length));
    melds.forEach((meld, i) => showMeld(this.#melds[i], i, meld, open));
    setText(this.#empty, empty);
    const nodes = this.#melds.slice(0, melds.length).map(({ node }) => node);
    if (melds.length === 0 && empty) nodes.push(this.#empty);
    if (open) nodes.push(this.newMeld);
    arrange(this.#list, nodes);
    this.node.classList.toggle('open', open);
  }

  /** The tiles and the new-meld place, for the keyboard. */
  get stops() {
    return [...this.#list.querySelectorAll('.tile, .new-meld')];
  }

  /** What lies under a point: `{zone: 'meld', index, at, mark, node}`, `{zone: 'new', node}` or null. */
  hit(x, y) {
    if (!covers(this.node, x, y)) return null;
    if (this.newMeld.isConnected && covers(this.newMeld, x, y)) return { zone: 'new', node: this.newMeld };
    const node = under([...this.#list.querySelectorAll('.meld')], x, y);
    if (!node) return { zone: 'new', node: this.newMeld };
    return { zone: 'meld', index: Number(node.dataset.meld), node, ...gapAt([...node.querySelectorAll('.tile')], x, y) };
  }
}

function makeMeld(index) {
  const caption = el('span', { class: 'caption' });
  const kinds = el('span', { class: 'kinds', role: 'group', 'aria-label': 'How this meld is meant' });
  for (const kind of ['group', 'run']) {
    const button = el('button', { type: 'button', class: 'kind', testid: `kind-${index}-${kind}` }, kind);
    button.dataset.kind = kind;
    button.dataset.kindOf = index;
    kinds.append(button);
  }
  const jokers = el('span', { class: 'kinds' });
  const top = el('div', { class: 'meld-top', 'data-grip': true }, caption, kinds, jokers);
  const tiles = el('div', { class: 'meld-tiles' });
  const node = el('div', { class: 'meld', testid: `meld-${index}`, role: 'group' }, top, tiles);
  node.dataset.meld = index;
  return { node, caption, kinds, jokers, tiles };
}

function showMeld(parts, index, meld, open) {
  const { node, caption, kinds, jokers, tiles } = parts;
  const words = [meld.kind ?? (meld.faulty ? 'not a meld yet' : ''), meld.points ? String(meld.points) : ''];
  setText(caption, words.filter(Boolean).join(' · '));
  node.classList.toggle('faulty', meld.faulty);
  node.classList.toggle('changed', meld.changed);
  node.setAttribute('aria-label', `Meld ${index + 1}${meld.kind ? `, ${meld.kind}` : ''}${meld.faulty ? ', not legal yet' : ''}`);
  kinds.hidden = !(open && meld.bothWays);
  caption.hidden = !kinds.hidden;
  for (const button of kinds.children) {
    button.setAttribute('aria-pressed', String(button.dataset.kind === meld.kind));
  }
  const wanted = open ? meld.jokers : [];
  if (jokers.dataset.shown !== JSON.stringify(wanted)) {
    jokers.dataset.shown = JSON.stringify(wanted);
    jokers.replaceChildren(...wanted.map(exchangeButton));
  }
  jokers.hidden = wanted.length === 0;
  arrange(tiles, meld.tiles);
}

function exchangeButton({ id, label }) {
  const button = el('button', { type: 'button', class: 'kind exchange', testid: `exchange-${id}`, 'aria-label': label, title: label }, 'Exchange');
  button.dataset.joker = id;
  return button;
}
