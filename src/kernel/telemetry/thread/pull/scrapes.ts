/** Streams expositions to the host, as fast as each reader reads. */
import { render } from "../../exposition/render.ts";
import type { Gathered } from "../../exposition/render.ts";
import type { ExposeQuery, HostReply } from "../../messages.ts";
import { CHUNK_CREDIT } from "../../messages.ts";
import type { Gatherings } from "./gatherings.ts";
import type { Ledger } from "../ledger.ts";
import { nextTurn } from "../../../async/turns.ts";

const MAX_SCRAPES = 16;

export interface ScrapesDeps {
  readonly gatherings: Gatherings;
  readonly ledger: Ledger;
  readonly post: (message: HostReply, transfer: ArrayBuffer[]) => void;
}

interface Reader {
  credit: number;
  cancelled: boolean;
  wake: (() => void) | undefined;
}

export class Scrapes {
  readonly #deps: ScrapesDeps;
  readonly #readers = new Map<number, Reader>();
  readonly #encoder = new TextEncoder();

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

  /** Streams one exposition. Never rejects. */
  async run(id: number, query: ExposeQuery): Promise<void> {
    if (this.#readers.size >= MAX_SCRAPES)
      return this.#end(id, `${MAX_SCRAPES} scrapes are running already`);
    const reader: Reader = { credit: CHUNK_CREDIT, cancelled: false, wake: undefined };
    this.#readers.set(id, reader);
    const gathering = await this.#deps.gatherings.take(true);
    try {
      await this.#stream(id, reader, query, gathering.gathered);
      this.#end(id, undefined);
    } catch (error) {
      this.#end(id, error instanceof Error ? error.message : String(error));
    } finally {
      gathering.release();
      this.#readers.delete(id);
    }
  }

  async #stream(
    id: number,
    reader: Reader,
    query: ExposeQuery,
    gathered: readonly Gathered[],
  ): Promise<void> {
    const { ledger, post } = this.#deps;
    const slices = render(
      gathered.filter(
        ({ scope }) => query.scopes === undefined || query.scopes.includes(scope.name),
      ),
      {
        format: query.format,
        metrics: query.metrics,
        duplicate: (series) => ledger.count("duplicateSeries", series),
        conflict: (count) => ledger.count("conflictingFamilies", count),
      },
    );
    for (const slice of slices) {
      while (reader.credit === 0 && !reader.cancelled)
        await new Promise<void>((resolve) => (reader.wake = resolve));
      if (reader.cancelled) return;
      reader.credit -= 1;
      const bytes = this.#encoder.encode(slice);
      post({ type: "chunk", id, bytes, failure: undefined, last: false }, [bytes.buffer]);
      await nextTurn();
    }
  }

  #end(id: number, failure: string | undefined): void {
    this.#deps.post({ type: "chunk", id, bytes: undefined, failure, last: true }, []);
  }
}
