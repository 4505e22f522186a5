/**
 * The own play: what is held, laid, selected and judged, and what a press on a tile or a place means. No elements.
 *
 * The node has the last word on everything. The draft lives here and is sent to the node after every change; the
 * answer to the newest one counts, older answers are dropped.
 */

import { Draft } from './draft.js';
import { readsBothWays } from './melds.js';
import { RackOrder } from './rackorder.js';
import { parseFace } from './tiles.js';

const TWICE_MS = 380;
const SENT_MS = 5000;
const NOT_YOURS = 'It is not your turn. You can arrange your rack meanwhile.';
const CALL = 'Your rack is empty: press Rummikub!';
const SENT = 'Your move is on its way to the others.';

const layout = (melds) => JSON.stringify(melds.map(({ tiles, kind }) => [tiles, kind ?? null]));

export class Play {
  #hooks;
  #table = null;
  #texts = new Map();
  #key = '';
  #turn = '';
  #draft = null;
  #draftNo = 0;
  #judged = null; // {value, melds}: the answer and the draft melds that it is about
  #sent = null; // the command that ends the turn, while nothing came of it yet
  #sentTimer = 0;
  #tapped = { id: null, at: 0 };
  #resend = false;

  /** `hooks`: `send(command)`, `changed(placed)` (ids just laid, if any), `say(sentence, calm)`, `storage`. */
  constructor(hooks) {
    this.#hooks = hooks;
    this.order = new RackOrder(hooks.storage);
    this.selection = [];
  }

  // What is so

  /** The own turn, and something can be done in it. */
  get mine() {
    return this.#draft !== null;
  }

  /** The draft may be changed just now. */
  get open() {
    return this.mine && this.#sent === null;
  }

  /** The turn-ending command that the others have not agreed to yet, or null. */
  get sent() {
    return this.#sent;
  }

  get canUndo() {
    return this.open && this.#draft.canUndo;
  }

  get canRedo() {
    return this.open && this.#draft.canRedo;
  }

  get touched() {
    return this.#draft?.touched ?? false;
  }

  /** The node's judgement of the draft: the newest one it gave, or null. */
  get judged() {
    return this.mine ? this.#judged?.value ?? null : null;
  }

  /** The ids on the rack as it is seen: in the own order, without what is laid. */
  get rack() {
    const laid = this.laid;
    return this.order.order.filter((id) => !laid.has(id));
  }

  get laid() {
    return this.#draft?.laid ?? new Set();
  }

  text(id) {
    return this.#texts.get(id) ?? 'J';
  }

  face = (id) => parseFace(this.text(id));

