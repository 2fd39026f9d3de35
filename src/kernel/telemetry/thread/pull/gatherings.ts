/** Snapshots of all scopes for rendering: shared by requests within 250 ms, or one each. */
import type { Gathered } from "../../exposition/render.ts";
import type { Ledger } from "../ledger.ts";
import type { RemoteScope } from "../remote-scope.ts";
import { systemClock } from "../../../base/clock.ts";

const SHARED_MS = 250;

export interface GatheringsDeps {
  readonly scopes: () => Iterable<RemoteScope>;
  readonly ledger: Ledger;
  readonly snapshotTimeoutMs: number;
}

export interface Gathering {
  readonly gathered: readonly Gathered[];
  /** Scopes omitted because they did not respond in time. */
  readonly missing: number;
  /** Must be called once by every holder. */
  release(): void;
}

interface Running {
  readonly result: Promise<Omit<Gathering, "release">>;
  /** Number of readers; includes the 250 ms in which others may join. */
  readers: number;
}

export class Gatherings {
  readonly #deps: GatheringsDeps;
  #current: Running | undefined;

  constructor(deps: GatheringsDeps) {
    this.#deps = deps;
  }

  /**
   * Never rejects. `coalesce`: whether a gathering that began less than 250 ms ago may be reused.
   */
  async take(coalesce: boolean): Promise<Gathering> {
    const running = coalesce ? this.#join() : this.#begin(1);
    const result = await running.result;
    // A gathering that is reused may be older than the end of a fence.
    const gathered = result.gathered.filter(({ scope }) => scope.mayLeave);
    return { ...result, gathered, release: () => this.#leave(running) };
  }

  #join(): Running {
    const current = this.#current;
    if (current) {
      current.readers += 1;
      return current;
    }
    const running = this.#begin(2);
    this.#current = running;
    systemClock.timer(systemClock.monotonic() + SHARED_MS, () => {
      this.#current = undefined;
      this.#leave(running);
    });
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
      if (!scope.closed && scope.mayLeave) missing += 1;
      return [];
    });
    if (missing > 0) ledger.count("snapshotsSkipped", missing);
    return { gathered, missing };
  }
}
