/** Sorts many random texts, such as accessors, without holding the event loop. */
import { Turns } from "../../../kernel/async/turns.ts";

/** Characters that texts of one share begin with: of 200,000 accessors, some 50 do so alike. */
const SHARED_LENGTH = 2;

/** Texts in the order of their UTF-16 units. Each share of them is sorted at once. */
export class SortedTexts {
  readonly #shares = new Map<string, string[]>();

  add(text: string): void {
    const beginning = text.slice(0, SHARED_LENGTH);
    const share = this.#shares.get(beginning);
    if (share === undefined) this.#shares.set(beginning, [text]);
    else share.push(text);
  }

  /** The first of them, at most `limit`. Yields to other work; throws the signal's reason. */
  async take(limit: number, signal: AbortSignal): Promise<readonly string[]> {
    const turns = new Turns();
    const taken: string[] = [];
    for (const beginning of [...this.#shares.keys()].toSorted()) {
      if (taken.length >= limit) break;
      if (turns.over) await turns.give(signal);
      for (const text of this.#shares.get(beginning)?.toSorted() ?? []) taken.push(text);
    }
    if (taken.length > limit) taken.length = limit;
    return taken;
  }
}
