/**
 * Clocks that count down on the browser's monotonic clock: no wall clock, here or at the tables, matters.
 *
 * The server says when a turn ends on its own clock, and with every message what that clock shows. The message that
 * took the shortest time on its way tells best how the two clocks lie to each other.
 */

import { calm, el, setHidden, setText } from '/static/dom.js';

const TICK_MS = 100;
const LAST_S = 10;

let offset_s = Infinity;
const running = new Set();

/** The server's clock shows `now_s`; `anew`: it may be another clock than before. */
export function setServerClock(now_s, anew) {
  const seen_s = performance.now() / 1000 - now_s;
  offset_s = anew ? seen_s : Math.min(offset_s, seen_s);
}

const left = (ends_s) => Math.max(0, ends_s + offset_s - performance.now() / 1000);

setInterval(() => {
  for (const clock of running) clock.tick();
}, TICK_MS);

/** One clock: a number, and a bar that shrinks. */
export class Countdown {
  #number = el('span', { class: 'clock-number' });
  #unit = el('span', { class: 'clock-unit' });
  #bar = el('span', { class: 'clock-bar' });
  #shrinking = null;
  #key = '';
  #ends_s = 0;
  #total_s = 0;

  constructor() {
    this.node = el('div', { class: 'clock', role: 'timer', 'aria-label': 'Time left', hidden: true },
      el('span', { class: 'clock-time' }, this.#number, this.#unit), el('span', { class: 'clock-track' }, this.#bar));
  }

  /** `clock` as it comes with a table, null for none; `paused`: the game is. */
  show(clock, paused) {
    const key = JSON.stringify([clock, paused]);
    if (key === this.#key) return;
    this.#key = key;
    running.delete(this);
    this.#shrinking?.cancel();
    const ends_s = paused ? clock?.pause_ends_s : clock?.ends_s;
    const shown = clock !== null && (typeof ends_s === 'number' || clock.left_s !== null);
    setHidden(this.node, !shown);
    if (!shown) return;
    setText(this.#unit, paused ? 'paused' : '');
    this.node.classList.toggle('still', paused || typeof ends_s !== 'number');
    this.#total_s = paused ? 0 : clock.limit_s;
    if (typeof ends_s === 'number') {
      this.#ends_s = ends_s;
      running.add(this);
      this.#shrink();
      this.tick();
    } else {
      this.#write(clock.left_s);
    }
  }

  /** It is no longer on the page. */
  stop() {
    running.delete(this);
    this.#shrinking?.cancel();
    this.#key = '';
  }

  tick() {
    this.#write(left(this.#ends_s));
  }

  #write(left_s) {
    const whole_s = Math.ceil(left_s);
    const text = whole_s >= 60 ? `${Math.floor(whole_s / 60)}:${String(whole_s % 60).padStart(2, '0')}` : String(whole_s);
    if (this.#number.textContent === text) return;
    setText(this.#number, text);
    this.node.classList.toggle('last', whole_s <= LAST_S && !this.node.classList.contains('still'));
    if (!this.#shrinking) this.#bar.style.transform = `scaleX(${this.#share(left_s)})`;
  }

  // The compositor moves the bar, so it is smooth however many there are; for who wants calm it goes by the second.
  #shrink() {
    const left_s = left(this.#ends_s);
    this.#shrinking = calm() || !this.#total_s ? null : this.#bar.animate(
      [{ transform: `scaleX(${this.#share(left_s)})` }, { transform: 'scaleX(0)' }], { duration: left_s * 1000, fill: 'forwards' });
  }

  #share(left_s) {
    return this.#total_s ? Math.min(1, left_s / this.#total_s) : 0;
  }
}
