/**
 * Where on the page something may be put, and where the keyboard goes next: geometry over elements, nothing else.
 */

const NEAR_PX = 10;

const inside = (box, x, y, margin = 0) =>
  x >= box.left - margin && x <= box.right + margin && y >= box.top - margin && y <= box.bottom + margin;

/** The place among `tiles` (elements in order) nearest to a point: `{at, mark}`; mark is where to draw a line. */
export function gapAt(tiles, x, y) {
  let best = null;
  tiles.forEach((tile, i) => {
    const box = tile.getBoundingClientRect();
    const dx = x - (box.left + box.width / 2);
    const dy = y - (box.top + box.height / 2);
    const far = Math.hypot(dx, dy * 2); // rows count more than columns
    if (!best || far < best.far) best = { far, i, box, behind: dx > 0 };
  });
  if (!best) return { at: 0, mark: null };
  const { i, box, behind } = best;
  return { at: behind ? i + 1 : i, mark: { x: behind ? box.right + 2 : box.left - 2, y: box.top, height: box.height } };
}

/** The element of `elements` under a point, or the nearest one within a few pixels; null if none. */
export function under(elements, x, y) {
  return elements.find((element) => inside(element.getBoundingClientRect(), x, y))
    ?? elements.find((element) => inside(element.getBoundingClientRect(), x, y, NEAR_PX))
    ?? null;
}

/** Whether a point lies on the visible part of an element. */
export function covers(element, x, y) {
  return inside(element.getBoundingClientRect(), x, y);
}

/** From `from`, the nearest of `elements` in the direction of an arrow key; null if there is none. */
export function neighbour(elements, from, key) {
  const a = centre(from);
  let best = null;
  for (const element of elements) {
    if (element === from) continue;
    const b = centre(element);
    const across = key === 'ArrowLeft' || key === 'ArrowRight';
    const ahead = { ArrowLeft: a.x - b.x, ArrowRight: b.x - a.x, ArrowUp: a.y - b.y, ArrowDown: b.y - a.y }[key];
    const aside = Math.abs(across ? b.y - a.y : b.x - a.x);
    if (ahead < 4 || (across && aside > a.height / 2)) continue;
    const far = across ? ahead + aside : ahead * 3 + aside;
    if (!best || far < best.far) best = { far, element };
  }
  return best?.element ?? null;
}

function centre(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2, height };
}
