/**
 * For a projector, where nobody scrolls: turns the pages by itself when there is more than fits. Off at first.
 */

import { Choice } from '/static/choice.js';
import { el, setHidden } from '/static/dom.js';

const EVERY_MS = 12_000;

export class PageTurner {
  #areas;
  #wide;
  #choice = new Choice('party-turns-pages');
  #timer = 0;

  /** `grid` and `rows` scroll, on screens that are `wide` (a media query); `list` is what is in the grid. */
  constructor(grid, list, rows, wide) {
    this.#areas = [grid, rows];
    this.#wide = wide;
    this.button = el('button', { type: 'button', class: 'tool', testid: 'turn-pages', hidden: true, on: { click: () => this.#toggle() } }, 'Turn pages');
    const observer = new ResizeObserver(() => this.#check());
    for (const node of [grid, list]) observer.observe(node);
    this.#apply();
  }

  #check() {
    setHidden(this.button, !this.#wide.matches || !this.#areas.some((area) => area.scrollHeight > area.clientHeight + 1));
  }

  #toggle() {
    this.#choice.toggle();
    this.#apply();
  }

  #apply() {
    this.button.setAttribute('aria-pressed', String(this.#choice.on));
    clearInterval(this.#timer);
    if (this.#choice.on) this.#timer = setInterval(() => this.#areas.forEach(turn), EVERY_MS);
  }
}

function turn(area) {
  const atEnd = area.scrollTop + area.clientHeight >= area.scrollHeight - 1;
  if (atEnd) {
    area.scrollTop = 0;
    return;
  }
  // On to the first thing that is not wholly seen.
  const box = area.getBoundingClientRect();
  const cut = [...area.querySelectorAll('.table-card, tr')].find((node) => node.getBoundingClientRect().bottom > box.bottom + 1);
  area.scrollTop += cut ? Math.max(1, cut.getBoundingClientRect().top - box.top - 12) : area.clientHeight;
}
