/**
 * The bodies on disk: appended whole or not at all, read in the order of acceptance, removed once
 * they count. Sizes are kept in memory.
 */
import { create } from "@bufbuild/protobuf";
import { createHash } from "node:crypto";
import {
  IngressEntryRowSchema,
  type IngressEntryRow,
} from "../../gen/steward/state/v1/ingress_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { Turns } from "../../kernel/async/turns.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { IngressOptions } from "./options.ts";
import { bodies, entries } from "./tables.ts";

/** Two fit into a change, with its row. */
const PART_BYTES = 512 * 1024;
/** Entries removed in one change. */
const REMOVED_AT_ONCE = 64;
/** Parts swept in one change. */
const SWEPT_AT_ONCE = 256;
/** Hashed without a look at the clock: below a millisecond. */
const HASHED_AT_ONCE = 1024 * 1024;
const SCAN = { sliceMs: 5 };

/** What a receiver hands over. */
export interface Received {
  /** The configured name of the network. */
  readonly network: string;
  readonly source: "stream" | "webhook";
  /** As the receiver validated it: after decompression. */
  readonly body: Buffer;
  /** Milliseconds since 1970. */
  readonly acceptedMs: number;
}

/** A body on disk that has not counted yet. */
export interface Entry extends Omit<Received, "body"> {
  /** Its place in the order of acceptance. */
  readonly number: number;
  readonly bytes: number;
}

/** What is on disk. */
export interface JournalSize {
  readonly entries: number;
  readonly bytes: number;
  /** Bodies that an interrupted append left without an entry, until they are swept. */
  readonly orphans: number;
  readonly orphanBytes: number;
}

type Limits = Pick<IngressOptions, "maxBytes" | "maxEntries">;
type Stored = Entry & Pick<IngressEntryRow, "body" | "parts"> & { readonly digest: string };

/** The journal in an open environment. */
export class Journal {
  readonly #env: Pick<Env, "read" | "write" | "scan">;
  readonly #limits: Limits;
  /** In the order of acceptance. */
  readonly #entries = new Map<number, Stored>();
  /** By digest: entries, and appends under way. */
  readonly #known = new Map<string, Promise<unknown>>();
  readonly #orphans = new Map<number, { parts: number; bytes: number }>();
  #nextEntry = 0;
  #nextBody = 0;
  #bytes = 0;
  #orphanBytes = 0;
  /** Appends under way. */
  #coming = { entries: 0, bytes: 0 };

  private constructor(env: Pick<Env, "read" | "write" | "scan">, limits: Limits) {
    this.#env = env;
    this.#limits = limits;
  }

  /** Reads the entries, and finds bodies without one. Throws `corrupt`, or the signal's reason. */
  static async open(
    env: Pick<Env, "read" | "write" | "scan">,
    limits: Limits,
    signal: AbortSignal,
  ): Promise<Journal> {
    const journal = new Journal(env, limits);
    const whole = new Map<number, number>();
    await env.scan(
      entries,
      (batch) => {
        for (const [number, row] of batch) {
          journal.#add(storedOf(number, row));
          whole.set(row.body, row.parts);
        }
      },
      { ...SCAN, signal },
    );
    await env.scan(
      bodies,
      (batch) => {
        for (const [[body, part], bytes] of batch) journal.#found(whole, { body, part }, bytes);
      },
      { ...SCAN, signal },
    );
    for (const [body, parts] of whole)
      if (parts > 0)
        throw new StewardError("corrupt", `the ingress log lacks ${parts} parts of body ${body}`);
    return journal;
  }

  size(): JournalSize {
    return {
      entries: this.#entries.size,
      bytes: this.#bytes,
      orphans: this.#orphans.size,
      orphanBytes: this.#orphanBytes,
    };
  }

  /** In the order of acceptance. Valid until the next change. */
  entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** Whether a body of this size would be taken. */
  hasRoom(bytes: number): boolean {
    const { maxEntries, maxBytes } = this.#limits;
    return (
      this.#entries.size + this.#orphans.size + this.#coming.entries < maxEntries &&
      this.#bytes + this.#orphanBytes + this.#coming.bytes + bytes <= maxBytes
    );
  }

  /**
   * Resolves when the body is durable, with its entry, or with undefined when an equal one is there
   * already. Throws `exhausted` without room, else as `Env.write` does; nothing of it is then an
   * entry.
   */
  async append(received: Received): Promise<Entry | undefined> {
    const digest = await digestOf(received);
    const known = this.#known.get(digest);
    if (known !== undefined) {
      await known;
      return undefined;
    }
    const bytes = received.body.length;
    if (!this.hasRoom(bytes))
      throw new StewardError("exhausted", "the ingress log is full", {
        remedy: "let what it holds be exported, or raise ingress_wal.max_bytes and max_entries",
      });
    this.#coming.entries += 1;
    this.#coming.bytes += bytes;
    const storing = this.#store(received, digest);
    this.#known.set(digest, storing);
    try {
      return await storing;
    } catch (error) {
      this.#known.delete(digest);
      throw error;
    } finally {
      this.#coming.entries -= 1;
      this.#coming.bytes -= bytes;
    }
  }

