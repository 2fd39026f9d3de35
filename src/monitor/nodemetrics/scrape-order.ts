/** Order of the scrapes of a round, so that agents that fail keep no other from its turn. */
import type { RoundTarget } from "./targets.ts";

interface Outcome {
  /** Number of the round in which it was last scraped. */
  readonly round: number;
  readonly answered: boolean;
}

/** Targets of a round that were not scraped yet. */
export interface ScrapeQueue {
  /** Removes the next one, if possible of these: those whose last scrape failed, or the others. */
  next(first: "failed" | "others"): RoundTarget | undefined;
  readonly left: readonly RoundTarget[];
}

/** One per network. */
export class ScrapeOrder {
  #round = 0;
  readonly #last = new Map<string, Outcome>();

  /** Targets not scraped for longest come first, else in the given order. */
  begin(targets: readonly RoundTarget[]): ScrapeQueue {
    this.#round += 1;
    const instances = new Set(targets.map(({ instance }) => instance));
    for (const instance of this.#last.keys())
      if (!instances.has(instance)) this.#last.delete(instance);
    const waiting = targets.toSorted((a, b) => this.#roundOf(a) - this.#roundOf(b));
    const hasFailed = ({ instance }: RoundTarget): boolean =>
      this.#last.get(instance)?.answered === false;
    const failed = waiting.filter(hasFailed);
    const others = waiting.filter((target) => !hasFailed(target));
    return {
      next: (first) =>
        first === "failed"
          ? (failed.shift() ?? others.shift())
          : (others.shift() ?? failed.shift()),
      get left() {
        return [...others, ...failed];
      },
    };
  }

  /** Notes the outcome of a scrape of this round. */
  scraped({ instance }: RoundTarget, answered: boolean): void {
    this.#last.set(instance, { round: this.#round, answered });
  }

  #roundOf({ instance }: RoundTarget): number {
    return this.#last.get(instance)?.round ?? 0;
  }
}
