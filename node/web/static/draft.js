/**
 * The draft: how the board lies while its player is at work, and which jokers were exchanged with notice. Never judged
 * here; every change is one step that can be undone. Invariant: each tile of the board at the start of the turn lies in
 * exactly one meld, and every other tile in a meld is one of the own rack.
 */

import { inOrder, readsBothWays, twoRuns } from './melds.js';

let lastKey = 0;

const copy = (melds) => melds.map(({ key, tiles, kind }) => ({ key, tiles: [...tiles], kind }));
const fresh = (tiles, kind = null) => ({ key: (lastKey += 1), tiles: [...tiles], kind });
const same = (a, b) => a.length === b.length && a.every((item, i) => item === b[i]);

export class Draft {
  #start;
  #board;
  #faceOf;
  #past = [];
  #future = [];

  /** `board`: the melds at the start of the turn, `{tiles: [id], kind}`; `faceOf(id)`: the face of any tile in sight. */
  constructor(board, faceOf) {
    this.#board = board.map(({ tiles, kind }) => ({ tiles: [...tiles], kind }));
    this.#start = new Set(board.flatMap(({ tiles }) => tiles));
    this.#faceOf = faceOf;
    this.melds = board.map(({ tiles, kind }) => fresh(tiles, kind));
    this.exchanges = []; // {meld, position, tile}: places on the board at the start of the turn
  }

