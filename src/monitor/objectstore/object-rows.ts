/** Reads a whole object into rows, within its limits, before any row counts. */
import { pipeline, Readable, type Transform } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { values } from "../../kernel/json/values.ts";
import type { ByteLimits } from "../options.ts";
import type { ObjectName, Packing } from "./object-keys.ts";

const MAX_WRAPPING_DEPTH = 4;

/** Value of `svc.objectstore.expansion.limit_failures`. */
export type LimitName =
  | "object_wire_bytes"
  | "object_bytes"
  | "object_records"
  | "cycle_wire_bytes"
  | "cycle_bytes"
  | "cycle_records";

/** What reading an object cost, whether it succeeded or not. */
export interface Cost {
  wireBytes: number;
  bytes: number;
  records: number;
}

/** An object rejected for a limit or for corrupt contents; retrying does not help. */
export class ObjectRefused extends Error {
  readonly limit: LimitName | undefined;

  constructor(limit: LimitName | undefined, message: string, options?: ErrorOptions) {
    super(message, options);
    this.limit = limit;
  }

  /** Whether only this cycle's limits were exceeded, so that the next one retries. */
  get deferred(): boolean {
    return this.limit?.startsWith("cycle_") === true;
  }
}

export interface Budget {
  readonly object: ByteLimits;
  /** Remaining for the cycle. */
  readonly cycle: ByteLimits;
}

const DEPTH = 64;
const ZSTD_WINDOW_LOG = 27;
const SLICE_MS = 5;
const HEAD_BYTES = 65_536;

const decoders: Readonly<Record<Exclude<Packing, "plain">, () => Transform>> = {
  gzip: () => createGunzip(),
  zstd: () =>
    createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

/**
 * `cost` is updated while reading. Throws ObjectRefused, the source's error, or the signal's
 * reason.
 */
export async function readRows(
  source: AsyncIterable<Uint8Array>,
  name: ObjectName,
  budget: Budget,
  cost: Cost,
  deps: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<unknown[]> {
  const wire = counted(
    source,
    { object: budget.object.wireBytes, cycle: budget.cycle.wireBytes },
    "wire_bytes",
    (bytes) => (cost.wireBytes += bytes),
  );
  const plain = counted(
    unpacked(wire, name.packing),
    { object: budget.object.decompressedBytes, cycle: budget.cycle.decompressedBytes },
    "bytes",
    (bytes) => (cost.bytes += bytes),
  );
  const text = name.recording ? firstLine(plain) : plain;
  const most = Math.min(budget.object.records, budget.cycle.records);
  const rows: unknown[] = [];
  try {
    const json = {
      bytes: Number.MAX_SAFE_INTEGER,
      depth: DEPTH,
      stringBytes: budget.object.decompressedBytes,
      elements: Number.MAX_SAFE_INTEGER,
    };
    for await (const batch of values(text, "concatenated", json, {
      sliceMs: SLICE_MS,
      signal: deps.signal,
      clock: deps.clock,
    })) {
      for (const value of batch) for (const row of unwrap(value)) rows.push(row);
      cost.records = rows.length;
      if (rows.length > most)
        throw new ObjectRefused(
          budget.cycle.records < budget.object.records ? "cycle_records" : "object_records",
          `more than ${most} records`,
        );
    }
  } catch (thrown) {
    if (
      thrown instanceof StewardError &&
      (thrown.code === "invalid" || thrown.code === "too_large")
    )
      throw new ObjectRefused(undefined, thrown.message, { cause: thrown });
    throw thrown;
  }
  return rows;
}

async function* counted(
  source: AsyncIterable<Uint8Array>,
  limits: { readonly object: number; readonly cycle: number },
  unit: "wire_bytes" | "bytes",
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const piece of source) {
    seen += piece.length;
    count(piece.length);
    if (seen > limits.object)
      throw new ObjectRefused(`object_${unit}`, `more than ${limits.object} bytes`);
    if (seen > limits.cycle)
      throw new ObjectRefused(
        `cycle_${unit}`,
        `more than the ${limits.cycle} bytes left of this cycle`,
      );
    yield piece;
  }
}

async function* unpacked(
  source: AsyncIterable<Uint8Array>,
  packing: Packing,
): AsyncGenerator<Uint8Array> {
  if (packing === "plain") {
    yield* source;
    return;
  }
  const decoder = decoders[packing]();
  let broken: unknown;
  pipeline(Readable.from(source, { objectMode: false }), decoder, (error) => {
    broken = error;
  });
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (thrown) {
    const error = broken ?? thrown;
    if (!isOfZlib(error)) throw error;
    throw new ObjectRefused(
      undefined,
      `it is not valid ${packing}: ${error.message} (${error.code})`,
      { cause: error },
    );
  } finally {
    decoder.destroy();
  }
}

function isOfZlib(error: unknown): error is Error & { readonly code: string } {
  if (!(error instanceof Error) || error instanceof StewardError || !("code" in error))
    return false;
  const { code } = error;
  return typeof code === "string" && /^(Z_|ZSTD_|ERR_.*(ZLIB|ZSTD|BUFFER_TOO_LARGE))/.test(code);
}

/** The header of a recording; the recorded input is not read. */
async function* firstLine(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let seen = 0;
  for await (const piece of source) {
    const end = piece.indexOf(0x0a);
    yield end === -1 ? piece : piece.subarray(0, end);
    seen += piece.length;
    if (end !== -1) return;
    if (seen > HEAD_BYTES)
      throw new ObjectRefused(undefined, `its first line is longer than ${HEAD_BYTES} bytes`);
  }
}

/**
 * Records in order, out of the usual JSON wrappings: a list, `{"logs": [...]}`, `{"event": ...}`.
 * Wrapping more than four levels deep is ignored; other values are passed through, for the decoder
 * to reject.
 */
function* unwrap(value: unknown, depth = 0): Generator {
  if (depth > MAX_WRAPPING_DEPTH) return;
  if (Array.isArray(value)) {
    for (const each of value as readonly unknown[]) yield* unwrap(each, depth + 1);
    return;
  }
  const { logs, event } =
    typeof value === "object" && value !== null
      ? (value as { readonly logs?: unknown; readonly event?: unknown })
      : {};
  if (Array.isArray(logs)) yield* unwrap(logs, depth);
  else if (typeof event === "object" && event !== null) yield* unwrap(event, depth + 1);
  else yield value;
}
