/**
 * The screen of a running game: puts the parts together, turns presses into `Play`, and shows what `Play` says.
 */

import { Ask } from './ask.js';
import { Board } from './board.js';
import { Clock } from './clock.js';
import { Deal } from './deal.js';
import { dealQuestion } from './dealhelp.js';
import { arrange, calm, el, setBlocked, setText } from './dom.js';
import { Drag } from './drag.js';
import { Happenings } from './happenings.js';
import { Hints } from './hints.js';
import { listenToKeys } from './keys.js';
import { mark } from './lobby.js';
import { Menu } from './menu.js';
import { Piles } from './piles.js';
import { Play } from './play.js';
import { Players } from './players.js';
import { Rack } from './rack.js';
import { resultPanel } from './result.js';
import { RulesText } from './rulestext.js';
import { saveGame } from './savegame.js';
import { Talk } from './talk.js';
import { TileBox, describe, spoken } from './tiles.js';
import { WORDS, counted } from './words.js';

const MOVE_MS = 150;

const button = (testid, text, className, label) => el('button', { type: 'button', class: className, testid, 'aria-label': label }, text);
const SORTS = {
  tiles: {
    colour: ['789', 'runs', 'Sort the rack by colour, for runs'], number: ['777', 'groups', 'Sort the rack by number, for groups'],
  },
  cards: {
    colour: ['♠♥', 'by suit', 'Sort the hand by suit, for runs'], number: ['777', 'by rank', 'Sort the hand by rank, for groups'],
  },
};

export class TableScreen {
  #hooks;
  #sound;
  #table = null;
  #turnKey = '';
  #newOnBoard = new Set();
  #lastBoard = null;
  #rover = null;
  #dropped = new Set();
  #placed = []; // what was laid last, until the node has judged it
  #resultKey = '';
  #result = null;

  #tiles = new TileBox();
  #play;
  #board = new Board((index, kind) => this.#play.setKind(index, kind), (joker) => this.#play.exchange(joker));
  #piles = new Piles(() => this.#play.finish('draw'), () => this.#pressPile());
  #rack = new Rack();
  #clock = new Clock(() => this.#lastSeconds());
  #players = new Players();
  #happenings = new Happenings();
  #deal = new Deal(() => this.#showAwaited());
  #drag;

