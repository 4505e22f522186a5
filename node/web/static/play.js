/**
 * The own play: what is held, laid, selected and judged, and what a press on a tile or a place means. No elements.
 *
 * The node has the last word on everything. The draft lives here and is sent to the node after every change; the
 * answer to the newest one counts, older answers are dropped.
 */

import { Draft } from './draft.js';
import { readsBothWays } from './melds.js';
import { RackOrder } from './rackorder.js';
import { parseFace, spoken } from './tiles.js';
import { WORDS, counted } from './words.js';

const TWICE_MS = 380;
const SENT_MS = 5000;
const CALL = 'Your rack is empty: press Rummikub!';
const SENT = 'Your move is on its way to the others.';
const COSTS = 'ILLEGAL-COSTS';

const COMMANDS = ['end_turn', 'draw', 'pass', 'rummikub', 'take_discard', 'lay', 'discard'];

const layout = ({ melds, exchanges = [] }) => JSON.stringify([
  melds.map(({ tiles, kind }) => [tiles, kind ?? null]), exchanges.map(({ meld, position, tile }) => [meld, position, tile]),
]);

export class Play {
  #hooks;
  #table = null;
  #texts = new Map();
  #key = '';
  #turn = '';
  #stage = ''; // with cards: how far the turn has come
  #draft = null;
  #draftNo = 0;
  #judged = null; // {value, melds}: the answer and the draft melds that it is about
  #sent = null; // the command that ends the turn, while nothing came of it yet
  #sentTimer = 0;
  #tapped = { id: null, at: 0 };
  #resend = false;

