/**
 * The rules of a table, as the node tells them: headings and paragraphs, house rules marked.
 */

import { el } from './dom.js';

const HOUSE = 'House rule: ';

export class RulesText {
  #text = el('div', { class: 'rules-text' });
  #shown = '';

  constructor() {
    this.node = el('details', { class: 'rules', testid: 'rules' }, el('summary', {}, 'The rules of this table'), this.#text);
  }

  /** `sections`: `{heading, text: [paragraph]}`; none hides the whole. */
  show(sections) {
    this.node.hidden = sections.length === 0;
    const key = JSON.stringify(sections);
    if (key === this.#shown) return;
    this.#shown = key;
    this.#text.replaceChildren(...sections.flatMap(({ heading, text }) => [el('h3', {}, heading), ...text.map(paragraph)]));
  }
}

function paragraph(text) {
  if (!text.startsWith(HOUSE)) return el('p', {}, text);
  return el('p', { class: 'house' }, el('strong', {}, HOUSE), text.slice(HOUSE.length));
}
