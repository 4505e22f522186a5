/**
 * The lobby: own name, the tables on the network, opening one, and getting ready at one.
 */

import { dealQuestion } from './dealhelp.js';
import { arrange, el, setBlocked, setText } from './dom.js';
import { HouseRules, readNumber } from './houserules.js';
import { RulesText } from './rulestext.js';
import { stillTile } from './tiles.js';

const MAX_NAME = 40;

export class Lobby {
  #send;
  #say;
  #me = el('input', { class: 'field', testid: 'name', id: 'own-name', maxlength: MAX_NAME, autocomplete: 'off', spellcheck: 'false' });
  #myName = '';
  #tables = el('ul', { class: 'table-list', testid: 'tables' });
  #noTables = el('p', { class: 'quiet' }, 'No table yet. Open one, or wait: tables in this network appear by themselves.');
  #rows = new Map();
  #tableName = el('input', { class: 'field', testid: 'table-name', id: 'table-name', maxlength: MAX_NAME, autocomplete: 'off' });
  #rules = el('select', { class: 'field', testid: 'rule-set', id: 'rule-set' });
  #seconds = el('input', {
    class: 'field short', testid: 'turn-seconds', id: 'turn-seconds', type: 'number', min: 0, max: 3600, step: 5, inputmode: 'numeric',
  });
  #secondsError = el('p', { class: 'field-error', testid: 'error-turn_seconds', hidden: true });
  #house = new HouseRules();
  #ruleSets = [];
  #peer = el('input', { class: 'field', testid: 'peer-address', id: 'peer-address', placeholder: '192.168.1.20:7654', autocomplete: 'off', spellcheck: 'false' });
  #address = el('code', { class: 'address', testid: 'address' });
  #notice = el('p', { class: 'notice', testid: 'notice', role: 'status' });
  #seat = new Seating();
  #browse;

  /** `send(command)`; `say(sentence)` tells the player something; `dealHelp(deck)` tells how the tiles are dealt. */
  constructor(send, say, dealHelp) {
    this.#send = send;
    this.#say = say;
    this.#browse = el('div', { class: 'lobby-grid' }, this.#openCard(), this.#tablesCard());
    this.node = el(
      'main', { class: 'lobby', testid: 'lobby' },
      el('header', { class: 'lobby-head' }, el('div', { class: 'lobby-inner' },
        el('div', { class: 'brand' },
          el('div', { class: 'fan', 'aria-hidden': 'true' }, ...['R7', 'B7', 'K7'].map(stillTile)),
          el('div', {}, el('h1', {}, 'Rummesh'), el('p', { class: 'tagline' }, 'No server, no dealer, no peeking.'))),
        el('form', { class: 'me', on: { submit: (event) => this.#rename(event) } },
          el('label', { for: 'own-name' }, 'Your name'), this.#me,
          el('button', { type: 'submit', class: 'plain', testid: 'rename' }, 'Change')))),
      this.#notice, this.#browse, this.#seat.node,
      el('button', { type: 'button', class: 'plain deal-help', testid: 'deal-help-open', on: { click: () => dealHelp('tiles') } }, dealQuestion('tiles')),
      el('p', { class: 'foot quiet' }, 'This machine answers at ', this.#address, '.'),
    );
    this.#seat.listen(send, say);
    this.#me.addEventListener('blur', () => this.#me.form.requestSubmit());
    this.#rules.addEventListener('change', () => this.#showOptions());
  }

  show(state) {
    const { lobby, me } = state;
    if (document.activeElement !== this.#me || this.#myName === '') this.#me.value = me.name;
    this.#myName = me.name;
    if (!this.#tableName.dataset.touched && document.activeElement !== this.#tableName) this.#tableName.value = `${me.name}’s table`.slice(0, MAX_NAME);
    this.#showRuleSets(lobby.rule_sets);
    this.#showTables(lobby.tables);
    setText(this.#address, lobby.address);
    setText(this.#notice, lobby.notice ?? '');
    this.#notice.hidden = !lobby.notice;
    this.#browse.hidden = lobby.at !== null;
    this.#seat.show(lobby.at, this.#title(lobby.at?.rules));
  }

  /** The node refused a command. */
  refused({ command, sentence, fields = {} }) {
    if (command === 'open_table') this.#mark(fields);
    this.#say(sentence);
  }

  #mark(fields) {
    setText(this.#secondsError, fields.turn_seconds ?? '');
    this.#secondsError.hidden = !fields.turn_seconds;
    this.#house.mark(fields);
  }

  #openCard() {
    this.#tableName.addEventListener('input', () => { this.#tableName.dataset.touched = 'yes'; });
    return el('form', { class: 'panel', novalidate: true, on: { submit: (event) => this.#open(event) } },
      el('h2', {}, 'Open a table'),
      el('label', { for: 'table-name' }, 'Name of the table'), this.#tableName,
      el('label', { for: 'rule-set' }, 'Rules'), this.#rules,
      el('label', { for: 'turn-seconds' }, 'Seconds per turn (0 = no limit)'), this.#seconds, this.#secondsError,
      this.#house.node,
      el('button', { type: 'submit', class: 'primary', testid: 'open-table' }, 'Open the table'));
  }

  #tablesCard() {
    return el('section', { class: 'panel' },
      el('h2', {}, 'Tables in this network'), this.#noTables, this.#tables,
      el('details', { class: 'more-ways' },
        el('summary', { testid: 'by-address' }, 'A friend’s table does not appear?'),
        el('form', { class: 'inline', on: { submit: (event) => this.#addPeer(event) } },
          el('label', { for: 'peer-address' }, 'Address of a friend’s machine'), this.#peer,
          el('button', { type: 'submit', class: 'plain', testid: 'add-peer' }, 'Connect'))));
  }

  #rename(event) {
    event.preventDefault();
    const name = this.#me.value.trim();
    if (!name) this.#me.value = this.#myName;
    else if (name !== this.#myName && this.#send({ type: 'rename', name })) this.#myName = name;
  }

  #open(event) {
    event.preventDefault();
    const name = this.#tableName.value.trim();
    if (!name) {
      this.#say('Give the table a name first.');
      return;
    }
    const seconds = readNumber(this.#seconds.value);
    if (typeof seconds === 'string') {
      this.#say('Write the seconds of a turn as a whole number.');
      return;
    }
    this.#mark({});
    this.#send({ type: 'open_table', name, rules: this.#rules.value, turn_seconds: seconds, options: this.#house.values });
  }

  #addPeer(event) {
    event.preventDefault();
    const address = this.#peer.value.trim();
    if (!address) this.#say('Type the address that the other machine shows at the foot of its page.');
    else if (this.#send({ type: 'add_peer', address })) this.#peer.value = '';
  }

  #title(rules) {
    return this.#ruleSets.find(({ name }) => name === rules)?.title ?? rules ?? '';
  }

  #showRuleSets(sets) {
    if (JSON.stringify(sets) === JSON.stringify(this.#ruleSets)) return;
    const chosen = this.#rules.value;
    this.#ruleSets = sets;
    this.#rules.replaceChildren(...sets.map(({ name, title }) => el('option', { value: name }, title)));
    if (sets.some(({ name }) => name === chosen)) this.#rules.value = chosen;
    else this.#showOptions();
  }

  // Another rule set has other options; what was changed in the form before does not go along.
  #showOptions() {
    const chosen = this.#ruleSets.find(({ name }) => name === this.#rules.value);
    this.#seconds.value = String(chosen?.turn_seconds ?? '');
    this.#house.show(chosen?.options ?? []);
    this.#mark({});
  }

  #showTables(tables) {
    const ids = new Set(tables.map(({ id }) => id));
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.#rows.delete(id);
    for (const table of tables) {
      if (!this.#rows.has(table.id)) this.#rows.set(table.id, this.#makeRow(table.id));
      const { name, about, join } = this.#rows.get(table.id);
      setText(name, table.name);
      const seats = table.free === 1 ? '1 seat free' : `${table.free} seats free`;
      setText(about, `${this.#title(table.rules)} · ${table.seats} at the table · ${table.phase === 'lobby' ? seats : 'game under way'}`);
      setBlocked(join, whyNotJoin(table));
    }
    arrange(this.#tables, tables.map(({ id }) => this.#rows.get(id).node));
    this.#noTables.hidden = tables.length > 0;
  }

  #makeRow(id) {
    const name = el('span', { class: 'table-name' });
    const about = el('span', { class: 'quiet' });
    const join = el('button', { type: 'button', class: 'plain', testid: `join-${id}` }, 'Join');
    join.addEventListener('click', () => {
      if (join.hasAttribute('aria-disabled')) this.#say(join.title);
      else this.#send({ type: 'join', table: id });
    });
    return { name, about, join, node: el('li', { class: 'table-row' }, el('span', { class: 'table-text' }, name, about), join) };
  }
}

function whyNotJoin(table) {
  if (!table.compatible) return 'That table runs another version of the program.';
  return table.free > 0 ? '' : 'All seats at that table are taken.';
}

/** The table one sits at before the game: who is there and who is ready. */
class Seating {
  #title = el('h2');
  #about = el('p', { class: 'quiet' });
  #members = el('ul', { class: 'member-list', testid: 'members' });
  #rows = new Map();
  #devices = el('ul', { class: 'member-list', testid: 'devices' });
  #deviceRows = new Map();
  #send = () => {};
  #why = el('p', { class: 'why', testid: 'why-not', role: 'status' });
  #ready = el('button', { type: 'button', class: 'plain', testid: 'ready', 'aria-pressed': 'false' });
  #start = el('button', { type: 'button', class: 'plain', testid: 'start' }, 'Start the game');
  #bot = el('button', { type: 'button', class: 'plain', testid: 'add-bot' }, 'Add a bot');
  #leave = el('button', { type: 'button', class: 'plain', testid: 'leave' }, 'Leave');
  #rules = new RulesText();

  constructor() {
    this.node = el('section', { class: 'panel seating', testid: 'at-table', hidden: true },
      this.#title, this.#about, this.#members, this.#devices, this.#why,
      el('div', { class: 'row' }, this.#ready, this.#start, this.#bot, this.#leave), this.#rules.node);
  }

  listen(send, say) {
    this.#send = send;
    const unless = (button, action) => button.addEventListener('click', () => {
      if (button.hasAttribute('aria-disabled')) say(button.title);
      else action();
    });
    unless(this.#ready, () => send({ type: 'ready', ready: this.#ready.getAttribute('aria-pressed') !== 'true' }));
    unless(this.#start, () => send({ type: 'start' }));
    unless(this.#bot, () => send({ type: 'add_bot' }));
    unless(this.#leave, () => send({ type: 'leave' }));
  }

  show(at, rulesTitle) {
    this.node.hidden = at === null;
    if (at === null) return;
    setText(this.#title, at.name);
    const time = at.turn_seconds ? `${at.turn_seconds} seconds a turn` : 'no time limit';
    setText(this.#about, `${rulesTitle} · ${time} · ${at.members.length} of ${at.max} seats taken`);
    this.#showMembers(at.members);
    this.#showDevices(at.devices);
    const mine = at.members.find(({ me }) => me);
    this.#ready.setAttribute('aria-pressed', String(Boolean(mine?.ready)));
    setText(this.#ready, mine?.ready ? 'Ready ✓' : 'I am ready');
    setBlocked(this.#start, at.can_start ? '' : at.why_not ?? 'Not everybody is ready yet.');
    setText(this.#why, at.can_start ? (mine?.ready ? 'Everybody is ready.' : 'Everybody else is ready: start when you are.') : at.why_not ?? '');
    this.#ready.classList.toggle('primary', !mine?.ready);
    this.#start.classList.toggle('primary', at.can_start);
    this.#bot.hidden = !at.bots_possible;
    setBlocked(this.#bot, at.members.length < at.max ? '' : 'All seats at this table are taken.');
    this.#rules.show(at.rules_text);
  }

  #showMembers(members) {
    const ids = new Set(members.map(({ id }) => id));
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.#rows.delete(id);
    for (const member of members) {
      if (!this.#rows.has(member.id)) this.#rows.set(member.id, makeMember());
      const { node, name, tags, state } = this.#rows.get(member.id);
      setText(name, member.name);
      setText(tags, [member.me ? 'you' : '', member.bot ? 'bot' : '', member.opener ? 'opened the table' : ''].filter(Boolean).join(' · '));
      setText(state, member.connected || member.me ? (member.ready ? 'ready' : 'not ready yet') : 'out of contact');
      node.classList.toggle('ready', member.ready);
      node.classList.toggle('away', !member.connected && !member.me);
      node.dataset.testid = `member-${member.id}`;
    }
    arrange(this.#members, members.map(({ id }) => this.#rows.get(id).node));
  }

  #showDevices(devices) {
    this.#devices.hidden = devices.length === 0;
    const ids = new Set(devices.map(({ id }) => id));
    for (const id of this.#deviceRows.keys()) if (!ids.has(id)) this.#deviceRows.delete(id);
    for (const { id, name, refused, refused_by: refusedBy } of devices) {
      if (!this.#deviceRows.has(id)) this.#deviceRows.set(id, this.#makeDevice(id));
      const row = this.#deviceRows.get(id);
      setText(row.name, name);
      setText(row.state, refusedBy.length ? `refused by ${refusedBy.join(', ')}: its buttons will do nothing` : 'its buttons end the turn of whoever plays');
      setText(row.button, refused ? 'Allow' : 'Refuse');
      row.refused = refused;
    }
    arrange(this.#devices, devices.map(({ id }) => this.#deviceRows.get(id).node));
  }

  #makeDevice(id) {
    const name = el('span', { class: 'player-name' });
    const state = el('span', { class: 'player-tags' });
    const button = el('button', { type: 'button', class: 'plain', testid: `refuse-${id}` });
    const who = el('span', { class: 'player-who' }, name, el('span', { class: 'player-tags' }, 'table clock'), state);
    const row = { name, state, button, refused: false, node: el('li', { class: 'member device', testid: `device-${id}` }, who, button) };
    button.addEventListener('click', () => this.#send({ type: 'refuse_device', device: id, refused: !row.refused }));
    return row;
  }
}

function makeMember() {
  const name = el('span', { class: 'player-name' });
  const tags = el('span', { class: 'player-tags' });
  const state = el('span', { class: 'member-state' });
  return { name, tags, state, node: el('li', { class: 'member' }, el('span', { class: 'player-who' }, name, tags), state) };
}

/** The sign of the program: two tiles. */
export function mark() {
  return el('img', { class: 'mark', src: '/static/favicon.svg', alt: '', width: 36, height: 36 });
}
