/**
 * Who is ahead over all tables.
 */

import { el, setHidden, setText } from '/static/dom.js';
import { signed } from '/static/players.js';
import { clockTime } from '/static/tabletext.js';

const DAY_S = 20 * 3600;
const date = (unix_s) => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(unix_s * 1000);

export class Standings {
  #about = el('p', { class: 'quiet' });
  #body = el('tbody');
  #rule = el('p', { class: 'quiet rule' });
  #table;
  #heads;
  #pointsHead = el('th', { scope: 'col' }, 'Points');
  #rows = [];
  #filter = '';

  constructor() {
    const head = (text, more = {}) => el('th', { scope: 'col', ...more }, text);
    this.#heads = el('tr', {}, head('', { 'aria-label': 'Place' }), head('Player'), head('Won'), head('Played'));
    this.#table = el('table', {}, el('thead', {}, this.#heads), this.#body);
    this.node = el('section', { class: 'ranking', testid: 'standings', 'aria-labelledby': 'ranking-title' },
      el('div', { class: 'ranking-head' }, el('h2', { id: 'ranking-title' }, 'Standings'), this.#about),
      el('div', { class: 'ranking-rows' }, this.#table), this.#rule);
  }

  /** `standings` as they come; a row is place, name, bot, played, won, points by rules. */
  show({ rows, games, tables, rules, since }) {
    this.#rows = rows;
    const when = since === null ? '' : ` since ${Date.now() / 1000 - since < DAY_S ? clockTime(since) : date(since)}`;
    setText(this.#about, games === 0 ? 'No game has been finished yet.' : `${count(games, 'game')} at ${count(tables, 'table')}${when}`);
    setText(this.#rule, games === 0 ? '' : rules.length > 1
      ? 'By games won, then share won. Points of different rules decide nothing; bots have no place.'
      : 'By games won, then share won, then points. Bots have no place.');
    setHidden(this.#table, games === 0);
    if (rules.length === 1) this.#heads.append(this.#pointsHead);
    else this.#pointsHead.remove();
    this.#fill(rules);
    this.find(this.#filter);
  }

  /** Shows only whom `text` finds. */
  find(text) {
    this.#filter = text;
    this.#rows.forEach(([, name], i) => {
      setHidden(this.#body.children[i], !name.toLowerCase().includes(text));
    });
  }

  // Points of one rule set have a column, those of several stand below the name.
  #fill(rules) {
    this.#body.replaceChildren(...this.#rows.map(([place, name, bot, played, won, points]) => {
      const by = rules.filter((rule) => rule in points).map((rule) => `${signed(points[rule])} ${rule}`).join(' · ');
      return el('tr', { class: bot ? 'is-bot' : place === 1 ? 'first' : '' },
        el('td', {}, place === null ? '' : String(place)),
        el('th', { scope: 'row' }, el('span', { class: 'sitter-name' }, name), bot && el('span', { class: 'sitter-tags' }, 'bot'),
          rules.length > 1 && el('span', { class: 'by-rules' }, by)),
        el('td', { class: 'won' }, String(won)), el('td', {}, String(played)),
        rules.length === 1 && el('td', { class: 'points' }, signed(points[rules[0]])));
    }));
  }
}

const count = (number, word) => `${number} ${word}${number === 1 ? '' : 's'}`;