  #tableName = el('span', { class: 'table-title' });
  #words = el('span', { class: 'words', testid: 'words', title: 'The table words: the same four on every screen mean the same table.' });
  #turn = el('h1', { class: 'turn', testid: 'turn' });
  #sub = el('p', { class: 'sub', testid: 'waiting' });
  #opening = el('div', { class: 'opening', testid: 'opening', hidden: true });
  #openingText = el('span');
  #openingBar = el('span', { class: 'opening-bar' });
  #notice = el('p', { class: 'notice', testid: 'notice', role: 'status', hidden: true });
  #live = el('p', { class: 'unseen', testid: 'announce', 'aria-live': 'polite' });
  #hint = el('p', { class: 'hint' });
  #faults = el('ul', { class: 'faults', testid: 'faults', 'aria-label': 'What is not right yet', 'aria-live': 'polite' });
  #line = el('div', { class: 'gap-line', hidden: true });
  #scroller = el('div', { class: 'board-scroll' });
  #undo = button('undo', '↶', 'tool', 'Undo');
  #redo = button('redo', '↷', 'tool', 'Redo');
  #reset = button('reset', 'Reset', 'tool');
  #sorts = {
    colour: button('sort-colour', '', 'tool sort'),
    number: button('sort-number', '', 'tool sort'),
    own: button('sort-own', 'My order', 'tool sort'),
  };
  #draw = button('draw', 'Draw', 'action');
  #take = button('take-discard', '', 'action');
  #lay = button('lay', 'Lay down', 'action');
  #discard = button('discard', 'Discard', 'action');
  #rummikub = button('rummikub', 'Rummikub!', 'action');
  #end = button('end-turn', 'End turn', 'action');
  #dealHelp = button('deal-help-open', '', 'tool deal-help');
  #soundButton = button('sound', '', 'tool');
  #more = button('more', 'More', 'tool');
  #menu;
  #talk;
  #hints;
  #rules = new RulesText();
  #help = el('div');
  #helpKey = '';
  #seal = el('p', { class: 'seal quiet', testid: 'state-hash' });
  #side = el('aside', { class: 'side', id: 'side' });
  #asking = new Ask();
  #askedInTurn = false; // the question is about the own turn, and goes with it

  /** `hooks`: `send(command)`, `say(sentence, calm)`, `dealHelp(deck)`; `sound`: a `Sound`. */
  constructor(hooks, sound) {
    this.#hooks = hooks;
    this.#sound = sound;
    this.#play = new Play({
      ...hooks, storage: sessionStorage, changed: (placed) => this.#showChange(placed),
      askCosts: (reasons, tiles) => this.#askCosts(reasons, tiles),
    });
    this.#hints = new Hints({
      send: hooks.send, choose: (ids) => this.#play.select(ids), lay: (melds, exchanges) => this.#play.become(melds, exchanges),
    });
    this.#menu = new Menu({ ...hooks, leave: () => this.#pressLeave(), hints: this.#hints.on, toggleHints: () => this.#toggleHints() });
    this.#talk = new Talk(hooks.send);
    this.#opening.append(this.#openingText, el('span', { class: 'opening-track' }, this.#openingBar));
    this.#scroller.append(this.#board.node);
    this.#side.append(
      this.#players.node,
      el('div', { class: 'more-panel' },
        el('h2', {}, 'What happened'), this.#happenings.node, saveGame('save-game'), this.#rules.node, el('details', { class: 'rules' },
          el('summary', {}, 'Hands and keys'), this.#help), this.#seal),
    );
    this.node = el('div', { class: 'table', testid: 'table' },
      el('header', { class: 'top' },
        el('div', { class: 'brand' }, mark(), this.#tableName), this.#words,
        el('div', { class: 'top-tools' }, this.#dealHelp, this.#soundButton, this.#more, this.#menu.node)),
      el('main', { class: 'stage' },
        el('div', { class: 'turnbar' }, el('div', { class: 'turn-words' }, this.#turn, this.#sub), this.#opening, this.#clock.node, this.#deal.node),
        this.#notice, this.#talk.node, this.#piles.node, this.#scroller,
        el('div', { class: 'status' }, this.#hint, this.#faults), this.#hints.node,
        el('div', { class: 'controls' },
          el('div', { class: 'tools' }, this.#undo, this.#redo, this.#reset, ...Object.values(this.#sorts), this.#hints.button),
          el('div', { class: 'actions' }, this.#draw, this.#take, this.#lay, this.#discard, this.#rummikub, this.#end)),
        this.#rack.node),
      this.#side, this.#line, this.#live, this.#asking.node);
    this.#drag = new Drag(this.node, this.#scroller, this.#dragHooks());
    this.#listen();
    this.#showSound();
  }

  // Shown

  /** Shows the newest state. */
  show(table) {
    const { view } = table;
    const key = `${table.words}|${view.game}|${view.turn_number}|${view.turn}|${view.phase}`;
    const turned = key !== this.#turnKey;
    this.#table = table;
    this.#turnKey = key;
    if (turned) this.#seeBoard(view);
    if (turned) this.#hints.clear();
    this.#play.update(table);
    if (turned && this.#drag.ids?.some((id) => !this.#play.rack.includes(id))) this.#drag.cancel();
    this.#showTop(table);
    this.#players.show(table);
    this.#talk.show(table);
    this.#menu.show(table);
    this.#happenings.show(table.log);
    this.#clock.set(view.result ? null : table.clock.remaining_s, table.clock.running, view.turn_seconds);
    this.#showResult(table);
    this.#showPlay();
    if (this.#askedInTurn && !this.#play.open) this.#asking.close();
    if (turned) this.#announce(view);
  }

  /** The connection is back; the next state follows. */
  reconnected() {
    this.#play.reconnected();
  }

  answer(message) {
    this.#play.answer(message);
    // The reasons may take room from the board: what was just laid stays in sight.
    this.#showPlay(this.#placed);
    this.#placed = [];
  }

  hint(message) {
    this.#hints.take(message);
  }

  #toggleHints() {
    this.#hints.toggle();
    this.#showPlay();
    return this.#hints.on;
  }

  refused(message) {
    this.#play.refused(message);
  }

  // Marks what the others laid since the own last turn.
  #seeBoard(view) {
    const ids = new Set(view.board.flatMap(({ tiles }) => tiles.map(({ id }) => id)));
    const before = this.#lastBoard;
    if (!before || before.game !== view.game || before.turn === view.seat) this.#newOnBoard = new Set();
    else for (const id of ids) if (!before.ids.has(id)) this.#newOnBoard.add(id);
    this.#lastBoard = { game: view.game, turn: view.turn, ids };
  }

  #showTop(table) {
    const { view } = table;
    setText(this.#tableName, table.table_name);
    setText(this.#words, table.words);
    setText(this.#notice, table.notice ?? '');
    this.#notice.hidden = !table.notice;
    setText(this.#turn, turnWords(this.#table));
    this.#deal.show(table);
    this.#showWaiting();
    this.node.classList.toggle('dealing', !this.#deal.node.hidden);
    setText(this.#seal, `Entry ${table.height} · state ${table.state_hash.slice(0, 16)}`);
    this.#seal.title = table.state_hash;
    this.#rules.show(table.rules_text);
    if (table.deck !== this.#helpKey) {
      this.#helpKey = table.deck;
      this.#help.replaceChildren(...help(table.deck));
      this.#dealHelp.replaceChildren(el('span', { class: 'short' }, '?'), el('span', { class: 'word' }, dealQuestion(table.deck)));
      this.#dealHelp.setAttribute('aria-label', dealQuestion(table.deck));
      for (const [how, [digits, word, label]] of Object.entries(SORTS[table.deck])) {
        this.#sorts[how].replaceChildren(digits, el('span', { class: 'word' }, ` ${word}`));
        this.#sorts[how].title = label;
        this.#sorts[how].setAttribute('aria-label', label);
      }
    }
    document.title = `${view.result ? 'Game over' : this.#isMine(view) ? '▶ Your turn' : turnWords(this.#table)} · Rummesh`;
  }

  #showWaiting() {
    setText(this.#sub, this.#deal.words);
  }

  #showAwaited() {
    this.#showWaiting();
    setText(this.#live, this.#sub.textContent);
  }

  #isMine(view) {
    return !view.result && view.phase === 'play' && view.seat !== null && view.turn === view.seat;
  }

  #announce(view) {
    setText(this.#live, `${turnWords(this.#table)}.`);
    if (this.#isMine(view) && this.#play.mine) this.#sound.turn();
  }

  #lastSeconds() {
    if (!this.#table || !this.#isMine(this.#table.view) || !this.#table.clock.running) return;
    setText(this.#live, 'Ten seconds left.');
    this.#sound.last();
  }

  #showResult(table) {
    const { view, series } = table;
    const key = view.result ? JSON.stringify([view.result, view.players, series]) : '';
    this.node.classList.toggle('over', view.result !== null);
    if (key === this.#resultKey) return;
    const news = view.result !== null && this.#result === null;
    this.#resultKey = key;
    const focused = this.#result?.contains(document.activeElement) ? document.activeElement.dataset.testid : null;
    const hooks = { next: () => this.#nextGame(), lobby: () => this.#goToLobby() };
    const shown = view.result ? resultPanel(table, hooks) : null;
    if (shown && this.#result) this.#result.replaceWith(shown);
    else if (shown) this.#scroller.prepend(shown);
    else this.#result?.remove();
    this.#result = shown;
    if (focused) shown?.querySelector(`[data-testid="${focused}"]`)?.focus();
    if (news) this.#scroller.scrollTop = 0;
  }

  #nextGame() {
    const { series, view } = this.#table;
    if (series.can_wish) this.#hooks.send({ type: 'next_game' });
    else if (series.wishes[view.seat]) this.#hooks.say('The others know that you are ready for the next game.', true);
    else this.#hooks.say('You cannot ask for the next game.');
  }

  #goToLobby() {
    if (this.#table.series.over) this.#hooks.send({ type: 'new_lobby' });
    else this.#askLeave('new_lobby');
  }

  #showChange(placed = []) {
    this.#placed = placed;
    this.#showPlay(placed);
  }

  #showPlay(placed = []) {
    if (!this.#table) return;
    const play = this.#play;
    this.node.classList.toggle('mine', play.mine);
    this.node.classList.toggle('watching', this.#table.view.seat === null);
    // A tile in the hand must not be pulled away: while it is dragged the tiles stay as they are.
    if (!this.#drag?.ids || !play.open) this.#showTiles();
    this.#showPiles();
    this.#showOpening();
    this.#showStatus();
    this.#showButtons();
    if (placed.length > 0) this.#tiles.get(placed[0], play.text(placed[0])).closest('.meld')?.scrollIntoView({ block: 'nearest' });
  }

  #showTiles() {
    const play = this.#play;
    const { view } = this.#table;
    const focused = document.activeElement;
    const before = calm() ? null : this.#positions();
    const laid = play.laid;
    const melds = play.melds.map((meld) => ({
      ...meld,
      tiles: meld.ids.map((id, i) => this.#tile(id, meld.standsFor[i] ?? [], {
        laid: laid.has(id), faulty: meld.faulty, new: !play.touched && this.#newOnBoard.has(id),
      })),
    }));
    const empty = view.phase === 'play' && !view.result ? `The ${play.words.board} is empty.` : '';
    this.#board.show(melds, play.open && !view.result, empty);
    this.#rack.show(play.rack.map((id) => this.#tile(id, [], { new: play.order.isFresh(id) })), play.words);
    this.#tiles.keep(new Set([...melds.flatMap(({ ids }) => ids), ...play.rack]));
    this.#rove(focused?.isConnected ? focused.closest('.tile, .new-meld') : null);
    if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
    if (before) this.#glide(before);
    this.#dropped.clear();
  }

  #tile(id, standsFor, is) {
    const text = this.#play.text(id);
    const node = this.#tiles.get(id, text);
    const place = this.#play.selection.indexOf(id);
    node.classList.toggle('laid', is.laid === true);
    node.classList.toggle('faulty', is.faulty === true);
    node.classList.toggle('new', is.new === true);
    node.classList.toggle('selected', place >= 0);
    node.setAttribute('aria-pressed', String(place >= 0));
    setText(node.querySelector('.badge'), place >= 0 && this.#play.selection.length > 1 ? String(place + 1) : '');
    describe(node, text, standsFor, [is.laid ? 'laid this turn' : '', is.new ? 'new' : ''].filter(Boolean));
    return node;
  }

  #positions() {
    return new Map(this.#tiles.entries().filter(([, node]) => node.isConnected).map(([id, node]) => [id, node.getBoundingClientRect()]));
  }

  #glide(before) {
    for (const [id, node] of this.#tiles.entries()) {
      const from = before.get(id);
      if (!from || this.#dropped.has(id) || !node.isConnected) continue;
      const to = node.getBoundingClientRect();
      const [x, y] = [from.left - to.left, from.top - to.top];
      if (Math.abs(x) + Math.abs(y) < 2) continue;
      node.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: 'none' }], { duration: MOVE_MS, easing: 'ease-out' });
    }
  }

  #showPiles() {
    const play = this.#play;
    const { view } = this.#table;
    const judged = play.open ? play.judged : null;
    this.#piles.node.hidden = !play.cards || view.result !== null || view.phase === 'start' || view.phase === 'deal';
    this.#piles.show({
      left: view.pool, discard: view.discard, mayDraw: judged?.can_draw ?? false, mayTake: judged?.can_take_discard ?? false,
      mayDiscard: play.selection.length === 1 && (judged?.can_discard.includes(play.selection[0]) ?? false),
    });
  }

  #showOpening() {
    const judged = this.#play.judged;
    const needed = judged?.opening_needed ?? 0;
    this.#opening.hidden = needed === 0;
    if (needed === 0) return;
    setText(this.#openingText, `Opening: ${judged.opening_points} of ${needed}`);
    this.#opening.classList.toggle('reached', judged.opening_points >= needed);
    this.#openingBar.style.transform = `scaleX(${Math.min(1, judged.opening_points / needed)})`;
  }

  #showStatus() {
    const play = this.#play;
    const { view } = this.#table;
    const faults = play.open && play.touched ? play.judged?.faults ?? [] : [];
    arrange(this.#faults, faults.map((fault, i) => {
      const item = this.#faults.children[i] ?? el('li');
      item.dataset.code = fault.code;
      setText(item, fault.sentence);
      return item;
    }));
    this.#faults.hidden = faults.length === 0;
    this.#hint.hidden = faults.length > 0;
    const judged = play.judged;
    const draw = view.can_pass ? 'pass' : 'draw a tile';
    let hint = '';
    if (view.paused) hint = `You can arrange your ${play.words.rack} during the pause.`;
    else if (play.sent) hint = 'Sent. Waiting for the others to agree.';
    else if (play.mine && !play.open) hint = 'Your card is being drawn.';
    else if (play.mine && play.cards) hint = judged?.phase_hint ?? '';
    else if (play.mine && !play.touched) hint = `Drag tiles to the board, or select them and press where they belong. Nothing to lay? Then ${draw}.`;
    else if (play.mine && judged?.can_rummikub) hint = 'Your rack is empty: press Rummikub!';
    else if (play.mine && judged?.can_end) hint = 'This is a legal play.';
    else if (!play.mine && view.phase === 'play' && view.seat !== null && !view.result) hint = `You can arrange your ${play.words.rack} while the others play.`;
    setText(this.#hint, hint);
    this.#hint.classList.toggle('good', play.mine && play.touched && (play.judged?.can_end || play.judged?.can_rummikub || false));
  }

  #showButtons() {
    const play = this.#play;
    this.#hints.show(play.open);
    const { view } = this.#table;
    const reasons = play.reasons;
    const judged = play.open ? play.judged : null;
    if (play.cards) this.#showCardButtons(reasons, judged);
    else this.#showTileButtons(reasons, judged);
    setBlocked(this.#undo, play.canUndo ? '' : 'There is nothing to undo.');
    setBlocked(this.#redo, play.canRedo ? '' : 'There is nothing to redo.');
    setBlocked(this.#reset, play.open && play.touched ? '' : 'Nothing was moved in this turn.');
    setBlocked(this.#sorts.own, play.order.sorted ? '' : 'This is your own order.');
  }

  #showTileButtons(reasons, judged) {
    const { view } = this.#table;
    for (const node of [this.#take, this.#lay, this.#discard]) node.hidden = true;
    for (const node of [this.#draw, this.#rummikub, this.#end]) node.hidden = false;
    setText(this.#draw, view.can_pass ? 'Pass' : 'Draw');
    setBlocked(this.#draw, reasons.draw);
    setBlocked(this.#end, reasons.end_turn);
    setBlocked(this.#rummikub, reasons.rummikub);
    this.#end.classList.toggle('primary', (judged?.can_end ?? false) && !reasons.end_turn);
    this.#rummikub.classList.toggle('primary', judged?.can_rummikub ?? false);
    this.#draw.classList.toggle('primary', (judged?.can_draw ?? false) && !this.#play.touched);
  }

  // First a card is taken, then laid and discarded: only the buttons of the moment are there.
  #showCardButtons(reasons, judged) {
    const play = this.#play;
    const { view } = this.#table;
    const drawn = play.mine && view.drawn;
    const top = view.discard.at(-1);
    const mustEnd = drawn && (judged?.can_pass ?? false);
    this.#rummikub.hidden = true;
    this.#draw.hidden = drawn;
    this.#take.hidden = drawn || !top;
    this.#lay.hidden = !drawn;
    this.#discard.hidden = !drawn || mustEnd;
    this.#end.hidden = !mustEnd;
    setText(this.#draw, 'Draw from stock');
    setText(this.#take, top ? `Take ${spoken(top.text)}` : '');
    setBlocked(this.#draw, reasons.draw);
    setBlocked(this.#take, reasons.take_discard);
    setBlocked(this.#lay, reasons.lay);
    setBlocked(this.#discard, reasons.discard);
    setBlocked(this.#end, reasons.pass);
    this.#draw.classList.toggle('primary', judged?.can_draw ?? false);
    this.#take.classList.toggle('primary', judged?.can_take_discard ?? false);
    this.#lay.classList.toggle('primary', judged?.can_end ?? false);
    this.#end.classList.toggle('primary', mustEnd);
    this.#discard.classList.toggle('primary', !play.touched && (judged?.can_discard.includes(play.selection[0]) ?? false));
  }

  #showSound() {
    setText(this.#soundButton, this.#sound.on ? 'Sound on' : 'Sound off');
    this.#soundButton.setAttribute('aria-pressed', String(this.#sound.on));
  }

  // On phones the log, the rules and the help are a sheet over the lower part of the page.
  #showMore(open) {
    this.node.classList.toggle('more-open', open);
    this.#more.setAttribute('aria-expanded', String(open));
    setText(this.#more, open ? 'Close' : 'More');
  }

  // Pressed

  #listen() {
    const play = this.#play;
    const press = (node, action) => node.addEventListener('click', () => {
      if (node.hasAttribute('aria-disabled') && node.classList.contains('tool')) return;
      action();
    });
    press(this.#undo, () => play.undo());
    press(this.#redo, () => play.redo());
    press(this.#reset, () => play.reset());
    for (const [how, node] of Object.entries(this.#sorts)) press(node, () => play.sort(how));
    press(this.#end, () => play.finish(play.cards ? 'pass' : 'end_turn'));
    press(this.#rummikub, () => play.finish('rummikub'));
    press(this.#draw, () => play.finish(this.#table.view.can_pass ? 'pass' : 'draw'));
    press(this.#take, () => play.finish('take_discard'));
    press(this.#lay, () => play.finish('lay'));
    press(this.#discard, () => play.finish('discard'));
    press(this.#dealHelp, () => this.#hooks.dealHelp(this.#table.deck));
    press(this.#soundButton, () => {
      this.#sound.toggle();
      this.#showSound();
    });
    press(this.#more, () => this.#showMore(!this.node.classList.contains('more-open')));
    this.#showMore(false);
    this.#more.setAttribute('aria-controls', 'side');
    this.#scroller.addEventListener('click', (event) => this.#pressBoard(event));
    this.#rack.node.addEventListener('click', (event) => this.#pressRack(event));
    listenToKeys(this.node, {
      stops: () => [...this.#board.stops, ...this.#rack.stops],
      first: () => this.#rack.stops[0] ?? this.#board.stops[0] ?? null,
      rove: (element) => this.#rove(element),
      undo: () => play.undo(),
      redo: () => play.redo(),
      newMeld: () => play.tapPlace({ zone: 'new', button: true }),
      clear: () => {
        this.#drag.cancel();
        this.#showMore(false);
        play.select([]);
      },
      back: (element) => this.#back(element),
      shift: (element, step) => this.#shift(element, step),
    });
  }

  #pressLeave() {
    if (this.#table.series.over || this.#table.view.seat === null) this.#hooks.send({ type: 'leave' });
    else this.#askLeave('leave');
  }

  #pressPile() {
    if (this.#table.view.drawn && this.#play.mine) this.#play.finish('discard');
    else this.#play.finish('take_discard');
  }

  #pressBoard(event) {
    if (event.target.closest('.kinds, .result')) return;
    const tile = event.target.closest('.tile');
    const node = event.target.closest('.meld');
    const index = node ? Number(node.dataset.meld) : -1;
    if (tile && together(event)) {
      this.#play.toggle(Number(tile.dataset.id));
    } else if (tile) {
      const position = [...node.querySelectorAll('.tile')].indexOf(tile);
      const box = tile.getBoundingClientRect();
      const keyboard = event.detail === 0;
      const at = keyboard || event.clientX > box.left + box.width / 2 ? position + 1 : position;
      this.#play.tap(Number(tile.dataset.id), { index, at, now: event.timeStamp });
    } else if (node) {
      this.#play.tapPlace({ zone: 'meld', index });
    } else {
      this.#play.tapPlace({ zone: 'new', button: event.target.closest('.new-meld') !== null });
    }
  }

  #pressRack(event) {
    const tile = event.target.closest('.tile');
    if (tile && together(event)) this.#play.toggle(Number(tile.dataset.id));
    else if (tile) this.#play.tap(Number(tile.dataset.id), { index: -1, at: 0, now: event.timeStamp });
    else this.#play.tapPlace({ zone: 'rack', before: null });
  }

  #back(element) {
    const { selection } = this.#play;
    const laid = this.#play.laid;
    const ids = selection.length > 0 ? selection : element?.dataset.id ? [Number(element.dataset.id)] : [];
    const back = ids.filter((id) => laid.has(id));
    if (back.length > 0) this.#play.put(back, { zone: 'rack' });
  }

  #shift(element, step) {
    const rack = this.#play.rack;
    const from = rack.indexOf(Number(element.dataset.id));
    const to = from + step;
    if (from < 0 || step === 0 || to < 0 || to >= rack.length) return;
    this.#play.put([rack[from]], { zone: 'rack', before: step < 0 ? rack[to] : rack[to + 1] ?? null });
    element.focus();
  }

  // One tile is in the tab order; the arrow keys reach the others.
  #rove(element) {
    if (element) this.#rover = element;
    const stops = [...this.#rack.stops, ...this.#board.stops];
    if (!stops.includes(this.#rover)) this.#rover = stops[0] ?? null;
    for (const stop of stops) stop.tabIndex = stop === this.#rover ? 0 : -1;
  }

  // Dragged

  #dragHooks() {
    return {
      pick: (element) => this.#pick(element),
      nodes: (ids) => ids.map((id) => this.#tiles.get(id, this.#play.text(id))),
      lift: (ids) => {
        this.node.classList.add('dragging');
        for (const id of ids) this.#tiles.get(id, this.#play.text(id)).classList.add('lifted');
        this.#play.order.touch(ids);
      },
      over: (ids, x, y) => this.#showPlace(this.#placeAt(ids, x, y)),
      drop: (ids, x, y) => {
        const place = this.#placeAt(ids, x, y);
        this.#dropped = new Set(ids);
        if (place?.zone === 'joker') this.#askExchange(ids, place);
        else if (place && this.#play.put(ids, place)) return;
        this.#showPlay();
      },
      end: () => {
        this.node.classList.remove('dragging');
        for (const [, node] of this.#tiles.entries()) node.classList.remove('lifted');
        this.#showPlace(null);
        this.#showPlay();
      },
      hold: (element) => {
        if (element.dataset.id) this.#play.toggle(Number(element.dataset.id));
      },
    };
  }

  #pick(element) {
    const play = this.#play;
    if (element.dataset.grip !== undefined) {
      const index = Number(element.closest('.meld').dataset.meld);
      return play.open ? [...play.melds[index].ids] : null;
    }
    if (!element.dataset.id) return null;
    const id = Number(element.dataset.id);
    const onRack = play.rack.includes(id);
    if (!onRack && !play.open) return null;
    if (!play.selection.includes(id)) return [id];
    // Several tiles fall as they lie on the screen, whatever the order of the presses was.
    const seen = [...play.melds.flatMap(({ ids }) => ids), ...play.rack];
    return seen.filter((other) => play.selection.includes(other));
  }

  #placeAt(ids, x, y) {
    const other = this.#rack.hit(x, y) ?? this.#piles.hit(x, y);
    if (other) return other;
    const box = this.#scroller.getBoundingClientRect();
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return null;
    const place = this.#board.hit(x, y) ?? { zone: 'new', node: this.#board.newMeld };
    const joker = place.zone === 'meld' ? onMiddle([...place.node.querySelectorAll('.tile')], x, y) : null;
    if (!joker || !this.#play.mayExchange(ids, Number(joker.dataset.id))) return place;
    return { zone: 'joker', joker: Number(joker.dataset.id), beside: { zone: 'meld', index: place.index, at: place.at }, node: joker };
  }

  #showPlace(place) {
    for (const node of this.node.querySelectorAll('.target')) if (node !== place?.node) node.classList.remove('target');
    place?.node?.classList.add('target');
    const line = place?.mark ?? null;
    this.#line.hidden = line === null;
    if (line) {
      this.#line.style.transform = `translate(${line.x}px, ${line.y}px)`;
      this.#line.style.height = `${line.height}px`;
    }
  }

  // Asked

  #askLeave(command) {
    this.#askedInTurn = false;
    const running = this.#table.view.result === null;
    const text = running ? 'The others go on without you, and this game counts as lost for you.'
      : 'The series is not over. Without you the others cannot play the next game.';
    this.#asking.ask(running ? 'Leave the game?' : 'Leave the series?', [text], [
      { testid: 'stay', label: 'Stay' },
      { testid: 'leave-now', label: running ? 'Leave the game' : 'Leave the series', primary: true, then: () => this.#hooks.send({ type: command }) },
    ]);
  }

  #askCosts(reasons, tiles) {
    this.#askedInTurn = true;
    const cost = `End the turn anyway? It costs ${counted(tiles, this.#play.words)}.`;
    this.#asking.ask('This is not legal.', [reasons, cost], [
      { testid: 'go-on', label: 'Go on playing', primary: true },
      { testid: 'end-anyway', label: 'End the turn anyway', then: () => this.#play.finish('end_turn', { anyway: true }) },
    ]);
  }

  #askExchange([id], { joker, beside }) {
    this.#askedInTurn = true;
    const tile = spoken(this.#play.text(id));
    this.#asking.ask('Exchange the joker?', [`Announce it to all: ${tile} takes the place of the joker, and you use the joker in this turn.`], [
      { testid: 'exchange-now', label: 'Exchange', primary: true, then: () => this.#play.exchange(joker, id) },
      { testid: 'put-beside', label: `Only put ${tile} there`, then: () => this.#play.put([id], beside) },
    ]);
  }
}

/** The element of `tiles` of which a point lies in the middle part, or null. */
function onMiddle(tiles, x, y) {
  return tiles.find((tile) => {
    const { left, top, width, height } = tile.getBoundingClientRect();
    return Math.abs(x - left - width / 2) < width * 0.3 && Math.abs(y - top - height / 2) < height / 2;
  }) ?? null;
}

/** Whether a press is meant to select one more tile. */
function together(event) {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}

function turnWords({ view, deck }) {
  if (view.result) return 'Game over';
  if (view.phase === 'start') return 'Shuffling';
  if (view.phase === 'deal') return 'Dealing';
  if (view.phase === 'final') return deck === 'cards' ? 'The last card is gone' : 'The last tile is laid';
  if (view.paused) return 'Paused';
  if (view.turn === view.seat) return 'Your turn';
  return `${view.players[view.turn]?.name ?? 'Somebody'}’s turn`;
}

function help(deck) {
  const { one, many, rack, board } = WORDS[deck];
  const turn = deck === 'cards'
    ? 'First take a card: press a button or a pile. Then lay cards and press Lay down. At the end select one card and press Discard, or drag it to the discard pile.'
    : 'To exchange a joker where the rules allow it, select one tile of your rack and press Exchange above the joker, or drag the tile onto it.';
  return [
    turn,
    `Drag ${many} with mouse or finger. Drag the strip above a meld to move the whole meld.`,
    `Or press ${many} one after the other, then the place where they belong. Several ${many} of the ${board}: hold each a moment, or press it with Shift.`,
    `Press a ${one} twice to send it back to your ${rack}; on a ${one} that was there before, this selects its meld.`,
    `Keys: arrows go from ${one} to ${one}, Enter selects and lays, N new meld, U undo, R redo, Backspace back to the ${rack}, Shift with arrows moves a ${one} in the ${rack}, Escape lets go.`,
  ].map((sentence) => el('p', {}, sentence));
}
