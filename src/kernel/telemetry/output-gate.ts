/**
 * Texts of exporters on their way to standard output: held until the process has said its first
 * line, then written as they come.
 */

/**
 * Held before the first line; beyond, the oldest goes, for which its exporter has long given up
 * waiting.
 */
const MAX_HELD = 16;

interface Held {
  readonly id: number;
  readonly text: string;
}

/** Keeps exporters behind the process's own first line. */
export class OutputGate {
  readonly #write: (text: string, written: () => void) => void;
  readonly #written: (id: number) => void;
  #held: Held[] | undefined = [];

  /** `write` calls back when a text was written, `written` says so to the exporter. */
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

  /** The thread that waited for these is gone. */
  forget(): void {
    if (this.#held) this.#held = [];
  }
}
