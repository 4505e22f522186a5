/**
 * How the tiles are dealt, for players: what is promised, and what is not. One dialog for the whole page.
 */

import { el, setText } from './dom.js';
import { WORDS } from './words.js';

const text = ({ one, many, rack, stock }) => [
  ['Nobody deals', [
    `No computer in this game knows your ${many} but yours. The ${stock} is shuffled by everybody’s machine, one after the other, so there is no dealer to trust.`,
    'As long as your own machine is honest, nobody can know or choose the order.',
  ]],
  ['What the others cannot do', [
    `Even if all other players work together against you, they cannot see your ${rack} or the ${stock}.`,
    `Nor can they slip in, copy or swap a ${one}: your program checks every step, and says who broke the rules.`,
  ]],
  ['When somebody goes', [
    'Somebody may quit who does not like what was dealt; nobody can prevent that. Quitting counts as losing.',
    `If somebody drops out, the others mix the remaining ${many} anew. That takes a few seconds.`,
  ]],
  ['What no program can prevent', [
    `Players may tell each other their own ${many}. Somebody may look over your shoulder.`,
    'Your own machine may be infected or tampered with; then nothing here protects you.',
    `A bot’s ${many} are as safe as the machine it runs on.`,
    'Independent cryptographers have not reviewed this protection: do not play for money.',
  ]],
];

/** What the button that opens the dialog says. */
export function dealQuestion(deck) {
  return `How are the ${WORDS[deck].many} dealt?`;
}

export class DealHelp {
  #title = el('h2', { id: 'deal-help-title' });
  #text = el('div', { class: 'sheet-text', tabindex: 0 });

  constructor() {
    const close = el('button', { type: 'button', class: 'sheet-close', testid: 'close-deal-help', 'aria-label': 'Close', on: { click: () => this.node.close() } }, '×');
    this.node = el('dialog', {
      class: 'sheet', testid: 'deal-help', 'aria-labelledby': 'deal-help-title', on: { click: (event) => this.#pressBeside(event) },
    }, el('header', { class: 'sheet-head' }, this.#title, close), this.#text);
  }

  open(deck) {
    setText(this.#title, dealQuestion(deck));
    this.#text.replaceChildren(...text(WORDS[deck]).map(([heading, points]) => el('section', {},
      el('h3', {}, heading), ...points.map((point) => el('p', {}, point)))));
    if (!this.node.open) this.node.showModal();
    this.#text.scrollTop = 0;
  }

  #pressBeside(event) {
    if (event.target === this.node) this.node.close();
  }
}
