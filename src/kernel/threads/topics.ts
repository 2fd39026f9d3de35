/**
 * Publish/subscribe by topic: listeners receive events while subscribed, each through its own short
 * queue.
 */

const MAX_QUEUE_LENGTH = 64;

interface Listener {
  readonly queue: Uint8Array[];
  wake: (() => void) | undefined;
}

export class Topics {
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #changed: (topic: string, listened: boolean) => void;
  #missed = 0;
  #closed = true;

  /**
   * `changed` is called when the first listener of a topic subscribes and when the last one leaves.
   */
  constructor(changed: (topic: string, listened: boolean) => void) {
    this.#changed = changed;
  }

  /** Events dropped for slow listeners. */
  get missed(): number {
    return this.#missed;
  }

  publish(topic: string, body: Uint8Array): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      if (listener.queue.length >= MAX_QUEUE_LENGTH) {
        listener.queue.shift();
        this.#missed += 1;
      }
      listener.queue.push(body);
      listener.wake?.();
    }
  }

  /**
   * Subscribes until the signal, `close`, or the end of the iteration; receives nothing while
   * closed.
   */
  listen(topic: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const listener: Listener = { queue: [], wake: undefined };
    const wake = (): void => listener.wake?.();
    const leave = (): void => {
      this.#leave(topic, listener);
      wake();
    };
    if (!signal.aborted && !this.#closed) this.#enter(topic, listener);
    signal.addEventListener("abort", leave, { once: true });
    const finish = (): void => {
      signal.removeEventListener("abort", leave);
      leave();
    };
    return { [Symbol.asyncIterator]: () => this.#read(topic, listener, finish) };
  }

  /** Ends every subscription. */
  close(): void {
    this.#closed = true;
    for (const listeners of this.#listeners.values())
      for (const listener of listeners) listener.wake?.();
    this.#listeners.clear();
  }

  /** Accepts subscriptions again. */
  open(): void {
    this.#closed = false;
  }

  async *#read(
    topic: string,
    listener: Listener,
    finish: () => void,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const next = listener.queue.shift();
        if (next !== undefined) yield next;
        else if (this.#listeners.get(topic)?.has(listener) !== true) return;
        else await new Promise<void>((resolve) => (listener.wake = resolve));
      }
    } finally {
      finish();
    }
  }

  #enter(topic: string, listener: Listener): void {
    const listeners = this.#listeners.get(topic) ?? new Set<Listener>();
    listeners.add(listener);
    this.#listeners.set(topic, listeners);
    if (listeners.size === 1) this.#changed(topic, true);
  }

  #leave(topic: string, listener: Listener): void {
    const listeners = this.#listeners.get(topic);
    if (listeners?.delete(listener) !== true || listeners.size > 0) return;
    this.#listeners.delete(topic);
    this.#changed(topic, false);
  }
}
