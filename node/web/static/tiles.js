/**
 * Tiles: faces, their spoken names, orders of a rack, and the element that shows one tile.
 *
 * A face is text as the node sends it: `R5`, `K13`, `J` (joker); cards `S7`, `HQ`. Two tiles with one face differ only
 * in their id.
 */

import { drawing, el } from './dom.js';

const COLOURS = { R: 'red', B: 'blue', K: 'black', Y: 'yellow', S: 'spades', H: 'hearts', D: 'diamonds', C: 'clubs' };
const ORDER = 'RBKYSHDC';
const RANKS = { A: 1, J: 11, Q: 12, K: 13 };
const SPOKEN_RANKS = { 1: 'ace', 11: 'jack', 12: 'queen', 13: 'king' };

// Every colour has its own shape: circle, diamond, triangle, star; every suit its own sign.
const SHAPES = {
  R: 'M10 2a8 8 0 1 0 0 16a8 8 0 1 0 0-16z',
  B: 'M10 .8L19.2 10L10 19.2L.8 10z',
  K: 'M10 1.6L19.4 18H.6z',
  Y: 'M10 .6l2.7 6.1 6.6.7-4.9 4.5 1.4 6.5L10 15.1l-5.8 3.3 1.4-6.5L.7 7.4l6.6-.7z',
  S: 'M10 1C8.3 4.6 2.2 7.4 2.2 12a4 4 0 0 0 6.7 2.9C8.7 16.8 8 18.2 6.6 19h6.8c-1.4-.8-2.1-2.2-2.3-4.1A4 4 0 0 0 17.8 12C17.8 7.4 11.7 4.6 10 1z',
  H: 'M10 18.4C6.2 15 1.5 11.4 1.5 7.1A4.4 4.4 0 0 1 10 5.3a4.4 4.4 0 0 1 8.5 1.8c0 4.3-4.7 7.9-8.5 11.3z',
  D: 'M10 .8C11.8 4.4 14.4 7.4 17.4 10c-3 2.6-5.6 5.6-7.4 9.2C8.2 15.6 5.6 12.6 2.6 10 5.6 7.4 8.2 4.4 10 .8z',
  C: 'M10 1.2a3.9 3.9 0 0 0-3.3 6 4 4 0 1 0 2.2 6.9C8.8 16.6 8 18.1 6.6 19h6.8c-1.4-.9-2.2-2.4-2.3-4.9a4 4 0 1 0 2.2-6.9 3.9 3.9 0 0 0-3.3-6z',
};
const JOKER = [
  'M12 22.5a9 9 0 1 1 0-18a9 9 0 1 1 0 18zm0-2.2a6.8 6.8 0 1 0 0-13.6a6.8 6.8 0 1 0 0 13.6z',
  'M8.4 10.2a1.4 1.6 0 1 1 2.8 0a1.4 1.6 0 1 1-2.8 0zM12.8 10.2a1.4 1.6 0 1 1 2.8 0a1.4 1.6 0 1 1-2.8 0z',
  'M7.4 14.2h9.2c-.5 2.6-2.3 4.2-4.6 4.2s-4.1-1.6-4.6-4.2z',
];

/** The face of a text: `{colour, number, rank, joker, card}`; a joker has no colour and number 0. */
export function parseFace(text) {
  if (text === 'J') return { colour: '', number: 0, rank: '', joker: true, card: false };
  const colour = text[0];
  const rank = text.slice(1);
  return { colour, number: RANKS[rank] ?? Number(rank), rank, joker: false, card: 'SHDC'.includes(colour) };
}

/** The face in words: `red 5`, `queen of hearts`, `joker`. */
export function spoken(text) {
  const face = parseFace(text);
  if (face.joker) return 'joker';
  if (face.card) return `${SPOKEN_RANKS[face.number] ?? face.number} of ${COLOURS[face.colour]}`;
  return `${COLOURS[face.colour]} ${face.number}`;
}

