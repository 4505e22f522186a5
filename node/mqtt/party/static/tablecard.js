/**
 * One table in the grid: name, clock, who sits there and whose turn it is; with room also what lies on it.
 */

import { el, setText } from '/static/dom.js';
import { Countdown } from '/static/countdown.js';
import { Melds } from '/static/meldview.js';
import { Seats } from '/static/seats.js';
import { GROUPS, about, goesOn } from '/static/tabletext.js';

export class TableCard {
  #link;
  #about = el('p', { class: 'about' });
  #goesOn = el('p', { class: 'goes-on' });
  #latest = el('p', { class: 'latest' });
  #clock = new Countdown();
  #seats = new Seats();
  #melds = new Melds();

  /** `id`: the table's name in the topics, by which it is looked at. */
  constructor(id) {
    this.#link = el('a', { class: 'card-link', href: `#${id}` });
    this.node = el('li', { class: 'table-card', testid: `table-${id}` },
      el('div', { class: 'card-top' }, el('div', { class: 'card-title' }, el('h2', {}, this.#link), this.#about), this.#clock.node),
      this.#goesOn, this.#seats.node, this.#melds.node, this.#latest);
    this.#melds.node.inert = true; // the whole card is one link
  }

  show(table) {
    this.table = table;
    for (const [i, group] of GROUPS.entries()) this.node.classList.toggle(`is-${group}`, i === table.group);
    setText(this.#link, table.name);
    setText(this.#about, about(table));
    setText(this.#goesOn, goesOn(table));
    setText(this.#latest, table.events.at(-1) ?? '');
    this.#clock.show(table.lost ? null : table.clock, table.paused);
    this.#seats.show(table);
  }

  /** What lies on the table; null: there is no room to show it. */
  showMelds(lying) {
    this.node.classList.toggle('with-melds', lying !== null);
    if (lying) this.#melds.show(lying, '');
    else this.#melds.clear();
  }

  focus() {
    this.#link.focus();
  }

  stop() {
    this.#clock.stop();
  }
}
