/**
 * Checkpoints of networks in an LMDB environment. Reads come from memory; a change counts once it
 * is stored, except of digests: what was counted is not counted again for want of space.
 */
import { create } from "@bufbuild/protobuf";
import {
  MonitorEvidenceRowSchema,
  MonitorMarkRowSchema,
  MonitorSeenRowSchema,
} from "../../gen/steward/state/v1/monitor_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Env } from "../../kernel/state/types.ts";
import { SeenSet, type EarlyEvictions, type SeenBatch } from "./seen-set.ts";
import { evidence, marks, seen, type SeenKey } from "./tables.ts";
import type { CappedDigests, Evidence, Marks, NetworkMemory } from "./types.ts";

/** Digests per row and per transaction, well below the size limits of both. */
const DIGESTS_PER_PART = 2_000;
/** Rows deleted in one transaction. */
const ROWS_PER_CHANGE = 500;

export interface EnvStoreDeps {
  readonly env: Pick<Env, "read" | "write">;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** Returns one memory per network, always the same object. Rows of other networks are kept. */
export function createEnvStore(deps: EnvStoreDeps): (network: string) => NetworkMemory {
  const networks = new Map<string, NetworkMemory>();
  return (network) => {
    const known = networks.get(network) ?? {
      marks: envMarks(deps, network),
      seen: envSeen(deps, network),
      evidence: envEvidence(deps, network),
      presence: envEvidence(deps, network),
    };
    networks.set(network, known);
    return known;
  };
}

function envMarks({ env }: EnvStoreDeps, network: string): Marks {
  const known = new Map(
    env.read((view) =>
      [...view.range(marks, { prefix: [network] })].map(
        ([[, name], { markMs }]) => [name, markMs] as const,
      ),
    ),
  );
  const write = (name: string, markMs: number): Promise<void> =>
    env.write((tx) => tx.put(marks, [network, name], create(MonitorMarkRowSchema, { markMs })));
  return {
    get: (name) => known.get(name),
    async set(name, markMs) {
      if (markMs <= (known.get(name) ?? 0)) return;
      await write(name, markMs);
      known.set(name, Math.max(markMs, known.get(name) ?? 0));
    },
    async replace(name, markMs) {
      await write(name, markMs);
      known.set(name, markMs);
    },
  };
}

function envSeen(deps: EnvStoreDeps, network: string): NetworkMemory["seen"] {
  const sets = new Map<string, CappedDigests>();
  return (name, capacity) => {
    const known = sets.get(name) ?? new StoredDigests(deps, [network, name], capacity);
    sets.set(name, known);
    return known;
  };
}

/** Digests stored under one name. */
class StoredDigests implements CappedDigests {
  readonly #deps: EnvStoreDeps;
  readonly #owner: readonly [network: string, name: string];
  readonly #set: SeenSet;
  /** Present, but not stored: a write failed. Stored with the next digests. */
  #unstored: SeenBatch[] = [];
  #nextNumber = 0;

  constructor(
    deps: EnvStoreDeps,
    owner: readonly [network: string, name: string],
    capacity: number,
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#set = new SeenSet(capacity);
    const broken = this.#load();
    const gone = this.#set.trim(deps.clock.now());
    if (broken.length + gone.length > 0) this.#forget([...broken, ...gone]);
  }

  get size(): number {
    return this.#set.size;
  }

  get evictedEarly(): EarlyEvictions {
    return this.#set.evictedEarly;
  }

  has(digest: string): boolean {
    return this.#set.has(digest);
  }

  async add(digests: readonly string[], untilMs: number): Promise<void> {
    if (digests.length === 0) return;
    const batch: SeenBatch = {
      untilMs: Math.max(0, Math.floor(untilMs)),
      number: this.#nextNumber,
      digests: [...digests],
      parts: Math.ceil(digests.length / DIGESTS_PER_PART),
    };
    this.#nextNumber += 1;
    this.#set.add(batch);
    const gone = this.#set.trim(this.#deps.clock.now());
    this.#forget(gone);
    const left = new Set(gone.map(({ number }) => number));
    this.#unstored = [...this.#unstored, batch].filter(({ number }) => !left.has(number));
    for (const each of this.#unstored) {
      await this.#store(each);
      this.#unstored = this.#unstored.filter((other) => other !== each);
    }
  }

  async #store(batch: SeenBatch): Promise<void> {
    for (let part = 0; part < batch.parts; part += 1) {
      const row = create(MonitorSeenRowSchema, {
        digests: batch.digests.slice(part * DIGESTS_PER_PART, (part + 1) * DIGESTS_PER_PART),
        parts: part === batch.parts - 1 ? batch.parts : 0,
      });
      await this.#deps.env.write((tx) => tx.put(seen, this.#key(batch, part), row));
    }
  }

  /** Loads stored digests; returns batches that a crash left incomplete. */
  #load(): SeenBatch[] {
    const batches = new Map<
      string,
      { untilMs: number; number: number; digests: string[]; parts: number; whole: boolean }
    >();
    this.#deps.env.read((view) => {
      for (const [[, , untilMs, number, part], row] of view.range(seen, { prefix: this.#owner })) {
        const id = `${untilMs}/${number}`;
        const batch = batches.get(id) ?? { untilMs, number, digests: [], parts: 0, whole: false };
        batch.digests.push(...row.digests);
        batch.parts = part + 1;
        batch.whole = row.parts === batch.parts;
        batches.set(id, batch);
        this.#nextNumber = Math.max(this.#nextNumber, number + 1);
      }
    });
    for (const batch of batches.values()) if (batch.whole) this.#set.add(batch);
    return [...batches.values()].filter(({ whole }) => !whole);
  }

  /** Deletes rows in the background; a row that stays by mistake is trimmed at the next start. */
  #forget(batches: readonly SeenBatch[]): void {
    const keys = batches.flatMap((batch) =>
      Array.from({ length: batch.parts }, (_, part) => this.#key(batch, part)),
    );
    const { env, log } = this.#deps;
    const forget = async (): Promise<void> => {
      for (let from = 0; from < keys.length; from += ROWS_PER_CHANGE)
        await env.write((tx) =>
          keys.slice(from, from + ROWS_PER_CHANGE).forEach((key) => tx.delete(seen, key)),
        );
    };
    void forget().catch((error: unknown) => log.debug("cannot delete expired digests", { error }));
  }

  #key({ untilMs, number }: SeenBatch, part: number): SeenKey {
    return [...this.#owner, untilMs, number, part];
  }
}

function envEvidence({ env }: EnvStoreDeps, network: string): Evidence {
  return {
    get: (key) => env.read((view) => readJson(view.get(evidence, [network, key])?.json)),
    list: (prefix) =>
      env.read((view) => {
        const found: [string, unknown][] = [];
        for (const [[, key], row] of view.range(evidence, {
          prefix: [network],
          start: [network, prefix],
        })) {
          if (!key.startsWith(prefix)) break;
          found.push([key, readJson(row.json)]);
        }
        return found;
      }),
    change: (changes) =>
      env.write((tx) => {
        for (const [key, value] of changes) {
          if (value === undefined) tx.delete(evidence, [network, key]);
          else
            tx.put(
              evidence,
              [network, key],
              create(MonitorEvidenceRowSchema, { json: JSON.stringify(value) }),
            );
        }
      }),
  };
}

function readJson(json: string | undefined): unknown {
  return json === undefined ? undefined : JSON.parse(json);
}
