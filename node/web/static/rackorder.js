/**
 * The order of the own rack: the player's alone. It never changes by itself: new tiles come at the end and are marked,
 * laid tiles keep their place for when they come back. Sorting is a press, and the free order can be had again.
 */

import { byColour, byNumber } from './tiles.js';

export class RackOrder {
  #storage;
  #key = '';
  #order = [];
  #free = null; // the free order, while a sorted one is shown
  #fresh = new Set();

  /** `storage`: a `Storage`, to come back in the same order after a reload. */
  constructor(storage) {
    this.#storage = storage;
  }

  /** All tiles of the rack in order. */
  get order() {
    return [...this.#order];
  }

  /** Whether the shown order is a sorted one. */
  get sorted() {
    return this.#free !== null;
  }

  /** The tiles that came last. */
  isFresh(id) {
    return this.#fresh.has(id);
  }

  /** The rack holds `ids` now. `key` names the game; with `mark`, tiles that came are marked as new. */
  sync(key, ids, mark) {
    const first = key !== this.#key;
    if (first) this.#load(key);
    const held = new Set(ids);
    const known = new Set(this.#order);
    const came = ids.filter((id) => !known.has(id));
    if (!first && came.length === 0 && held.size === known.size) return;
    this.#order = [...this.#order.filter((id) => held.has(id)), ...came];
    if (this.#free) this.#free = [...this.#free.filter((id) => held.has(id)), ...came];
    if (came.length > 0) this.#fresh = new Set(mark && !first ? came : []);
    this.#save();
  }

  /** Sorts once: `colour` (as runs lie), `number` (as groups lie) or `own` (back to the free order). */
  sort(how, faceOf) {
    if (how === 'own') {
      if (this.#free) this.#order = this.#free;
      this.#free = null;
    } else {
      this.#free ??= this.#order;
      const compare = how === 'colour' ? byColour : byNumber;
      // `sort` is stable, and equal faces are put by id so that twins never change places.
      this.#order = [...this.#order].sort((a, b) => compare(faceOf(a), faceOf(b)) || a - b);
    }
    this.#save();
  }

  /** Puts `ids`, in this order, before the tile `before` (null: at the end). What is seen becomes the free order. */
  move(ids, before) {
    const rest = this.#order.filter((id) => !ids.includes(id));
    let at = rest.indexOf(before);
    if (before !== null && at < 0) {
      // The tile itself moves along: the place is before the next one that stays.
      const stays = this.#order.slice(this.#order.indexOf(before)).find((id) => !ids.includes(id));
      at = stays === undefined ? -1 : rest.indexOf(stays);
    }
    this.#order = at < 0 ? [...rest, ...ids] : [...rest.slice(0, at), ...ids, ...rest.slice(at)];
    this.#free = null;
    this.touch(ids);
    this.#save();
  }

  /** The player has had these in hand: they are no longer marked as new. */
  touch(ids) {
    for (const id of ids) this.#fresh.delete(id);
  }

  #load(key) {
    this.#key = key;
    this.#order = [];
    this.#free = null;
    this.#fresh = new Set();
    try {
      const kept = JSON.parse(this.#storage.getItem('rack') ?? 'null');
      if (kept?.key === key) {
        this.#order = kept.order;
        this.#free = kept.free;
      }
    } catch {
      // Kept by an older page, or storage is switched off: begin with the order of the node.
    }
  }

  #save() {
    try {
      this.#storage.setItem('rack', JSON.stringify({ key: this.#key, order: this.#order, free: this.#free }));
    } catch {
      // Storage is switched off: the order lasts until the page is closed.
    }
  }
}
