/**
 * What happened so far, newest first, in the node's own sentences.
 */

import { arrange, el, setText } from './dom.js';

export class Happenings {
  #entries = new Map();
  #list = el('ol', { class: 'log', testid: 'log', role: 'log', 'aria-live': 'off', 'aria-label': 'What happened' });

  get node() {
    return this.#list;
  }

  /** `log`: `{n, text}` with n rising. */
  show(log) {
    const kept = new Set(log.map(({ n }) => n));
    for (const n of this.#entries.keys()) if (!kept.has(n)) this.#entries.delete(n);
    for (const { n, text } of log) {
      if (!this.#entries.has(n)) this.#entries.set(n, el('li'));
      setText(this.#entries.get(n), text);
    }
    arrange(this.#list, log.map(({ n }) => this.#entries.get(n)).reverse());
  }
}