  /** The melds to show: `{ids, kind, points, standsFor, faulty, changed, bothWays}`. */
  get melds() {
    if (!this.#draft) {
      return (this.#table?.view.board ?? []).map((meld) => ({
        ids: meld.tiles.map(({ id }) => id), kind: meld.kind, points: meld.points, standsFor: meld.stands_for,
        faulty: false, changed: false, bothWays: false,
      }));
    }
    const start = new Set(this.#table.view.board.map(({ tiles }) => tiles.map(({ id }) => id).join()));
    return this.#draft.melds.map((meld) => {
      const judged = this.#judgedMeld(meld);
      const changed = !start.has(meld.tiles.join());
      return {
        ids: meld.tiles,
        kind: meld.kind ?? judged?.kind ?? null,
        points: judged?.kind ? judged.points : 0,
        standsFor: judged?.stands_for ?? [],
        faulty: this.touched && (judged?.faulty ?? false),
        changed,
        bothWays: changed && readsBothWays(meld.tiles.map(this.face)),
      };
    });
  }

  #judgedMeld(meld) {
    const index = this.#judged?.melds.findIndex(({ tiles, kind }) => kind === meld.kind && tiles.join() === meld.tiles.join()) ?? -1;
    if (index < 0) return null;
    const { melds, faults } = this.#judged.value;
    return { ...melds[index], faulty: faults.some((fault) => fault.melds.includes(index)) };
  }

  /** Why each of the three buttons does nothing just now; empty where it works. */
  get reasons() {
    const judged = this.judged;
    if (!this.mine) return { end: NOT_YOURS, draw: NOT_YOURS, rummikub: NOT_YOURS };
    if (this.#sent) return { end: SENT, draw: SENT, rummikub: SENT };
    if (!judged) return { end: '', draw: '', rummikub: '' };
    const held = this.rack.length;
    const first = judged.faults[0]?.sentence;
    const draw = this.#table.view.can_pass ? 'pass' : 'draw';
    const holds = held === 1 ? 'You still hold 1 tile.' : `You still hold ${held} tiles.`;
    const call = judged.can_rummikub && (this.#table.view.call_required || !judged.can_end);
    return {
      end: call ? CALL : judged.can_end ? '' : (this.touched && first) || `Lay at least one tile first, or ${draw}.`,
      draw: judged.can_draw ? '' : this.touched ? `Put the board back first (Reset), then ${draw}.` : `You cannot ${draw} now.`,
      rummikub: judged.can_rummikub ? '' : held > 0 ? holds : first || 'Not yet.',
    };
  }

  // What the node says

  /** Takes in the newest state of the table. */
  update(table) {
    const { view } = table;
    this.#table = table;
    const key = `${table.words}|${view.game}`;
    if (key !== this.#key) this.#texts.clear();
    this.#key = key;
    for (const { id, text } of [...view.rack, ...view.board.flatMap(({ tiles }) => tiles)]) this.#texts.set(id, text);
    const rack = view.rack.map(({ id }) => id);
    this.order.sync(key, rack, view.phase === 'play');
    const turn = `${key}|${view.turn_number}|${view.turn}`;
    const mine = view.seat !== null && view.turn === view.seat && view.phase === 'play' && !view.waiting_for && !view.result;
    const board = view.board.map(({ tiles, kind }) => ({ tiles: tiles.map(({ id }) => id), kind }));
    if (this.#draft && (turn !== this.#turn || !mine)) this.#close(new Set(rack));
    if (this.#draft && !this.#draft.fits(board, rack)) {
      this.#drop();
      this.#hooks.say('The board has changed. Your draft was put back.', true);
    }
    this.#turn = turn;
    if (mine && !this.#draft) this.#begin(board, rack);
    else if (mine) this.#catchUp();
    this.#resend = false;
    const seen = new Set([...rack, ...board.flatMap(({ tiles }) => tiles)]);
    this.selection = this.selection.filter((id) => seen.has(id) && (mine || rack.includes(id)));
  }

  /** The connection is there again: the node may have forgotten the draft. */
  reconnected() {
    this.#resend = true;
  }

  /** The node's answer to a draft. */
  answer({ draft_no: no, judged }) {
    if (this.#draft && no === this.#draftNo) this.#judged = { value: judged, melds: this.#draft.plain() };
  }

  /** The node refused a command. */
  refused({ command, sentence }) {
    if (command === this.#sent) this.#setSent(null);
    // The turn may end while a draft is on its way: that draft is of no interest any more.
    if (command !== 'draft' || this.mine) this.#hooks.say(sentence);
  }

  #begin(board, rack) {
    this.#draft = new Draft(board, this.face);
    const kept = this.#table.draft;
    if (kept && this.#draft.takeUp(kept.melds, rack)) this.#judged = { value: kept.judged, melds: this.#draft.plain() };
    else this.#sendDraft();
  }

  #catchUp() {
    const kept = this.#table.draft;
    const agrees = kept && layout(kept.melds) === layout(this.#draft.melds);
    if (agrees) this.#judged = { value: kept.judged, melds: this.#draft.plain() };
    else if (this.#resend) this.#sendDraft();
  }

  // The turn is over: say what became of tiles that lay there, unless the player ended it.
  #close(rack) {
    const { laid, touched } = this.#draft;
    const ended = this.#sent !== null;
    this.#drop();
    if (ended || !touched) return;
    const back = [...laid].filter((id) => rack.has(id));
    if (laid.size > 0 && back.length === 0) this.#hooks.say('Your turn is over. What you laid stands.', true);
    else if (back.length < laid.size) this.#hooks.say('Your turn is over. Tiles that were in no legal meld are back on your rack.', true);
    else this.#hooks.say('Your turn is over. The board is as it was, and your tiles are back on your rack.', true);
  }

  #drop() {
    this.#draft = null;
    this.#judged = null;
    this.selection = [];
    this.#setSent(null);
  }

  // What the player does

  undo() {
    this.#edit(() => this.#draft.undo());
  }

  redo() {
    this.#edit(() => this.#draft.redo());
  }

  reset() {
    this.#edit(() => this.#draft.reset());
  }

  setKind(index, kind) {
    this.#edit(() => this.#draft.setKind(index, kind));
  }

  sort(how) {
    this.order.sort(how, this.face);
    this.#hooks.changed();
  }

  /** Ends the turn by `end_turn`, `draw`, `pass` or `rummikub`, or says why not. */
  finish(command) {
    const reasons = this.reasons;
    const reason = { end_turn: reasons.end, draw: reasons.draw, pass: reasons.draw, rummikub: reasons.rummikub }[command];
    if (reason) this.#hooks.say(reason);
    else if (this.#hooks.send({ type: command })) {
      this.selection = [];
      this.#setSent(command);
    }
  }

  /** Selects a tile or lets it go. */
  toggle(id) {
    if (this.selection.includes(id)) this.selection = this.selection.filter((other) => other !== id);
    else if (this.mine || this.rack.includes(id)) this.selection = [...this.selection, id];
    this.order.touch([id]);
    this.#hooks.changed();
  }

  select(ids) {
    this.selection = ids;
    this.#hooks.changed();
  }

  /** A press on a tile: `at` and `index` tell where it lies on the board (index -1: on the rack). */
  tap(id, { index, at, now }) {
    const twice = this.#tapped.id === id && now - this.#tapped.at < TWICE_MS;
    this.#tapped = twice ? { id: null, at: 0 } : { id, at: now };
    const chosen = this.selection;
    if (twice && index >= 0) {
      if (this.laid.has(id)) this.put([id], { zone: 'rack' });
      else if (this.mine) this.select([...this.#draft.melds[index].tiles]);
    } else if (chosen.includes(id) || chosen.length === 0) {
      if (index >= 0 && !this.mine) this.#hooks.say(NOT_YOURS);
      else this.toggle(id);
    } else if (index >= 0) {
      this.put(chosen, { zone: 'meld', index, at });
    } else if (chosen.every((other) => this.rack.includes(other))) {
      this.toggle(id);
    } else {
      this.put(chosen, { zone: 'rack', before: id });
    }
  }

  /** A press on a place: puts the selection there. */
  tapPlace(place) {
    if (this.selection.length > 0) this.put(this.selection, place);
    else if (place.zone === 'meld' && this.open) this.select([...this.#draft.melds[place.index].tiles]);
    else if (place.zone === 'new' && place.button) this.#hooks.say('Select one or more tiles first, then press here.');
  }

  /**
   * Puts tiles, in this order, somewhere: `{zone: 'meld', index, at}`, `{zone: 'new'}` or `{zone: 'rack', before}`
   * (without `before`: where they were). False if they may not go there; the player is told why.
   */
  put(ids, place) {
    return place.zone === 'rack' ? this.#putBack(ids, place.before) : this.#lay(ids, place);
  }

  #lay(ids, place) {
    if (!this.mine) return this.#refuse(NOT_YOURS);
    return this.#edit(() => {
      this.order.touch(ids);
      return place.zone === 'meld' ? this.#draft.place(ids, place.index, place.at) : this.#draft.placeNew(ids);
    }, ids);
  }

  #putBack(ids, before) {
    const laid = this.laid;
    const held = new Set(this.rack);
    if (!ids.every((id) => laid.has(id) || held.has(id))) {
      return this.#refuse('Only tiles that you laid in this turn can go back to your rack.');
    }
    if (ids.some((id) => laid.has(id)) && !this.#edit(() => this.#draft.takeBack(ids))) return false;
    if (before !== undefined) this.order.move(ids, before);
    this.selection = [];
    this.#hooks.changed();
    return true;
  }

  #refuse(sentence) {
    this.#hooks.say(sentence);
    return false;
  }

  #edit(change, placed = []) {
    if (!this.mine) return false;
    if (this.#sent) return this.#refuse(SENT);
    const changed = change();
    if (changed) this.#sendDraft();
    this.selection = [];
    this.#hooks.changed(placed);
    return changed;
  }

  #sendDraft() {
    this.#draftNo += 1;
    this.#hooks.send({ type: 'draft', draft_no: this.#draftNo, melds: this.#draft.plain() });
  }

  #setSent(command) {
    clearTimeout(this.#sentTimer);
    this.#sent = command;
    if (command) this.#sentTimer = setTimeout(() => this.#unlock(), SENT_MS);
    this.#hooks.changed();
  }

  // Nothing came of it: as long as the table waits for somebody that is no wonder; otherwise let the player go on.
  #unlock() {
    if (this.#table.waiting) this.#sentTimer = setTimeout(() => this.#unlock(), SENT_MS);
    else this.#setSent(null);
  }
}
