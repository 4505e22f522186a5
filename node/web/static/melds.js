/**
 * Small readings of melds for the hand that lays them: bring a run into order, see where one falls apart into two,
 * see that one reads both ways. What is legal is decided by the node alone.
 */

const MAX_NUMBER = 13;

/** Whether these faces, in this order, can be (part of) a run. */
export function liesAsRun(faces) {
  const first = faces.findIndex((face) => !face.joker);
  if (first < 0) return false;
  const low = faces[first].number - first;
  return low >= 1 && low + faces.length - 1 <= MAX_NUMBER
    && faces.every((face, i) => face.joker || (face.colour === faces[first].colour && face.number === low + i));
}

/** Whether these faces can be (part of) a group. */
export function liesAsGroup(faces) {
  const numbered = faces.filter((face) => !face.joker);
  return numbered.length > 0 && faces.length <= 4
    && numbered.every((face) => face.number === numbered[0].number)
    && new Set(numbered.map((face) => face.colour)).size === numbered.length;
}

/** Whether the player has to say if group or run is meant. */
export function readsBothWays(faces) {
  return faces.length >= 3 && faces.filter((face) => !face.joker).length === 1 && liesAsGroup(faces) && liesAsRun(faces);
}

/**
 * `ids` in the order of a run, or unchanged if they already lie as a meld or make no run.
 * Jokers fill the gaps, left to right; those left over stay at the end where they were laid.
 */
export function inOrder(ids, faceOf) {
  const faces = ids.map(faceOf);
  if (liesAsRun(faces) || liesAsGroup(faces)) return ids;
  const numbered = ids.filter((id) => !faceOf(id).joker).sort((a, b) => faceOf(a).number - faceOf(b).number);
  if (numbered.length < 2) return ids;
  const jokers = ids.filter((id) => faceOf(id).joker);
  const run = [numbered[0]];
  for (const id of numbered.slice(1)) {
    let gap = faceOf(id).number - faceOf(run.findLast((other) => !faceOf(other).joker)).number - 1;
    if (gap > jokers.length) return ids;
    for (; gap > 0; gap -= 1) run.push(jokers.shift());
    run.push(id);
  }
  const lead = faces.findIndex((face) => !face.joker);
  for (const joker of jokers) {
    const front = run.filter((id) => !faceOf(id).joker)[0];
    const roomInFront = faceOf(front).number - run.indexOf(front) > 1;
    const roomBehind = faceOf(front).number - run.indexOf(front) + run.length <= MAX_NUMBER;
    if (roomInFront && (ids.indexOf(joker) < lead || !roomBehind)) run.unshift(joker);
    else run.push(joker);
  }
  return liesAsRun(run.map(faceOf)) ? run : ids;
}

/**
 * Where a run with one number twice falls apart into two runs of three or more (`4 5 6 6 7 8`): both parts, else null.
 */
export function twoRuns(ids, faceOf) {
  for (let cut = 3; cut <= ids.length - 3; cut += 1) {
    const parts = [ids.slice(0, cut), ids.slice(cut)];
    const before = faceOf(ids[cut - 1]);
    const after = faceOf(ids[cut]);
    const twin = !before.joker && before.number === after.number && before.colour === after.colour;
    if (twin && parts.every((part) => liesAsRun(part.map(faceOf)))) return parts;
  }
  return null;
}