/** Compares two faces as runs lie: by colour, then number; jokers last. */
export function byColour(a, b) {
  return a.joker - b.joker || ORDER.indexOf(a.colour) - ORDER.indexOf(b.colour) || a.number - b.number;
}

/** Compares two faces as groups lie: by number, then colour; jokers last. */
export function byNumber(a, b) {
  return a.joker - b.joker || a.number - b.number || ORDER.indexOf(a.colour) - ORDER.indexOf(b.colour);
}

/** The sign of a colour or suit as a drawing. */
export function sign(colour) {
  return drawing('sign', '0 0 20 20', SHAPES[colour]);
}

/** What is printed on a tile, as nodes. */
function print(text) {
  const face = parseFace(text);
  if (face.joker) return [drawing('jester', '0 3 24 21', ...JOKER)];
  return [el('span', { class: 'number' }, face.rank), sign(face.colour)];
}

/** A tile that is only looked at, for results and help. */
export function stillTile(text) {
  const face = parseFace(text);
  const node = el('span', { class: `tile still${face.card ? ' card' : ''}`, role: 'img', 'aria-label': spoken(text) });
  node.dataset.colour = face.colour || 'J';
  node.append(...print(text));
  return node;
}

/** Keeps one element for every tile id, so that a tile moves over the page instead of being drawn anew. */
export class TileBox {
  #tiles = new Map();

  /** The element of a tile; made when first asked for. */
  get(id, text) {
    const known = this.#tiles.get(id);
    if (known && known.text === text) return known.node;
    const face = parseFace(text);
    const node = el('button', {
      type: 'button', class: `tile${face.card ? ' card' : ''}`, testid: `tile-${id}`, tabindex: -1, draggable: 'false',
    });
    node.dataset.id = id;
    node.dataset.colour = face.colour || 'J';
    node.append(...print(text), el('span', { class: 'stands', 'aria-hidden': 'true' }), el('span', { class: 'badge', 'aria-hidden': 'true' }));
    this.#tiles.set(id, { node, text });
    return node;
  }

  /** Forgets all tiles but these ids (a new game has new ones). */
  keep(ids) {
    for (const id of this.#tiles.keys()) if (!ids.has(id)) this.#tiles.delete(id);
  }

  /** All elements made so far, by id. */
  entries() {
    return [...this.#tiles].map(([id, { node }]) => [id, node]);
  }
}

/** Faces in small; of those with one number the number is shown once. */
/** A face in the middle of a sentence. */
export function faceInText(text) {
  const { colour, rank, joker } = parseFace(text);
  const drawn = joker ? ['J'] : [rank, sign(colour)];
  return el('span', { class: 'in-text', 'data-colour': joker ? 'J' : colour, role: 'img', 'aria-label': spoken(text) }, ...drawn);
}

function miniFaces(faces) {
  const ranks = [...new Set(faces.map((text) => parseFace(text).rank))];
  return ranks.map((rank) => {
    const colours = faces.map(parseFace).filter((face) => face.rank === rank).map((face) => face.colour);
    const number = el('span', {}, rank);
    if (colours.length === 1) number.dataset.colour = colours[0];
    const signs = colours.map((colour) => {
      const drawn = sign(colour);
      drawn.dataset.colour = colour;
      return drawn;
    });
    return el('span', { class: 'mini' }, number, ...signs);
  });
}

/** Shows on a joker what it stands for (`faces`, may be empty), and describes the tile for screen readers. */
export function describe(node, text, faces, marks) {
  const stands = node.querySelector('.stands');
  const shown = faces.length > 0 ? faces.join('/') : '';
  if (stands.dataset.faces !== shown) {
    stands.dataset.faces = shown;
    stands.replaceChildren(...miniFaces(faces));
  }
  const words = [spoken(text)];
  if (faces.length > 0) words.push(`stands for ${faces.map(spoken).join(' or ')}`);
  const label = [...words, ...marks].join(', ');
  if (node.getAttribute('aria-label') !== label) node.setAttribute('aria-label', label);
}
