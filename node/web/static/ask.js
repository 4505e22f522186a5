/**
 * One question at a time, over the page. Escape answers nothing.
 */

import { el } from './dom.js';

export class Ask {
  #title = el('h2', { id: 'ask-title' });
  #text = el('div', { class: 'ask-text' });
  #choices = el('div', { class: 'row' });

  constructor() {
    this.node = el('dialog', { class: 'ask', testid: 'ask', 'aria-labelledby': 'ask-title' }, this.#title, this.#text, this.#choices);
  }

  /** `text`: paragraphs; `choices`: `{testid, label, primary, then}` (without `then` it only closes). */
  ask(title, text, choices) {
    this.#title.textContent = title;
    this.#text.replaceChildren(...text.map((line) => el('p', {}, line)));
    this.#choices.replaceChildren(...choices.map(({ testid, label, primary, then }) => el('button', {
      type: 'button', class: primary ? 'primary' : 'plain', testid, on: {
        click: () => {
          this.close();
          then?.();
        },
      },
    }, label)));
    if (!this.node.open) this.node.showModal();
  }

  close() {
    if (this.node.open) this.node.close();
  }
}
