/**
 * How far the dealing is, as a sentence and a bar. Whoever is waited for longer than a moment is named.
 */

import { el } from './dom.js';
import { WORDS, listed } from './words.js';

const PATIENCE_MS = 3000;
const CALLS = {
  start: ({ many }) => `The ${many} are being shuffled`,
  racks: ({ many }) => `The ${many} are being dealt`,
  redeal: ({ stock }) => `The ${stock} is being shuffled again`,
  final: ({ rack }) => `The remaining ${rack}s are being opened`,
};

export class Deal {
  #bar = el('span', { class: 'deal-bar' });
  #changed;
  #table = null;
  #key = '';
  #timer = 0;
  #late = false;

  /** `changed()` is called when somebody has been waited for longer than a moment. */
  constructor(changed) {
    this.#changed = changed;
    this.node = el('div', {
      class: 'deal', testid: 'deal', role: 'progressbar', 'aria-label': 'Dealing', 'aria-valuemin': 0, 'aria-valuemax': 100, hidden: true,
    }, this.#bar);
  }

  show(table) {
    const { deal, height, view } = table;
    this.#table = table;
    const key = deal ? JSON.stringify([height, deal.step, deal.done, deal.at_work]) : '';
    if (key !== this.#key) {
      this.#key = key;
      this.#late = false;
      clearTimeout(this.#timer);
      if (deal?.share < 1) this.#timer = setTimeout(() => this.#runOut(), PATIENCE_MS);
    }
    this.node.hidden = !deal || view.waiting_for === 'draw';
    if (this.node.hidden) return;
    this.#bar.style.transform = `scaleX(${deal.share})`;
    this.node.setAttribute('aria-valuenow', String(Math.round(deal.share * 100)));
    this.node.setAttribute('aria-valuetext', this.words);
  }

  /** What is being done, or who is waited for once that has lasted longer than a moment; nothing while no call is open. */
  get words() {
    return this.#late ? this.#awaited() : this.#doing();
  }

  #awaited() {
    const { deal, view } = this.#table;
    const names = deal.at_work.filter((seat) => seat !== view.seat).map((seat) => view.players[seat].name);
    if (names.length === 0) return 'Your own machine is still at work.';
    return names.length === 1 ? `Waiting for ${names[0]}’s part of the deal.` : `Waiting for the parts of ${listed(names)}.`;
  }

  #doing() {
    const { deal, deck, view } = this.#table;
    if (!view.waiting_for) return '';
    const who = (seat, own) => (seat === view.seat ? own : view.players[seat].name);
    if (view.drawing !== null) return view.drawing === view.seat ? 'You draw.' : `${who(view.drawing)} draws.`;
    const busy = deal?.at_work.length > 0;
    if (busy && deal.step === 'shuffle') return `${who(deal.at_work[0], 'Your machine')} shuffles, ${deal.done + 1} of ${deal.total}.`;
    const doing = deal?.step === 'keys' ? 'The machines make their keys' : CALLS[view.waiting_for](WORDS[deck]);
    return busy ? `${doing}, ${deal.done} of ${deal.total}.` : `${doing}.`;
  }

  #runOut() {
    this.#late = true;
    this.show(this.#table);
    this.#changed();
  }
}
