/**
 * One table over the whole page: what lies on it, who sits there, what has happened.
 */

import { arrange, el, setHidden, setText } from '/static/dom.js';
import { Countdown } from '/static/countdown.js';
import { Melds } from '/static/meldview.js';
import { Seats } from '/static/seats.js';
import { GROUPS, about, goesOn } from '/static/tabletext.js';

export class LargeTable {
  #title = el('h1', { tabindex: -1 });
  #about = el('p', { class: 'about' });
  #goesOn = el('p', { class: 'goes-on', testid: 'goes-on' });
  #clock = new Countdown();
  #seats = new Seats();
  #melds = new Melds();
  #events = el('ol', { class: 'log', testid: 'events' });
  #body;
  #missing;

  constructor() {
    this.#missing = el('p', { class: 'starting', hidden: true }, 'There is no such table now.');
    this.#body = el('div', { class: 'large-body' },
      el('main', { class: 'large-board' }, this.#melds.node),
      el('aside', { class: 'large-side' }, this.#seats.node, el('h2', {}, 'What happened'), this.#events));
    this.node = el('section', { class: 'large', testid: 'large' },
      el('header', { class: 'large-top' },
        el('a', { class: 'back', href: '#', testid: 'back' }, '← All tables'),
        el('div', { class: 'large-title' }, this.#title, this.#about), this.#goesOn, this.#clock.node),
      this.#missing, this.#body);
  }

  /** `table` null: it is not there. */
  show(table, lying) {
    setHidden(this.#missing, table !== null);
    setHidden(this.#body, table === null);
    setHidden(this.#goesOn, table === null);
    for (const [i, group] of GROUPS.entries()) this.node.classList.toggle(`is-${group}`, i === table?.group);
    setText(this.#title, table?.name ?? '');
    setText(this.#about, table ? about(table) : '');
    this.#clock.show(table && !table.lost ? table.clock : null, table?.paused ?? false);
    if (!table) return;
    setText(this.#goesOn, goesOn(table));
    this.#seats.show(table);
    if (lying) this.#melds.show(lying, table.phase === 'lobby' ? 'The game has not begun.' : 'Nothing lies on the table.');
    this.#showEvents(table.events);
  }

  focus() {
    this.#title.focus();
  }

  clear() {
    this.#melds.clear();
    this.#clock.stop();
  }

  #showEvents(events) {
    while (this.#events.children.length < events.length) this.#events.append(el('li'));
    arrange(this.#events, [...this.#events.children].slice(0, events.length));
    events.toReversed().forEach((text, i) => setText(this.#events.children[i], text));
  }
}