  /** Throws `corrupt` for a part that is damaged or missing. */
  body(number: number): Buffer {
    const entry = this.#entries.get(number);
    if (entry === undefined)
      throw new StewardError("not_found", `the ingress log has no entry ${number}`);
    return Buffer.concat(
      Array.from({ length: entry.parts }, (_, part) => {
        const bytes = this.#env.read((view) => view.get(bodies, [entry.body, part]));
        if (bytes === undefined)
          throw new StewardError("corrupt", `the ingress log lacks a part of body ${entry.body}`);
        return bytes;
      }),
      entry.bytes,
    );
  }

  /** Removes entries that count. Resolves when none of them can come back. */
  async remove(numbers: readonly number[]): Promise<void> {
    for (let from = 0; from < numbers.length; from += REMOVED_AT_ONCE) {
      const some = numbers
        .slice(from, from + REMOVED_AT_ONCE)
        .flatMap((number) => this.#entries.get(number) ?? []);
      await this.#env.write((tx) => {
        for (const { number, body, parts } of some) {
          tx.delete(entries, number);
          for (let part = 0; part < parts; part += 1) tx.delete(bodies, [body, part]);
        }
      });
      for (const entry of some) this.#forget(entry);
    }
  }

  /** Removes what interrupted appends left. */
  async sweep(): Promise<void> {
    for (const [body, { parts, bytes }] of this.#orphans) {
      for (let from = 0; from < parts; from += SWEPT_AT_ONCE)
        await this.#env.write((tx) => {
          for (let part = from; part < Math.min(parts, from + SWEPT_AT_ONCE); part += 1)
            tx.delete(bodies, [body, part]);
        });
      this.#orphans.delete(body);
      this.#orphanBytes -= bytes;
    }
  }

  async #store(received: Received, digest: string): Promise<Entry> {
    const { body: bytes, ...facts } = received;
    const body = this.#nextBody;
    this.#nextBody += 1;
    const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
    const part = (index: number): Uint8Array =>
      bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES);
    try {
      for (let index = 0; index < parts - 1; index += 1)
        await this.#env.write((tx) => tx.put(bodies, [body, index], part(index)));
      // The entry comes with the last part, and its number then: entries are in the order in which
      // they became durable.
      const stored = await this.#env.write((tx) => {
        const number = this.#nextEntry;
        this.#nextEntry += 1;
        const entry = { ...facts, number, body, parts, bytes: bytes.length, digest };
        tx.put(bodies, [body, parts - 1], part(parts - 1));
        tx.put(entries, number, rowOf(entry));
        return entry;
      });
      this.#add(stored);
      return stored;
    } catch (error) {
      if (parts > 1) {
        this.#orphans.set(body, { parts, bytes: bytes.length });
        this.#orphanBytes += bytes.length;
      }
      throw error;
    }
  }

  #add(entry: Stored): void {
    this.#entries.set(entry.number, entry);
    if (!this.#known.has(entry.digest)) this.#known.set(entry.digest, Promise.resolve());
    this.#bytes += entry.bytes;
    this.#nextEntry = Math.max(this.#nextEntry, entry.number + 1);
    this.#nextBody = Math.max(this.#nextBody, entry.body + 1);
  }

  #forget(entry: Stored): void {
    if (!this.#entries.delete(entry.number)) return;
    this.#known.delete(entry.digest);
    this.#bytes -= entry.bytes;
  }

  /** Counts down the parts that the entries name; others are orphans. */
  #found(
    whole: Map<number, number>,
    { body, part }: { readonly body: number; readonly part: number },
    bytes: Uint8Array,
  ): void {
    this.#nextBody = Math.max(this.#nextBody, body + 1);
    const missing = whole.get(body);
    if (missing !== undefined) return void whole.set(body, missing - 1);
    const orphan = this.#orphans.get(body) ?? { parts: 0, bytes: 0 };
    orphan.parts = Math.max(orphan.parts, part + 1);
    orphan.bytes += bytes.length;
    this.#orphans.set(body, orphan);
    this.#orphanBytes += bytes.length;
  }
}

async function digestOf({ network, source, body }: Received): Promise<string> {
  const hash = createHash("sha256");
  for (const field of [network, source]) {
    const text = Buffer.from(field);
    hash.update(Buffer.from(`${text.length}:`)).update(text);
  }
  const turns = new Turns();
  for (let from = 0; from < body.length; from += HASHED_AT_ONCE) {
    if (turns.over) await turns.give();
    hash.update(body.subarray(from, from + HASHED_AT_ONCE));
  }
  return hash.digest("hex");
}

function rowOf({ digest, ...entry }: Stored): IngressEntryRow {
  const { body, parts, bytes, network, source, acceptedMs } = entry;
  return create(IngressEntryRowSchema, {
    body,
    parts,
    bytes,
    network,
    source,
    acceptedMs,
    digest: Buffer.from(digest, "hex"),
  });
}

function storedOf(number: number, row: IngressEntryRow): Stored {
  const { body, parts, bytes, network, source, acceptedMs, digest } = row;
  if (source !== "stream" && source !== "webhook")
    throw new StewardError(
      "unsupported",
      `the ingress log has an entry of the source ${JSON.stringify(source)}, which this Steward does not know`,
      { remedy: "run the Steward that wrote it until its ingress log is empty" },
    );
  return {
    number,
    body,
    parts,
    bytes,
    network,
    source,
    acceptedMs,
    digest: Buffer.from(digest).toString("hex"),
  };
}
