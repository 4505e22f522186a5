/**
 * One sentence at a time for the player: why something was refused, or what just happened.
 */

import { el } from './dom.js';

const REFUSAL_MS = 7000;
const NOTICE_MS = 15_000;

export class Toast {
  #text = el('span', { class: 'toast-text' });
  #box;
  #timer = 0;

  constructor() {
    const close = el('button', { type: 'button', class: 'toast-close', 'aria-label': 'Close', on: { click: () => this.hide() } }, '×');
    this.#box = el('div', { class: 'toast', hidden: true }, this.#text, close);
    // The live region stays in the page; only its content changes, or screen readers miss it.
    this.node = el('div', { class: 'toast-place', testid: 'message', role: 'alert' }, this.#box);
  }

  /** Shows a sentence; a `calm` one is no reproach and stays longer. */
  say(sentence, calm = false) {
    clearTimeout(this.#timer);
    this.#text.textContent = sentence;
    this.#box.classList.toggle('calm', calm);
    this.#box.hidden = false;
    this.#timer = setTimeout(() => this.hide(), calm ? NOTICE_MS : REFUSAL_MS);
  }

  hide() {
    clearTimeout(this.#timer);
    this.#box.hidden = true;
    this.#text.textContent = '';
  }
}
