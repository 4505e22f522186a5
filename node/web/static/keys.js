/**
 * The keyboard at the table: arrows go from tile to tile, Enter selects and lays, letters do the rest.
 */

import { neighbour } from './places.js';

const ARROWS = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown']);

/**
 * Listens on `root`. `hooks`: `stops()` (elements in reach), `first()` (where to begin), and the actions `undo`,
 * `redo`, `newMeld`, `back(element)`, `clear`, `shift(element, step)` (move within the rack), `rove(element)`.
 */
export function listenToKeys(root, hooks) {
  root.addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, textarea, dialog')) return;
    const at = event.target.closest('.tile, .new-meld');
    if (ARROWS.has(event.key)) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.shiftKey) {
        if (at) hooks.shift(at, { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0);
      } else {
        const next = at ? neighbour(hooks.stops(), at, event.key) : hooks.first();
        if (!next) return;
        hooks.rove(next);
        next.focus();
        next.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
      event.preventDefault();
      return;
    }
    const action = actionOf(event);
    if (!action) return;
    event.preventDefault();
    if (action === 'back') hooks.back(at);
    else hooks[action]();
  });
}

function actionOf(event) {
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.altKey) return null;
  if (event.ctrlKey || event.metaKey) {
    if (letter === 'z') return event.shiftKey ? 'redo' : 'undo';
    return letter === 'y' ? 'redo' : null;
  }
  return { u: 'undo', r: 'redo', n: 'newMeld', Escape: 'clear', Backspace: 'back', Delete: 'back' }[letter] ?? null;
}
