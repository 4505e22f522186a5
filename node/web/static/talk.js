/**
 * What the table settles besides the moves, in lines above the board: who is waited for and the choice that follows, a
 * pause, questions to agree to, and who was found out. A line counts its seconds by itself between two pushes.
 */

import { el, setText } from './dom.js';
import { listed } from './words.js';

const TICK_MS = 200;

export class Talk {
  #send;
  #key = '';
  #counts = []; // of the lines with a clock: number, bar, when it ends, how long it is
  #timer = 0;

  constructor(send) {
    this.#send = send;
    this.node = el('section', { class: 'talk', testid: 'talk', 'aria-label': 'At the table', role: 'status', hidden: true });
  }

  show(table) {
    const lines = linesOf(table);
    const key = JSON.stringify(lines.map(({ leftS, ...line }) => [line, leftS === undefined]));
    if (key !== this.#key) this.#build(lines);
    this.#key = key;
    this.node.hidden = lines.length === 0;
    const now = performance.now();
    lines.filter(({ leftS }) => leftS !== undefined).forEach(({ leftS, totalS }, i) => {
      Object.assign(this.#counts[i], { endsAt: now + leftS * 1000, totalS });
    });
    clearInterval(this.#timer);
    if (this.#counts.length > 0) this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#tick();
  }

  #build(lines) {
    const focused = this.node.contains(document.activeElement) ? document.activeElement.dataset.testid : null;
    this.#counts = [];
    this.node.replaceChildren(...lines.map((line) => this.#line(line)));
    if (focused) this.node.querySelector(`[data-testid="${focused}"]`)?.focus();
  }

  #line({ id, bad, text, more, leftS, choices = [] }) {
    const words = el('p', { class: 'talk-words' }, text);
    const line = el('div', { class: `talk-line${bad ? ' bad' : ''}`, testid: id }, el('div', { class: 'talk-text' }, words, more && el('p', { class: 'talk-more' }, more)));
    if (leftS !== undefined) {
      const number = el('span', { class: 'talk-count', 'aria-hidden': 'true' });
      const bar = el('span', { class: 'talk-bar' });
      words.append(number);
      line.append(el('span', { class: 'talk-track', 'aria-hidden': 'true' }, bar));
      this.#counts.push({ number, bar, endsAt: 0, totalS: 0 });
    }
    if (choices.length > 0) {
      line.append(el('div', { class: 'row' }, ...choices.map(({ testid, label, primary, command }) => el('button', {
        type: 'button', class: primary ? 'primary' : 'plain', testid, on: { click: () => this.#send(command) },
      }, label))));
    }
    return line;
  }

  #tick() {
    for (const { number, bar, endsAt, totalS } of this.#counts) {
      const leftS = Math.max(0, (endsAt - performance.now()) / 1000);
      setText(number, leftS > 0 ? `${Math.ceil(leftS)} s` : '');
      bar.style.transform = `scaleX(${totalS ? Math.min(1, leftS / totalS) : 0})`;
    }
  }
}

/** The lines, the most serious first: `id` (their `data-testid`), `text`, and what they have besides. */
function linesOf({ talk, view }) {
  const nameOf = (seat) => view.players[seat].name;
  const lines = [];
  if (talk.void) lines.push({ id: 'void', bad: true, text: talk.void });
  talk.evidence.forEach(({ name, reason }, i) => lines.push({ id: `evidence-${i}`, bad: true, text: `${name} broke the rules of the table: ${reason}.` }));
  if (talk.out) lines.push({ id: 'out', text: talk.out });
  if (talk.leaving) lines.push({ id: 'leaving', text: 'You are leaving. The others are being told…' });
  lines.push(...awayLines(talk.away, view, nameOf));
  if (talk.pause) lines.push(pauseLine(talk, view.seat));
  lines.push(...talk.agreeing.map((asked) => agreeLine(asked, view.seat, nameOf)));
  return lines;
}

function awayLines({ seats, late, without, choice, wishes, few }, view, nameOf) {
  const what = { silent: '', owes: ', who owes its part', fault: ', who broke the rules' };
  const choosing = choice !== null && view.seat !== null;
  const waited = seats.filter(({ seat, cause }) => cause !== 'fault' && !(choosing && without.includes(seat)));
  const lines = waited.map(({ seat, cause, left_s: leftS, total_s: totalS }) => ({
    id: `away-${seat}`, text: `Waiting for ${nameOf(seat)}${what[cause]}`, leftS, totalS,
  }));
  lines.push(...late.map((seat) => ({ id: `late-${seat}`, text: `Waiting for ${nameOf(seat)}: nothing heard for a moment` })));
  if (!choosing) return lines;
  const gone = listed(without.map(nameOf));
  if (choice === 'close') {
    const text = `Without ${gone} too few are left to go on. You can wait, or close the game: it has no result then.`;
    return [...lines, { id: 'choice', text, choices: [{ testid: 'close-game', label: 'Close the game', command: { type: 'close_game' } }] }];
  }
  const chosen = wishes[view.seat] !== undefined;
  const others = Object.keys(wishes).map(Number).filter((seat) => seat !== view.seat).map(nameOf);
  const loss = 'Who is left out loses this game, and the rest is dealt anew.';
  const liar = few ? ' At a table of three, somebody who lies could keep two honest players apart and lead each into another game; that shows as soon as they meet, and the game is void.' : '';
  const wished = others.length > 0 ? ` ${listed(others)} ${others.length === 1 ? 'wants' : 'want'} to go on.` : '';
  return [...lines, {
    id: 'choice',
    text: chosen ? `You want to go on without ${gone}. All who stay have to want it.${wished}` : `${without.length === 1 ? 'Has' : 'Have'} ${gone} really left?${wished}`,
    more: `${loss}${liar}`,
    choices: [
      !chosen && { testid: 'go-on-without', label: `Go on without ${gone}`, command: { type: 'go_on_without', seats: without } },
      { testid: 'keep-waiting', label: 'Keep waiting', primary: true, command: { type: 'keep_waiting' } },
    ].filter(Boolean),
  }];
}

function pauseLine({ pause, requests }, seat) {
  const short = pause.left_s !== null;
  const line = { id: 'paused', text: short ? 'The game is paused' : 'The game is paused until somebody goes on.' };
  if (short) Object.assign(line, { leftS: pause.left_s, totalS: pause.total_s });
  if (seat === null) return line;
  line.choices = [{ testid: 'resume', label: 'Go on now', primary: true, command: { type: 'resume' } }];
  const longer = requests.long_pause;
  if (longer && !longer.why_not && !longer.asked) line.choices.push({ testid: 'long-pause', label: 'Pause longer', command: { type: 'long_pause' } });
  return line;
}

function agreeLine({ command, by, agreed, mine }, seat, nameOf) {
  const who = by === seat ? 'You would' : `${nameOf(by)} would`;
  const wish = command === 'take_back' ? 'like to take back the turn that has just ended.' : 'like a longer pause.';
  const others = agreed.filter((other) => other !== by && other !== seat).map(nameOf);
  const agree = others.length > 0 ? `${listed(others)} ${others.length === 1 ? 'agrees' : 'agree'}.` : '';
  return {
    id: `asked-${command}`,
    text: `${who} ${wish} All have to agree.`,
    more: [agree, mine || by === seat ? '' : 'You agree.'].filter(Boolean).join(' '),
    choices: mine ? [{ testid: `agree-${command}`, label: 'Agree', command: { type: command } }] : [],
  };
}
