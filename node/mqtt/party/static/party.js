/**
 * All tables of a broker on one page. Begins here: one connection; a grid of tables beside the standings, or, at `#name`,
 * one table over the whole page.
 *
 * Reading order: tabletext, countdown, seats, meldview, tablecard, standings, largetable, pageturner.
 * dom, tiles, board, places, players, words, socket, choice and style.css are those of the players' page.
 *
 * What comes (`now_s` is the server's clock): `{now_s, about?, contact?, tables?, gone?, boards?, standings?}`; with
 * `about` everything comes anew. What goes: `{"look": [names]}`, the tables of which the page shows what lies there.
 *
 * For tests, `data-testid` on: table-<name>, standings, contact, counts, find, show-tables, show-standings, turn-pages,
 * phones, no-tables, large, back, goes-on, events, announce.
 */

import { setServerClock } from '/static/countdown.js';
import { arrange, el, setHidden, setText } from '/static/dom.js';
import { LargeTable } from '/static/largetable.js';
import { PageTurner } from '/static/pageturner.js';
import { Connection } from '/static/socket.js';
import { Standings } from '/static/standings.js';
import { TableCard } from '/static/tablecard.js';
import { GROUPS, goesOn } from '/static/tabletext.js';

const MOST_WITH_MELDS = 4;
const ANNOUNCE_EVERY_MS = 4000;
const LOST = {
  program: 'No contact with the program that shows the tables. Trying again…',
  broker: 'The broker cannot be reached. Trying again; this is what was known last.',
};

const root = document.getElementById('app');
const starting = root.firstElementChild;
const wide = matchMedia('(min-width: 1200px)');
const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

const tables = new Map();
const boards = new Map();
const cards = new Map();
let received = false;
let inContact = true;
let linked = true;
let looked = '';
let opened = null;
let announced = '';
let announceTimer = 0;

const counts = el('p', { class: 'counts', testid: 'counts' });
const banner = el('p', { class: 'hall-banner', testid: 'contact', role: 'status', hidden: true });
const live = el('p', { class: 'unseen', testid: 'announce', 'aria-live': 'polite' });
const list = el('ul', { class: 'table-grid' });
const command = el('code');
const noTables = el('div', { class: 'no-tables', testid: 'no-tables', hidden: true },
  el('h2', {}, 'No tables yet'), el('p', {}, 'A table shows up here when somebody at it starts with'), el('p', {}, command),
  el('p', { class: 'quiet' }, 'One of the players is enough, whether they play or a bot does (rummesh bot).'));
const nobody = el('p', { class: 'starting', hidden: true }, 'No table and no player of that name.');
const grid = el('main', { class: 'hall-tables', tabindex: -1 }, noTables, nobody, list);
const standings = new Standings();
const large = new LargeTable();
const find = el('input', { class: 'field', type: 'search', testid: 'find', placeholder: 'Find a table or player', 'aria-label': 'Find a table or player', autocomplete: 'off', spellcheck: 'false' });
const tab = (testid, text) => el('button', { type: 'button', class: 'tab', testid, 'aria-pressed': 'false' }, text);
const tabs = { tables: tab('show-tables', 'Tables'), standings: tab('show-standings', 'Standings') };
const phones = el('figure', { class: 'phones', testid: 'phones', hidden: true });
const turner = new PageTurner(grid, list, standings.node.querySelector('.ranking-rows'), wide);
const overview = el('div', { class: 'overview' },
  el('header', { class: 'hall-top' },
    el('div', { class: 'brand' }, el('img', { class: 'mark', src: '/static/favicon.svg', alt: '', width: 36, height: 36 }), el('h1', {}, 'All tables'), counts),
    find, turner.button, el('nav', { class: 'tabs', 'aria-label': 'What to show' }, tabs.tables, tabs.standings)),
  grid, el('aside', { class: 'hall-side' }, standings.node, phones));

// What there is

function receive(message) {
  received = true;
  setServerClock(message.now_s, Boolean(message.about));
  if (message.about) {
    tables.clear();
    showAbout(message.about);
  }
  if (message.contact !== undefined) inContact = message.contact;
  for (const [id, table] of Object.entries(message.tables ?? {})) {
    announce(id, table);
    tables.set(id, table);
  }
  for (const id of message.gone ?? []) {
    tables.delete(id);
    boards.delete(id);
  }
  for (const [id, lying] of Object.entries(message.boards ?? {})) boards.set(id, lying);
  if (message.standings) standings.show(message.standings);
  show();
}

function showAbout(about) {
  setText(command, about.command);
  setHidden(phones, about.phones === null);
  if (about.phones === null) return;
  phones.replaceChildren(el('img', { src: '/phones.svg', alt: '', width: 120, height: 120 }),
    el('figcaption', {}, 'On your phone:', el('br'), el('a', { href: about.phones }, about.phones.replace('http://', ''))));
}

// Shown

