/**
 * Hints, off until the player switches them on: that something can be laid, then which tiles, then how.
 */

import { Choice } from './choice.js';
import { arrange, el, setText } from './dom.js';
import { faceInText } from './tiles.js';

const FACE = /\b(?:[RBKYSHDC](?:1[0-3]|[1-9]|[AJQK])|J)\b/g;
const NEXT = ['', 'Which?', 'Show me'];

export class Hints {
  #hooks;
  #choice = new Choice('hints');
  #hint = null;
  #step = 0;
  #text = el('p', { class: 'hint-text', testid: 'hint-text', 'aria-live': 'polite' });
  #steps = el('ol', { class: 'hint-steps', testid: 'hint-steps' });
  #next = el('button', { type: 'button', class: 'plain', testid: 'hint-next', on: { click: () => this.#go() } });
  #close = el('button', { type: 'button', class: 'plain', testid: 'hint-close', on: { click: () => this.clear() } }, 'Close');

  /** `hooks`: `send(command)`, `choose(ids)` (shows tiles of the rack), `lay(melds, exchanges)` (changes the draft). */
  constructor(hooks) {
    this.#hooks = hooks;
    this.button = el('button', { type: 'button', class: 'tool', testid: 'hint', on: { click: () => hooks.send({ type: 'hint' }) } }, 'Hint');
    this.node = el('section', { class: 'hint-box', testid: 'hint-box', hidden: true, 'aria-label': 'Hint' },
      this.#text, this.#steps, el('div', { class: 'row' }, this.#next, this.#close));
  }

  get on() {
    return this.#choice.on;
  }

  toggle() {
    this.#choice.toggle();
    if (!this.on) this.clear();
  }

  /** `open`: the own turn is on and its draft may be changed. */
  show(open) {
    this.button.hidden = !this.on || !open;
    if (!open) this.clear();
  }

  /** The node's answer. */
  take(hint) {
    this.#hint = hint;
    this.#step = 0;
    this.#go();
  }

  clear() {
    this.#hint = null;
    this.node.hidden = true;
  }

  #go() {
    const { say, tiles, melds, exchanges, steps } = this.#hint;
    this.#step += 1;
    this.node.hidden = false;
    setText(this.#text, say);
    if (this.#step === 2) this.#hooks.choose(tiles);
    if (this.#step === 3) this.#hooks.lay(melds, exchanges);
    arrange(this.#steps, this.#step === 3 ? steps.map((step) => el('li', {}, ...withFaces(step))) : []);
    this.#steps.hidden = this.#step < 3;
    const more = this.#step === 1 ? tiles.length > 0 : this.#step === 2 && melds.length > 0;
    this.#next.hidden = !more;
    if (more) setText(this.#next, NEXT[this.#step]);
  }
}

/** A sentence in which every face is shown as a small tile. */
function withFaces(sentence) {
  const parts = [];
  let at = 0;
  for (const found of sentence.matchAll(FACE)) {
    parts.push(sentence.slice(at, found.index), faceInText(found[0]));
    at = found.index + found[0].length;
  }
  return [...parts, sentence.slice(at)];
}
