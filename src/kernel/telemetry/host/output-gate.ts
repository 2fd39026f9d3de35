/** Holds back exporter output on standard output until the process has written its first line. */

/**
 * Maximum number of texts held; beyond it the oldest is dropped, whose exporter has timed out long
 * ago.
 */
const MAX_HELD = 16;

interface Held {
  readonly id: number;
  readonly text: string;
}

export class OutputGate {
  readonly #write: (text: string, written: () => void) => void;
  readonly #written: (id: number) => void;
  #held: Held[] | undefined = [];

  /** `write` calls back when a text was written, `written` reports it to the exporter. */
  constructor(write: (text: string, written: () => void) => void, written: (id: number) => void) {
    this.#write = write;
    this.#written = written;
  }

  take(id: number, text: string): void {
    if (this.#held) this.#held = [...this.#held, { id, text }].slice(-MAX_HELD);
    else this.#write(text, () => this.#written(id));
  }

  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { id, text } of held) this.take(id, text);
  }

  /** Drops texts of a thread that is gone. */
  forget(): void {
    if (this.#held) this.#held = [];
  }
}