function show() {
  showBanner();
  if (!received) {
    arrange(root, [banner, starting]);
    return;
  }
  const first = opened;
  opened = idInAddress();
  document.title = `${opened ? tables.get(opened)?.name ?? 'No such table' : 'All tables'} · Rummesh`;
  if (opened) large.show(tables.get(opened) ?? null, boards.get(opened) ?? null);
  else large.clear();
  arrange(root, [banner, opened ? large.node : overview, live]);
  if (!opened) showGrid();
  look();
  if (first === opened) return;
  scrollTo(0, 0);
  if (opened) large.focus();
  else cards.get(first)?.focus();
}

function showGrid() {
  const ids = [...tables.keys()].sort((a, b) => order(tables.get(a), tables.get(b)) || (a < b ? -1 : 1));
  for (const [id, card] of cards) {
    if (tables.has(id)) continue;
    card.stop();
    cards.delete(id);
  }
  const withMelds = melded(ids);
  for (const id of ids) {
    if (!cards.has(id)) cards.set(id, new TableCard(id));
    const card = cards.get(id);
    if (card.table !== tables.get(id)) card.show(tables.get(id));
    card.showMelds(withMelds.includes(id) && card.table.phase !== 'lobby' ? boards.get(id) ?? null : null);
  }
  const focused = document.activeElement;
  arrange(list, ids.map((id) => cards.get(id).node));
  if (focused !== document.activeElement && list.contains(focused)) focused.focus({ preventScroll: true });
  if (list.dataset.tables !== String(ids.length)) {
    list.dataset.tables = ids.length;
    list.style.setProperty('--columns', columns(ids.length));
    list.classList.toggle('alone', ids.length === 1);
    list.classList.toggle('few', ids.length <= 4);
    list.classList.toggle('dense', ids.length > 9);
  }
  setHidden(noTables, ids.length > 0);
  setText(counts, ids.length ? summary() : '');
  filter();
}

function order(one, other) {
  return one.group - other.group || byName.compare(one.name, other.name);
}

function columns(count) {
  return count <= 1 ? 1 : count <= 4 ? 2 : count <= 9 ? 3 : 4;
}

function summary() {
  const all = [...tables.values()];
  const playing = all.filter(({ group }) => GROUPS[group] === 'playing');
  const players = playing.reduce((sum, { seats }) => sum + seats.filter((seat) => !seat.bot && seat.in_game).length, 0);
  return [`${all.length} ${all.length === 1 ? 'table' : 'tables'}`, `${playing.length} playing`,
    players ? `${players} ${players === 1 ? 'person' : 'people'}` : ''].filter(Boolean).join(' · ');
}

function showBanner() {
  const trouble = !linked ? LOST.program : !inContact ? LOST.broker : '';
  setText(banner, trouble);
  setHidden(banner, !trouble);
}

function filter() {
  const text = find.value.trim().toLowerCase();
  let found = 0;
  for (const { node, table } of cards.values()) {
    const fits = !text || [table.name, ...table.seats.map(({ name }) => name)].some((name) => name.toLowerCase().includes(text));
    setHidden(node, !fits);
    found += fits;
  }
  setHidden(nobody, found > 0 || tables.size === 0);
  standings.find(text);
}

// Looked at

const idInAddress = () => location.hash.slice(1) || null;

function melded(ids) {
  return wide.matches && ids.length <= MOST_WITH_MELDS ? ids : [];
}

function look(anew = false) {
  const wanted = opened ? [opened] : melded([...tables.keys()]).toSorted();
  const text = JSON.stringify(wanted);
  if (text === looked && !anew) return;
  looked = text;
  for (const id of boards.keys()) if (!wanted.includes(id)) boards.delete(id);
  connection.send({ look: wanted });
}

// Heard: at a table whose turn it is, elsewhere who has won; never more than one thing at a time.

function announce(id, table) {
  const before = tables.get(id);
  if (!before) return;
  const text = goesOn(table);
  const news = text !== goesOn(before) && (id === opened || (!opened && table.phase === 'over'));
  if (!news) return;
  announced = id === opened ? text : `${table.name}: ${text}`;
  if (announceTimer) return;
  live.textContent = announced;
  announceTimer = setTimeout(() => {
    announceTimer = 0;
    if (live.textContent !== announced) live.textContent = announced;
  }, ANNOUNCE_EVERY_MS);
}

function choose(what) {
  overview.dataset.shows = what;
  for (const [name, button] of Object.entries(tabs)) button.setAttribute('aria-pressed', String(name === what));
}

choose('tables');
for (const [name, button] of Object.entries(tabs)) button.addEventListener('click', () => choose(name));
find.addEventListener('input', filter);
addEventListener('hashchange', () => show());
wide.addEventListener('change', () => show());

const connection = new Connection({
  message: receive,
  open() {
    linked = true;
    look(true);
    showBanner();
  },
  lost() {
    linked = false;
    show();
  },
});
