/**
 * The link that saves the game file.
 */

import { el } from './dom.js';

/** A new element: the link, and what the file is good for. */
export function saveGame(testid) {
  return el('p', { class: 'save-game' },
    el('a', { class: 'plain', href: '/game-file', download: true, testid }, 'Save the game file'),
    el('span', { class: 'quiet' }, 'Anyone can check it with: ', el('code', {}, 'rummesh verify FILE')));
}
