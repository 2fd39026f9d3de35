/** Answers to scrapes: one gathering for all who ask within 250 ms, streamed to each as fast as it reads. */
import { setImmediate } from "node:timers/promises";
import { render } from "../exposition/render.ts";
import type { Gathered } from "../exposition/render.ts";
import type { ExposeQuery, HostReply } from "../messages.ts";
import { CHUNK_CREDIT } from "../messages.ts";
import type { Ledger } from "./ledger.ts";
import type { RemoteScope } from "./remote-scope.ts";

const SHARED_MS = 250;
const MOST_SCRAPES = 16;

/** What scrapes need. */
export interface ScrapesDeps {
  readonly scopes: () => Iterable<RemoteScope>;
  readonly ledger: Ledger;
  readonly snapshotTimeoutMs: number;
  readonly post: (message: HostReply, transfer: ArrayBuffer[]) => void;
}

interface Reader {
  credit: number;
  cancelled: boolean;
  wake: (() => void) | undefined;
}

/** A gathering and how many read it, the 250 ms in which others may join among them. */
interface Gathering {
  readonly result: Promise<readonly Gathered[]>;
  readers: number;
}

/** All running scrapes. */
export class Scrapes {
  readonly #deps: ScrapesDeps;
  readonly #readers = new Map<number, Reader>();
  readonly #encoder = new TextEncoder();
  #current: Gathering | undefined;

  constructor(deps: ScrapesDeps) {
    this.#deps = deps;
  }

  get running(): number {
    return this.#readers.size;
  }

  credit(id: number): void {
    const reader = this.#readers.get(id);
    if (!reader) return;
    reader.credit += 1;
    reader.wake?.();
  }

  cancel(id: number): void {
    const reader = this.#readers.get(id);
    if (!reader) return;
    reader.cancelled = true;
    reader.wake?.();
  }

  /** Streams one answer. Never rejects. */
  async run(id: number, query: ExposeQuery): Promise<void> {
    if (this.#readers.size >= MOST_SCRAPES) return this.#end(id, `${MOST_SCRAPES} scrapes are running already`);
    const reader: Reader = { credit: CHUNK_CREDIT, cancelled: false, wake: undefined };
    this.#readers.set(id, reader);
    const gathering = this.#join();
    try {
      await this.#stream(id, reader, query, await gathering.result);
      this.#end(id, undefined);
    } catch (error) {
      this.#end(id, error instanceof Error ? error.message : String(error));
    } finally {
      this.#leave(gathering);
      this.#readers.delete(id);
    }
  }

  async #stream(id: number, reader: Reader, query: ExposeQuery, gathered: readonly Gathered[]): Promise<void> {
    const { ledger, post } = this.#deps;
    const slices = render(gathered.filter(({ scope }) => query.scopes === undefined || query.scopes.includes(scope.name)), {
      format: query.format, metrics: query.metrics,
      duplicate: (series) => ledger.count("duplicateSeries", series), conflict: (count) => ledger.count("conflictingFamilies", count),
    });
    for (const slice of slices) {
      while (reader.credit === 0 && !reader.cancelled) await new Promise<void>((resolve) => (reader.wake = resolve));
      if (reader.cancelled) return;
      reader.credit -= 1;
      const bytes = this.#encoder.encode(slice);
      post({ type: "chunk", id, bytes, failure: undefined, last: false }, [bytes.buffer]);
      await setImmediate();
    }
  }

  #end(id: number, failure: string | undefined): void {
    this.#deps.post({ type: "chunk", id, bytes: undefined, failure, last: true }, []);
  }

  #join(): Gathering {
    const current = this.#current;
    if (current) {
      current.readers += 1;
      return current;
    }
    this.#deps.ledger.count("gathers");
    const gathering: Gathering = { result: this.#gather(), readers: 2 };
    this.#current = gathering;
    const timer = setTimeout(() => {
      this.#current = undefined;
      this.#leave(gathering);
    }, SHARED_MS);
    timer.unref();
    return gathering;
  }

  #leave(gathering: Gathering): void {
    gathering.readers -= 1;
    if (gathering.readers > 0) return;
    void gathering.result.then((gathered) => {
      for (const { snapshot } of gathered) snapshot.release();
    });
  }

  /** Scopes that do not answer in time are left out. */
  async #gather(): Promise<readonly Gathered[]> {
    const { scopes, snapshotTimeoutMs, ledger } = this.#deps;
    const all = await Promise.all([...scopes()].map(async (scope) => ({ scope, snapshot: await scope.snapshot(snapshotTimeoutMs) })));
    return all.flatMap(({ scope, snapshot }) => {
      if (snapshot) return [{ scope, snapshot }];
      if (!scope.closed) ledger.count("snapshotsSkipped");
      return [];
    });
  }
}
