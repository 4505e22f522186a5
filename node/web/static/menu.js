/**
 * The menu of what a player may ask of the table, with how often it is left.
 */

import { el, setBlocked, setText } from './dom.js';

const ITEMS = [
  ['pause', () => 'Pause the game', 'for a minute'],
  ['extend', ({ turn_seconds: limitS }) => `${limitS % 60 ? `${limitS} s` : limitS === 60 ? 'A minute' : `${limitS / 60} minutes`} more for this turn`, ''],
  ['take_back', () => 'Take my turn back', 'if all agree'],
];

export class Menu {
  #hooks;
  #button = el('button', { type: 'button', class: 'tool', testid: 'menu', 'aria-haspopup': 'true', 'aria-controls': 'menu-panel' }, 'Menu');
  #panel = el('div', { class: 'menu-panel', id: 'menu-panel', testid: 'menu-panel', hidden: true });
  #rows = new Map();
  #hints = el('button', { type: 'button', class: 'menu-item', testid: 'hints-toggle', 'aria-pressed': 'false' });
  #leave = el('button', { type: 'button', class: 'menu-item', testid: 'leave' }, 'Leave');

  /** `hooks`: `send(command)`, `say(sentence)`, `leave()`, `toggleHints()` (gives whether they are on), `hints`. */
  constructor(hooks) {
    this.#hooks = hooks;
    for (const [command] of ITEMS) {
      const words = el('span');
      const note = el('span', { class: 'menu-note' });
      const node = el('button', { type: 'button', class: 'menu-item', testid: command.replace('_', '-'), on: { click: () => this.#press(command) } }, words, note);
      this.#rows.set(command, { node, words, note, whyNot: null });
    }
    this.#panel.append(...[...this.#rows.values()].map(({ node }) => node), this.#hints, this.#leave);
    this.#showHints(hooks.hints);
    this.#hints.addEventListener('click', () => this.#showHints(hooks.toggleHints()));
    this.node = el('div', { class: 'menu' }, this.#button, this.#panel);
    this.#button.addEventListener('click', () => this.open(this.#panel.hidden));
    this.#leave.addEventListener('click', () => {
      this.open(false);
      hooks.leave();
    });
    document.addEventListener('pointerdown', (event) => {
      if (!this.node.contains(event.target)) this.open(false);
    });
    this.node.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || this.#panel.hidden) return;
      event.stopPropagation();
      this.open(false);
      this.#button.focus();
    });
    this.open(false);
  }

  show({ talk, view }) {
    for (const [command, label, condition] of ITEMS) {
      const row = this.#rows.get(command);
      const may = talk.requests[command];
      row.node.hidden = !may || view.result !== null || (command === 'extend' && !view.turn_seconds);
      if (row.node.hidden) continue;
      row.whyNot = may.asked ? 'You have asked for this already.' : may.why_not;
      setText(row.words, label(view));
      setText(row.note, [condition, `${may.left} left`].filter(Boolean).join(' · '));
      setBlocked(row.node, row.whyNot);
    }
  }

  #showHints(on) {
    setText(this.#hints, on ? 'Hints: on' : 'Hints: off');
    this.#hints.setAttribute('aria-pressed', String(on));
  }

  open(shown) {
    this.#panel.hidden = !shown;
    this.#button.setAttribute('aria-expanded', String(shown));
  }

  #press(command) {
    const { whyNot } = this.#rows.get(command);
    if (whyNot) {
      this.#hooks.say(whyNot);
      return;
    }
    this.open(false);
    this.#hooks.send({ type: command });
  }
}
