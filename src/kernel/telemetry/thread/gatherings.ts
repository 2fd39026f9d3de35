/**
 * Snapshots of all scopes for those who render them: one gathering for all who ask within 250 ms,
 * or one each.
 */
import type { Gathered } from "../exposition/render.ts";
import type { Ledger } from "./ledger.ts";
import type { RemoteScope } from "./remote-scope.ts";

const SHARED_MS = 250;

/** What gathering needs. */
export interface GatheringsDeps {
  readonly scopes: () => Iterable<RemoteScope>;
  readonly ledger: Ledger;
  readonly snapshotTimeoutMs: number;
}

/** All scopes at one time. */
export interface Gathering {
  readonly gathered: readonly Gathered[];
  /** Scopes that did not answer in time and are left out. */
  readonly missing: number;
  /** To be called once by everybody who got it. */
  release(): void;
}

interface Running {
  readonly result: Promise<Omit<Gathering, "release">>;
  /** How many read it, the 250 ms in which others may join among them. */
  readers: number;
}

/** Gathers on demand. */
export class Gatherings {
  readonly #deps: GatheringsDeps;
  #current: Running | undefined;

  constructor(deps: GatheringsDeps) {
    this.#deps = deps;
  }

  /** Never rejects. `coalesce`: whether one that began less than 250 ms ago will do. */
  async take(coalesce: boolean): Promise<Gathering> {
    const running = coalesce ? this.#join() : this.#begin(1);
    const result = await running.result;
    return { ...result, release: () => this.#leave(running) };
  }

  #join(): Running {
    const current = this.#current;
    if (current) {
      current.readers += 1;
      return current;
    }
    const running = this.#begin(2);
    this.#current = running;
    const timer = setTimeout(() => {
      this.#current = undefined;
      this.#leave(running);
    }, SHARED_MS);
    timer.unref();
    return running;
  }

  #begin(readers: number): Running {
    this.#deps.ledger.count("gathers");
    return { result: this.#gather(), readers };
  }

  #leave(running: Running): void {
    running.readers -= 1;
    if (running.readers > 0) return;
    void running.result.then(({ gathered }) => {
      for (const { snapshot } of gathered) snapshot.release();
    });
  }

  async #gather(): Promise<Omit<Gathering, "release">> {
    const { scopes, snapshotTimeoutMs, ledger } = this.#deps;
    let missing = 0;
    const all = await Promise.all(
      [...scopes()].map(async (scope) => ({
        scope,
        snapshot: await scope.snapshot(snapshotTimeoutMs),
      })),
    );
    const gathered = all.flatMap(({ scope, snapshot }) => {
      if (snapshot) return [{ scope, snapshot }];
      if (!scope.closed) missing += 1;
      return [];
    });
    if (missing > 0) ledger.count("snapshotsSkipped", missing);
    return { gathered, missing };
  }
}
