/**
 * The turn clock. The node says how much is left and whether it runs; between two pushes the page counts by itself, on
 * the browser's monotonic clock, so that a wrong wall clock does no harm.
 */

import { el, setText } from './dom.js';

const TICK_MS = 100;
const LAST_S = 10;

export class Clock {
  #number;
  #unit;
  #bar;
  #timer = 0;
  #endsAt = 0;
  #total = 0;
  #wasLast = false;
  #onLast;

  /** `onLast()`: the last ten seconds begin. */
  constructor(onLast) {
    this.#onLast = onLast;
    this.#number = el('span', { class: 'clock-number' });
    this.#unit = el('span', { class: 'clock-unit' });
    this.#bar = el('span', { class: 'clock-bar' });
    this.node = el(
      'div', { class: 'clock', testid: 'clock', role: 'timer', 'aria-label': 'Time left' },
      el('span', { class: 'clock-time' }, this.#number, this.#unit), el('span', { class: 'clock-track' }, this.#bar),
    );
  }

  /** `remaining_s` seconds are left (null: no clock) of `total_s` (0: unknown). */
  set(remaining_s, running, total_s) {
    clearInterval(this.#timer);
    this.node.hidden = remaining_s === null;
    if (remaining_s === null) return;
    this.#total = total_s;
    this.#endsAt = performance.now() + remaining_s * 1000;
    this.node.classList.toggle('still', !running);
    setText(this.#unit, running ? '' : 'paused');
    this.#show();
    if (running) this.#timer = setInterval(() => this.#show(), TICK_MS);
  }

  #show() {
    const left_s = Math.max(0, (this.#endsAt - performance.now()) / 1000);
    const whole_s = Math.ceil(left_s);
    const text = whole_s >= 60 ? `${Math.floor(whole_s / 60)}:${String(whole_s % 60).padStart(2, '0')}` : String(whole_s);
    setText(this.#number, text);
    const last = whole_s <= LAST_S;
    this.node.classList.toggle('last', last);
    if (last && !this.#wasLast) this.#onLast();
    this.#wasLast = last;
    this.#bar.style.transform = `scaleX(${this.#total ? Math.min(1, left_s / this.#total) : 0})`;
    if (left_s === 0) clearInterval(this.#timer);
  }
}