  /** Takes up what the node kept (after a reload). False, and no change, if it does not fit this turn. */
  takeUp({ melds, exchanges = [] }, rack) {
    const tiles = melds.flatMap((meld) => meld.tiles);
    if (new Set(tiles).size !== tiles.length || !this.#fits(tiles, rack)) return false;
    const kept = melds.map((meld) => fresh(meld.tiles, meld.kind));
    if (!same(melds.map((meld) => meld.tiles.join()), this.melds.map((meld) => meld.tiles.join()))) {
      this.#past.push(this.#now());
    }
    this.melds = kept;
    this.exchanges = exchanges.map(({ meld, position, tile }) => ({ meld, position, tile }));
    return true;
  }

  /** Whether this draft still belongs to this board and rack (ids). */
  fits(board, rack) {
    const start = board.flatMap(({ tiles }) => tiles);
    return same([...this.#start].sort(), [...start].sort()) && this.#fits(this.melds.flatMap(({ tiles }) => tiles), rack);
  }

  #fits(tiles, rack) {
    const lying = new Set(tiles);
    const held = new Set(rack);
    return [...this.#start].every((id) => lying.has(id)) && tiles.every((id) => this.#start.has(id) || held.has(id));
  }

  /** The tiles laid this turn. */
  get laid() {
    return new Set(this.melds.flatMap(({ tiles }) => tiles).filter((id) => !this.#start.has(id)));
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Whether anything lies differently from the start of the turn. */
  get touched() {
    return !same(this.melds.map(({ tiles }) => tiles.join()), this.#board.map(({ tiles }) => tiles.join()));
  }

  /** The index of the meld a tile lies in, or -1. */
  meldOf(id) {
    return this.melds.findIndex(({ tiles }) => tiles.includes(id));
  }

  /** Lays `ids`, in this order, into meld `index` before position `at` (end if missing). */
  place(ids, index, at = Infinity) {
    const target = this.melds[index];
    const before = target.tiles.slice(0, at).filter((id) => !ids.includes(id));
    const after = target.tiles.slice(at).filter((id) => !ids.includes(id));
    const moved = [...before, ...ids, ...after];
    const tiles = inOrder(moved, this.#faceOf);
    if (same(tiles, target.tiles)) return false;
    const halves = twoRuns(tiles, this.#faceOf) ?? twoRuns(this.#rising(tiles), this.#faceOf);
    return this.#step((melds) => melds.flatMap((meld) => {
      if (meld.key !== target.key) return [this.#without(meld, ids)];
      if (halves) return halves.map((part, i) => (i === 0 ? { ...meld, tiles: part, kind: null } : fresh(part)));
      return [this.#kinded({ ...meld, tiles })];
    }));
  }

  /** Lays `ids` as a meld of their own, at the end of the board. */
  placeNew(ids) {
    if (this.melds.some(({ tiles }) => same(tiles, ids))) return false;
    return this.#step((melds) => [...melds.map((meld) => this.#without(meld, ids)), fresh(inOrder(ids, this.#faceOf))]);
  }

  /** Sends tiles laid this turn back to the rack, and with them the exchanges they were for. False if there is none. */
  takeBack(ids) {
    const laid = this.laid;
    const back = ids.filter((id) => laid.has(id));
    if (back.length === 0) return false;
    const exchanges = this.exchanges.filter(({ tile }) => !back.includes(tile));
    return this.#step((melds) => melds.map((meld) => this.#without(meld, back)), exchanges);
  }

  /** Whether a tile is a joker that lay on the board at the start of the turn and was not exchanged yet. */
  exchangeable(id) {
    const place = this.#startPlace(id);
    return place !== null && this.#faceOf(id).joker
      && !this.exchanges.some(({ meld, position }) => meld === place.meld && position === place.position);
  }

  /** Exchanges a joker with notice: the tile takes its place, and the joker lies by itself, to be used this turn. */
  exchange(joker, id) {
    if (!this.exchangeable(joker) || this.#start.has(id)) return false;
    const exchanges = [...this.exchanges.filter(({ tile }) => tile !== id), { ...this.#startPlace(joker), tile: id }];
    return this.#step((melds) => [
      ...melds.map((meld) => this.#without(meld, [id]))
        .map((meld) => (meld.tiles.includes(joker) ? this.#kinded({ ...meld, tiles: meld.tiles.map((old) => (old === joker ? id : old)) }) : meld)),
      fresh([joker]),
    ], exchanges);
  }

  #startPlace(id) {
    const meld = this.#board.findIndex(({ tiles }) => tiles.includes(id));
    return meld < 0 ? null : { meld, position: this.#board[meld].tiles.indexOf(id) };
  }

  /** Lets the board lie as somebody proposes, with these exchanges. */
  become(melds, exchanges) {
    return this.#step(() => melds.map(({ tiles, kind }) => fresh(tiles, kind)), exchanges);
  }

  /** Says how a meld that reads both ways is meant. */
  setKind(index, kind) {
    return this.#step((melds) => melds.map((meld, i) => (i === index ? { ...meld, kind } : meld)));
  }

  undo() {
    if (!this.canUndo) return false;
    this.#future.push(this.#now());
    ({ melds: this.melds, exchanges: this.exchanges } = this.#past.pop());
    return true;
  }

  redo() {
    if (!this.canRedo) return false;
    this.#past.push(this.#now());
    ({ melds: this.melds, exchanges: this.exchanges } = this.#future.pop());
    return true;
  }

  /** Back to the start of the turn, as one step. */
  reset() {
    return this.touched && this.#step(() => this.#board.map(({ tiles, kind }) => fresh(tiles, kind)), []);
  }

  /** The melds as they are sent to the node. */
  plain() {
    return this.melds.map(({ tiles, kind }) => ({ tiles: [...tiles], kind }));
  }

  #rising(ids) {
    if (ids.some((id) => this.#faceOf(id).joker)) return ids;
    return [...ids].sort((a, b) => this.#faceOf(a).number - this.#faceOf(b).number);
  }

  #without(meld, ids) {
    const tiles = meld.tiles.filter((id) => !ids.includes(id));
    return tiles.length === meld.tiles.length ? meld : this.#kinded({ ...meld, tiles });
  }

  // What was said about a meld holds as long as there is something to say.
  #kinded(meld) {
    const started = this.#board.find(({ tiles }) => same(tiles, meld.tiles));
    if (started) return { ...meld, kind: started.kind };
    return readsBothWays(meld.tiles.map(this.#faceOf)) ? meld : { ...meld, kind: null };
  }

  #now() {
    return { melds: copy(this.melds), exchanges: this.exchanges };
  }

  #step(change, exchanges = this.exchanges) {
    this.#past.push(this.#now());
    this.#future = [];
    this.melds = change(copy(this.melds)).filter(({ tiles }) => tiles.length > 0);
    this.exchanges = exchanges;
    return true;
  }
}
