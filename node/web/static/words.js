/**
 * What things are called: games with tiles and games with cards have their own words.
 */

export const WORDS = {
  tiles: { one: 'tile', many: 'tiles', rack: 'rack', stock: 'pool', board: 'board' },
  cards: { one: 'card', many: 'cards', rack: 'hand', stock: 'stock', board: 'table' },
};

/** `1 tile`, `3 cards`. */
export function counted(count, words) {
  return count === 1 ? `1 ${words.one}` : `${count} ${words.many}`;
}

/** `Ana`, `Ana and Bruno`, `Ana, Bruno and Clara`. */
export function listed(names) {
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0] ?? '';
}
