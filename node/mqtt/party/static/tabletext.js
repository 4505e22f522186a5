/**
 * What is said of a table, in words.
 */

import { listed } from '/static/words.js';

/** The groups of tables, in the order of the page; the server says which one a table is in. */
export const GROUPS = ['playing', 'lobby', 'finished', 'lost'];

const namesOf = (table, seats) => listed(seats.map((seat) => table.seats[seat].name));

/** The seats that have won: the last game, or the series when it is over. */
export function winnersOf(table) {
  if (!table.last) return [];
  return table.series_over && table.games > 1 ? table.series_winners : table.last.winners;
}

/** What goes on at the table, in a few words. */
export function goesOn(table) {
  if (GROUPS[table.group] === 'lost') return 'Out of contact';
  switch (table.phase) {
    case 'lobby': return table.seats.length ? 'Gathering players' : 'Nobody has sat down yet';
    case 'start': return 'The deck is being shuffled';
    case 'deal': return 'The racks are being dealt';
    case 'final': return 'The racks are being opened';
    case 'void': return 'Broken off: the game is void';
    case 'over': return over(table);
    default:
      if (table.paused) return 'Paused';
      if (table.waiting_for === 'redeal') return 'The pool is being dealt anew';
      return table.turn === null ? '' : `${table.seats[table.turn].name}'s turn`;
  }
}

function over(table) {
  const winners = namesOf(table, winnersOf(table));
  if (!table.series_over) return winners ? `${winners} won game ${table.games}` : `Game ${table.games} is over`;
  if (table.games === 1) return winners ? `${winners} won` : 'Nobody won';
  return winners ? `${winners} won the series` : 'The series is over';
}

/** The rules, the game of the series, what is left to draw. */
export function about(table) {
  const parts = [table.rules];
  if (table.game > 1 || (table.games > 0 && !table.series_over)) parts.push(`game ${table.game}`);
  if (table.phase === 'play') parts.push(`${table.pool} left to draw`);
  return parts.join(' · ');
}

/** A time of the day in this browser's words. */
export const clockTime = (unix_s) => new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }).format(unix_s * 1000);
