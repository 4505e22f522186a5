/**
 * The player's page. Begins here: one connection to the own node, and of two screens the one that the node names.
 *
 * Reading order: socket, words, tiles, melds, draft, rackorder, play (the player's own play, no elements), then what is
 * seen: board, piles, rack, drag, places, keys, clock, deal, talk, menu, players, happenings, rulestext, savegame, result, table;
 * houserules, lobby; dealhelp, ask, toast, sound, dom.
 *
 * The page decides nothing about the rules. What may be done comes with every judged draft: reasons (`faults`), `can_*`,
 * with cards also `phase_hint`, `can_take_discard` and `can_discard`. A card game (`deck` is `cards`) has turns of several
 * moves: `draw` or `take_discard`, `lay` as often as one likes, `discard`. Where ending the turn illegally costs tiles,
 * the node refuses `end_turn` with code ILLEGAL-COSTS; the page asks, and says `anyway`.
 *
 * For tests, `data-testid` on:
 *   everywhere   message (refusals and calm notices), contact (no connection), deal-help-open, deal-help, close-deal-help
 *   lobby        lobby, name, rename, notice, address, tables, join-<table id>, table-name, rule-set, turn-seconds,
 *                house-rules, option-<field>, error-<field>, open-table, by-address, peer-address, add-peer
 *   at a table   at-table, members, member-<id>, why-not, ready, start, add-bot, leave, rules
 *   the game     table, words, turn, waiting, deal, save-game, clock, opening, notice, announce, board, meld-<n>, kind-<n>-group,
 *                kind-<n>-run, exchange-<tile id>, new-meld, tile-<id>, rack, faults, undo, redo, reset, sort-colour,
 *                sort-number, sort-own, draw (also passes), rummikub, end-turn, sound, more, player-<seat>, pool, log, state-hash, rules
 *   the menu     menu, menu-panel, pause, extend, take-back, leave
 *   above the    talk: away-<seat>, choice, go-on-without, keep-waiting, close-game; paused, resume, long-pause;
 *   board        asked-<command>, agree-<command>; evidence-<n>, void, out, leaving
 *   with cards   piles, stock, discard-pile, take-discard, lay, discard; end-turn (the turn can end only so)
 *   questions    ask; stay, leave-now; go-on, end-anyway; exchange-now, put-beside
 *   the end      result, result-<seat>, standings, standing-<seat>, next-game, awaited, new-lobby, save-result
 * A button that does nothing just now has `aria-disabled`, its `title` says why, and pressing it says it in `message`.
 */

import { DealHelp } from './dealhelp.js';
import { arrange, el } from './dom.js';
import { Lobby } from './lobby.js';
import { Connection } from './socket.js';
import { Sound } from './sound.js';
import { TableScreen } from './table.js';
import { Toast } from './toast.js';

const LOST = {
  away: 'No contact with your own program. Trying again…',
  'locked-out': 'Your program was started anew. Open the link that it shows now.',
};

const root = document.getElementById('app');
const toast = new Toast();
const contact = el('p', { class: 'contact', testid: 'contact', role: 'status', hidden: true });
const send = (message) => {
  const sent = connection.send(message);
  if (!sent) toast.say(LOST.away);
  return sent;
};
const say = (sentence, calm) => toast.say(sentence, calm);
const help = new DealHelp();
const dealHelp = (deck) => help.open(deck);
const lobby = new Lobby(send, say, dealHelp);
const table = new TableScreen({ send, say, dealHelp }, new Sound());

const receive = {
  state(state) {
    const atTable = state.screen === 'table' && state.table !== null;
    arrange(root, [contact, atTable ? table.node : lobby.node, toast.node, help.node]);
    if (atTable) {
      table.show(state.table);
    } else {
      document.title = 'Rummesh';
      if (state.lobby) lobby.show(state);
    }
  },
  judged: (message) => table.answer(message),
  hint: (message) => table.hint(message),
  refused(message) {
    if (table.node.isConnected) table.refused(message);
    else lobby.refused(message);
  },
};

const connection = new Connection({
  message: (message) => receive[message.type]?.(message),
  open() {
    contact.hidden = true;
    table.reconnected();
  },
  lost(reason) {
    contact.textContent = LOST[reason];
    contact.hidden = false;
    if (!contact.isConnected) root.prepend(contact);
  },
});
