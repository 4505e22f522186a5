/**
 * The page's one connection to its own node: comes back by itself, and says when it is away.
 */

const DELAYS_MS = [150, 300, 600, 1200, 2500];
const ASLEEP_MS = 20_000;

export class Connection {
  #socket = null;
  #attempt = 0;
  #timer = 0;
  #hiddenSince = 0;
  #handlers;

  /** `handlers`: `message(object)`, `open()`, `lost(reason)`; reason is `away` or `locked-out`. */
  constructor(handlers) {
    this.#handlers = handlers;
    addEventListener('online', () => this.#hurry());
    addEventListener('offline', () => this.#socket?.close());
    document.addEventListener('visibilitychange', () => this.#visibility());
    this.#connect();
  }

  /** Sends a command; false when there is no connection. */
  send(message) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  #connect() {
    clearTimeout(this.#timer);
    const socket = new WebSocket(`ws://${location.host}/ws`);
    this.#socket = socket;
    socket.addEventListener('open', () => {
      this.#attempt = 0;
      this.#handlers.open();
    });
    socket.addEventListener('message', (event) => this.#handlers.message(JSON.parse(event.data)));
    socket.addEventListener('close', () => this.#closed(socket));
  }

  async #closed(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    const delay = DELAYS_MS[Math.min(this.#attempt, DELAYS_MS.length - 1)];
    this.#attempt += 1;
    this.#handlers.lost('away');
    this.#timer = setTimeout(() => this.#connect(), delay);
    // A browser does not say why a WebSocket was refused; an ordinary request does.
    if (this.#attempt % 3 === 0 && (await this.#lockedOut())) this.#handlers.lost('locked-out');
  }

  async #lockedOut() {
    try {
      return (await fetch('/static/favicon.svg', { cache: 'no-store' })).status === 403;
    } catch {
      return false;
    }
  }

  #hurry() {
    if (!this.#socket) this.#connect();
  }

  #visibility() {
    if (document.hidden) {
      this.#hiddenSince = performance.now();
    } else if (this.#socket && performance.now() - this.#hiddenSince > ASLEEP_MS) {
      // A phone that slept does not always know that its connection died: a new one brings the newest state.
      this.#socket.close();
      this.#closed(this.#socket);
      this.#hurry();
    } else {
      this.#hurry();
    }
  }
}
