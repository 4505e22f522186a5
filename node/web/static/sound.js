/**
 * Two short sounds, off until the player switches them on.
 */

import { Choice } from './choice.js';

export class Sound {
  #context = null;
  #choice = new Choice('sound');

  get on() {
    return this.#choice.on;
  }

  /** Switches, and plays a sample when it is on now. */
  toggle() {
    this.#choice.toggle();
    this.turn();
  }

  /** It is the own turn: two rising tones. */
  turn() {
    this.#play([523, 784]);
  }

  /** The last seconds begin: one low tone. */
  last() {
    this.#play([330]);
  }

  #play(tones) {
    if (!this.on) return;
    this.#context ??= new AudioContext();
    const context = this.#context;
    context.resume();
    tones.forEach((frequency, i) => {
      const at = context.currentTime + i * 0.14;
      const tone = new OscillatorNode(context, { frequency, type: 'sine' });
      const gain = new GainNode(context, { gain: 0 });
      gain.gain.setValueAtTime(0, at);
      gain.gain.linearRampToValueAtTime(0.18, at + 0.015);
      gain.gain.exponentialRampToValueAtTime(0.001, at + 0.22);
      tone.connect(gain).connect(context.destination);
      tone.start(at);
      tone.stop(at + 0.25);
    });
  }
}
