/**
 * A choice of the player that this browser remembers: on or off, off at first.
 */

export class Choice {
  #name;

  constructor(name) {
    this.#name = name;
    try {
      this.on = localStorage.getItem(name) === 'on';
    } catch {
      this.on = false;
    }
  }

  toggle() {
    this.on = !this.on;
    try {
      localStorage.setItem(this.#name, this.on ? 'on' : 'off');
    } catch {
      // Storage is switched off: the choice lasts until the page is closed.
    }
  }
}
