/**
 * Dragging tiles with mouse, pen or finger. A press that does not move stays a click; one that is held selects.
 *
 * What is dragged, where it may fall and what then happens is the business of `hooks`:
 *   `pick(element)`   ids to drag from this element, or null
 *   `nodes(ids)`      their elements, for the ghost
 *   `lift(ids)`       the drag begins
 *   `over(ids, x, y)` the pointer is here
 *   `drop(ids, x, y)` it was let go here
 *   `end()`           after a drop or when the drag was called off
 *   `hold(element)`   pressed long without moving
 */

import { el } from './dom.js';

const SLACK_PX = 6;
const HOLD_MS = 450;
const CLICK_MS = 80;
const EDGE_PX = 44;
const SCROLL_PX = 9;

export class Drag {
  #hooks;
  #scroller;
  #press = null; // the pressed pointer: where, on what
  #ghost = null;
  #frame = 0;
  #holdTimer = 0;

  /** Presses inside `root` are watched; `scroller` scrolls by itself when a tile is held near its edges. */
  constructor(root, scroller, hooks) {
    this.#hooks = hooks;
    this.#scroller = scroller;
    root.addEventListener('pointerdown', (event) => this.#down(event));
    root.addEventListener('dragstart', (event) => event.preventDefault());
    root.addEventListener('contextmenu', (event) => {
      if (this.#press?.touch) event.preventDefault();
    });
    addEventListener('pointermove', (event) => this.#move(event));
    addEventListener('pointerup', (event) => this.#up(event));
    addEventListener('pointercancel', (event) => this.#mine(event) && this.cancel());
    addEventListener('blur', () => this.cancel());
  }

  /** The ids that are being dragged just now, or null. */
  get ids() {
    return this.#ghost ? this.#press.ids : null;
  }

  /** Calls the drag off; the tiles stay where they were. */
  cancel() {
    clearTimeout(this.#holdTimer);
    cancelAnimationFrame(this.#frame);
    const dragging = this.#ghost !== null;
    this.#ghost?.remove();
    this.#ghost = null;
    this.#press = null;
    if (dragging) this.#hooks.end();
  }

  #mine(event) {
    return this.#press !== null && event.pointerId === this.#press.pointer;
  }

  #down(event) {
    if (this.#press || event.button !== 0 || !event.isPrimary) return;
    const element = event.target.closest('[data-grip], .tile');
    if (!element) return;
    this.#press = {
      pointer: event.pointerId, x: event.clientX, y: event.clientY, touch: event.pointerType === 'touch', element, ids: null,
      held: false,
    };
    this.#holdTimer = setTimeout(() => {
      if (!this.#press || this.#ghost) return;
      this.#press.held = true;
      this.#hooks.hold(element);
    }, HOLD_MS);
  }

  #move(event) {
    if (!this.#mine(event)) return;
    const press = this.#press;
    if (!this.#ghost) {
      if (Math.hypot(event.clientX - press.x, event.clientY - press.y) < SLACK_PX) return;
      clearTimeout(this.#holdTimer);
      const ids = this.#hooks.pick(press.element);
      if (!ids) {
        this.#press = null;
        return;
      }
      press.ids = ids;
      this.#lift();
    }
    press.x = event.clientX;
    press.y = event.clientY;
    this.#follow();
  }

  #up(event) {
    if (!this.#mine(event)) return;
    clearTimeout(this.#holdTimer);
    const { ids, held } = this.#press;
    if (this.#ghost || held) swallowClick(event.clientX, event.clientY);
    if (!this.#ghost) {
      this.#press = null;
      return;
    }
    this.cancel();
    this.#hooks.drop(ids, event.clientX, event.clientY);
  }

  #lift() {
    const copies = this.#hooks.nodes(this.#press.ids).map((node) => {
      const copy = node.cloneNode(true);
      for (const name of ['data-testid', 'data-id', 'tabindex', 'aria-label']) copy.removeAttribute(name);
      copy.classList.remove('selected', 'lifted', 'faulty');
      return copy;
    });
    this.#ghost = el('div', { class: 'ghost', 'aria-hidden': 'true' }, ...copies);
    document.body.append(this.#ghost);
    this.#hooks.lift(this.#press.ids);
    this.#scroll();
  }

  #follow() {
    const { x, y, touch, ids } = this.#press;
    const lift = touch ? '-85%' : '-50%'; // a finger must not cover the tile
    this.#ghost.style.transform = `translate(${x}px, ${y}px) translate(-50%, ${lift})`;
    this.#hooks.over(ids, x, y);
  }

  #scroll() {
    this.#frame = requestAnimationFrame(() => {
      if (!this.#ghost) return;
      const box = this.#scroller.getBoundingClientRect();
      const { x, y } = this.#press;
      const inside = x > box.left && x < box.right && y > box.top - EDGE_PX && y < box.bottom;
      const step = inside && y < box.top + EDGE_PX ? -SCROLL_PX : inside && y > box.bottom - EDGE_PX ? SCROLL_PX : 0;
      const before = this.#scroller.scrollTop;
      if (step) this.#scroller.scrollTop += step;
      if (this.#scroller.scrollTop !== before) this.#follow();
      this.#scroll();
    });
  }
}

/** The click that a browser makes of the end of a drag, at the same point, is none. */
function swallowClick(x, y) {
  const stop = (event) => {
    if (event.detail === 0 || Math.hypot(event.clientX - x, event.clientY - y) > SLACK_PX) return;
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener('click', stop, { capture: true, once: true });
  setTimeout(() => removeEventListener('click', stop, true), CLICK_MS);
}
