/**
 * The form of the house rules: one field for each option that a table of the chosen rule set may set. What fits is
 * decided by the node; its sentences are shown at the fields that they are about.
 */

import { arrange, el, setText } from './dom.js';

export class HouseRules {
  #fields = new Map(); // by option: {option, control, read, error, node}
  #list = el('div', { class: 'house-list' });
  #count = el('span', { class: 'quiet' });
  #shown = '';

  constructor() {
    this.node = el('details', { class: 'house-rules', testid: 'house-rules' },
      el('summary', {}, 'House rules ', this.#count), this.#list);
    this.#list.addEventListener('input', () => this.#showCount());
  }

  /** Shows the options of a rule set, all at their usual values; the same ones stay as they are. */
  show(options) {
    const key = JSON.stringify(options);
    if (key === this.#shown) return;
    this.#shown = key;
    this.#fields = new Map(options.map((option) => [option.field, makeField(option)]));
    arrange(this.#list, [...this.#fields.values()].map(({ node }) => node));
    this.node.hidden = options.length === 0;
    this.#showCount();
  }

  /** What differs from the usual: value by option. */
  get values() {
    const changed = [...this.#fields].map(([field, { option, read }]) => [field, read(), option.value]);
    return Object.fromEntries(changed.filter(([, value, usual]) => value !== null && value !== usual).map(([field, value]) => [field, value]));
  }

  /** Shows what is wrong, a sentence by option; the first such field comes into sight. */
  mark(sentences) {
    for (const [field, { control, error }] of this.#fields) {
      setText(error, sentences[field] ?? '');
      error.hidden = !sentences[field];
      control.setAttribute('aria-invalid', String(Boolean(sentences[field])));
    }
    const first = [...this.#fields.keys()].find((field) => sentences[field]);
    if (!first) return;
    this.node.open = true;
    this.#fields.get(first).control.focus();
  }

  #showCount() {
    const count = Object.keys(this.values).length;
    setText(this.#count, count === 0 ? '' : `(${count} changed)`);
  }
}

function makeField(option) {
  const id = `option-${option.field}`;
  const control = { int: numberField, bool: switchField, choice: choiceField }[option.kind](option, id);
  const error = el('p', { class: 'field-error', testid: `error-${option.field}`, id: `${id}-error`, hidden: true });
  control.setAttribute('aria-describedby', error.id);
  const read = { int: () => readNumber(control.value), bool: () => control.checked, choice: () => control.value }[option.kind];
  const node = el('div', { class: `house-field ${option.kind}` }, el('label', { for: id }, option.label), control, error);
  return { option, control, error, node, read };
}

function numberField(option, id) {
  return el('input', {
    class: 'field short', type: 'number', id, testid: id, inputmode: 'numeric', min: option.min, max: option.max, value: option.value,
  });
}

function switchField(option, id) {
  return el('input', { class: 'switch', type: 'checkbox', id, testid: id, checked: option.value });
}

function choiceField(option, id) {
  return el('select', { class: 'field', id, testid: id },
    ...option.choices.map(({ value, label }) => el('option', { value, selected: value === option.value }, label)));
}

/** The number, or the text where it is none: the node says what is wrong with it. Empty is the usual value. */
export function readNumber(text) {
  if (text.trim() === '') return null;
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