  /**
   * `hooks`: `send(command)`, `changed(placed)` (ids just laid, if any), `say(sentence, calm)`, `storage`, and
   * `askCosts(reasons, tiles)` (ending the turn now is illegal and costs so many tiles).
   */
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
    return this.mine && this.#sent === null && !this.#table.view.waiting_for;
  }

  /** A card game: a turn is several moves. */
  get cards() {
    return this.#table?.deck === 'cards';
  }

  get words() {
    return WORDS[this.#table?.deck ?? 'tiles'];
  }

  get #notYours() {
    return `It is not your turn. You can arrange your ${this.words.rack} meanwhile.`;
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

  /** The melds to show: `{ids, kind, points, standsFor, faulty, changed, bothWays, jokers}`. */
  get melds() {
    if (!this.#draft) {
      return (this.#table?.view.board ?? []).map((meld) => ({
        ids: meld.tiles.map(({ id }) => id), kind: meld.kind, points: meld.points, standsFor: meld.stands_for,
        faulty: false, changed: false, bothWays: false, jokers: [],
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
        jokers: this.#jokers(meld, judged?.stands_for ?? []),
      };
    });
  }

  // The jokers of a meld that may be exchanged with notice, with words for the button.
  #jokers(meld, standsFor) {
    if (!this.judged?.can_exchange) return [];
    return meld.tiles.flatMap((id, i) => {
      if (!this.#draft.exchangeable(id)) return [];
      const faces = (standsFor[i] ?? []).map(spoken).join(' or ');
      return [{ id, label: faces ? `Exchange the joker that stands for ${faces}` : 'Exchange this joker' }];
    });
  }

  #judgedMeld(meld) {
    const index = this.#judged?.melds.findIndex(({ tiles, kind }) => kind === meld.kind && tiles.join() === meld.tiles.join()) ?? -1;
    if (index < 0) return null;
    const { melds, faults } = this.#judged.value;
    return { ...melds[index], faulty: faults.some((fault) => fault.melds.includes(index)) };
  }

  /** Why each of the buttons, by command, does nothing just now; empty where it works, or where the node says why. */
  get reasons() {
    const judged = this.judged;
    const all = (sentence) => Object.fromEntries(COMMANDS.map((command) => [command, sentence]));
    if (!this.mine) return all(this.#notYours);
    if (!this.open) return all(SENT);
    if (!judged) return all('');
    const first = this.touched ? judged.faults[0]?.sentence ?? '' : '';
    return this.cards ? { ...all(''), ...this.#cardReasons(judged, first) } : { ...all(''), ...this.#tileReasons(judged, first) };
  }

  #tileReasons(judged, first) {
    const held = this.rack.length;
    const draw = this.#table.view.can_pass ? 'pass' : 'draw';
    const drawing = judged.can_draw ? '' : this.touched ? `Put the board back first (Reset), then ${draw}.` : `You cannot ${draw} now.`;
    const call = judged.can_rummikub && (this.#table.view.call_required || !judged.can_end);
    return {
      end_turn: call ? CALL : judged.can_end || judged.illegal_costs > 0 ? '' : first || `Lay at least one tile first, or ${draw}.`,
      draw: drawing,
      pass: drawing,
      rummikub: judged.can_rummikub ? '' : held > 0 ? `You still hold ${counted(held, this.words)}.` : first || 'Not yet.',
    };
  }

  #cardReasons(judged, first) {
    const chosen = this.selection.length === 1 && this.rack.includes(this.selection[0]);
    return {
      lay: judged.can_end ? '' : first || 'First put cards on the table, as new melds or to those that lie there.',
      discard: chosen ? '' : 'Select one card of your hand first, then press Discard. Or drag it to the discard pile.',
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
    for (const { id, text } of [...view.rack, ...view.discard, ...view.board.flatMap(({ tiles }) => tiles)]) this.#texts.set(id, text);
    const rack = view.rack.map(({ id }) => id);
    this.order.sync(key, rack, view.phase === 'play');
    const turn = `${key}|${view.turn_number}|${view.turn}`;
    const own = view.seat !== null && view.turn === view.seat && view.phase === 'play' && !view.result;
    // With cards the turn goes on after a draw, and so does the draft.
    const mine = own && (!view.waiting_for || (this.cards && view.waiting_for === 'draw'));
    const board = view.board.map(({ tiles, kind }) => ({ tiles: tiles.map(({ id }) => id), kind }));
    const stage = JSON.stringify([view.drawn, view.waiting_for, board.map(({ tiles }) => tiles)]);
    if (this.#draft && (turn !== this.#turn || !mine)) this.#close(new Set(rack));
    if (this.#draft && stage !== this.#stage) this.#setSent(null);
    if (this.#draft && !this.#draft.fits(board, rack)) {
      const wasLaid = this.cards;
      this.#drop();
      if (!wasLaid) this.#hooks.say('The board has changed. Your draft was put back.', true);
    }
    this.#turn = turn;
    this.#stage = stage;
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
  refused({ command, code, sentence }) {
    if (command === this.#sent) this.#setSent(null);
    if (code === COSTS && this.mine) {
      this.#hooks.askCosts(sentence, this.judged?.illegal_costs ?? 0);
      return;
    }
    // The turn may end while a draft is on its way: that draft is of no interest any more.
    if (command !== 'draft' || this.mine) this.#hooks.say(sentence);
  }

  #begin(board, rack) {
    this.#draft = new Draft(board, this.face);
    const kept = this.#table.draft;
    if (kept && this.#draft.takeUp(kept, rack)) this.#judged = { value: kept.judged, melds: this.#draft.plain() };
    else if (!this.#table.view.waiting_for) this.#sendDraft();
  }

  #catchUp() {
    const kept = this.#table.draft;
    const agrees = kept && layout(kept) === layout(this.#draft);
    if (agrees) this.#judged = { value: kept.judged, melds: this.#draft.plain() };
    else if (this.#resend && !this.#table.view.waiting_for) this.#sendDraft();
  }

  // The turn is over: say what became of tiles that lay there, unless the player ended it.
  #close(rack) {
    const { laid, touched } = this.#draft;
    const ended = this.#sent !== null;
    this.#drop();
    if (ended || !touched) return;
    const back = [...laid].filter((id) => rack.has(id));
    const { many, rack: held, board } = this.words;
    if (laid.size > 0 && back.length === 0) this.#hooks.say('Your turn is over. What you laid stands.', true);
    else if (back.length < laid.size) this.#hooks.say(`Your turn is over. ${many[0].toUpperCase()}${many.slice(1)} that were in no legal meld are back on your ${held}.`, true);
    else this.#hooks.say(`Your turn is over. The ${board} is as it was, and your ${many} are back on your ${held}.`, true);
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

  /** Lets the board lie as somebody proposes. */
  become(melds, exchanges) {
    const before = this.laid;
    const laid = melds.flatMap(({ tiles }) => tiles).filter((id) => this.rack.includes(id) && !before.has(id));
    this.#edit(() => this.#draft.become(melds, exchanges), laid);
  }

  sort(how) {
    this.order.sort(how, this.face);
    this.#hooks.changed();
  }

  /**
   * Does what a button of the turn says (`end_turn`, `draw`, `pass`, `rummikub`; with cards also `take_discard`, `lay`,
   * `discard`), or says why not. `more`: further fields of the command. False if it was not sent.
   */
  finish(command, more = {}) {
    const reason = this.reasons[command];
    if (reason) return this.#refuse(reason);
    const what = command === 'discard' && more.tile === undefined ? { tile: this.selection[0] } : more;
    if (!this.#hooks.send({ type: command, ...what })) return false;
    this.selection = [];
    this.#setSent(command);
    return true;
  }

  /** Exchanges a joker with notice for a tile of the rack: `id`, or the one that is selected. */
  exchange(joker, id = null) {
    const chosen = id === null ? this.selection : [id];
    if (chosen.length !== 1 || !this.rack.includes(chosen[0])) {
      return this.#refuse('Select one tile of your rack first, the one that takes the place of the joker. Then press Exchange.');
    }
    if (!this.#edit(() => this.#draft.exchange(joker, chosen[0]), chosen)) return false;
    this.#hooks.say('The joker is free. Put it where you use it in this turn.', true);
    this.select([joker]);
    return true;
  }

  /** Whether dropping `ids` on this tile may mean an exchange of jokers. */
  mayExchange(ids, onto) {
    return this.open && this.judged?.can_exchange === true && ids.length === 1 && this.rack.includes(ids[0])
      && !this.face(ids[0]).joker && this.#draft.exchangeable(onto);
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
      if (index >= 0 && !this.mine) this.#hooks.say(this.#notYours);
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
    else if (place.zone === 'new' && place.button) this.#hooks.say(`Select one or more ${this.words.many} first, then press here.`);
  }

  /**
   * Puts tiles, in this order, somewhere: `{zone: 'meld', index, at}`, `{zone: 'new'}`, `{zone: 'discard'}` or
   * `{zone: 'rack', before}` (without `before`: where they were). False if they may not go there; the player is told why.
   */
  put(ids, place) {
    if (place.zone === 'discard') return this.#throw(ids);
    return place.zone === 'rack' ? this.#putBack(ids, place.before) : this.#lay(ids, place);
  }

  #throw(ids) {
    if (ids.length !== 1 || !this.rack.includes(ids[0])) return this.#refuse('Discard one card of your hand, no more.');
    this.selection = ids;
    return this.finish('discard', { tile: ids[0] });
  }

  #lay(ids, place) {
    if (!this.mine) return this.#refuse(this.#notYours);
    return this.#edit(() => {
      this.order.touch(ids);
      return place.zone === 'meld' ? this.#draft.place(ids, place.index, place.at) : this.#draft.placeNew(ids);
    }, ids);
  }

  #putBack(ids, before) {
    const laid = this.laid;
    const held = new Set(this.rack);
    if (!ids.every((id) => laid.has(id) || held.has(id))) {
      return this.#refuse(`Only ${this.words.many} that you laid in this turn can go back to your ${this.words.rack}.`);
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
    if (!this.open) return this.#refuse(SENT);
    const changed = change();
    if (changed) this.#sendDraft();
    this.selection = [];
    this.#hooks.changed(placed);
    return changed;
  }

  #sendDraft() {
    this.#draftNo += 1;
    const { exchanges } = this.#draft;
    const more = exchanges.length > 0 ? { exchanges } : {};
    this.#hooks.send({ type: 'draft', draft_no: this.#draftNo, melds: this.#draft.plain(), ...more });
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
