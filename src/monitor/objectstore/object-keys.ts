/** Parses object keys: time of writing and compression. */
import type { ObjectStoreOptions } from "../options.ts";

export type Packing = "plain" | "gzip" | "zstd";

/** A recognised key. */
export interface ObjectName {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly packing: Packing;
  /** A terminal recording; only its first line is read. */
  readonly recording: boolean;
}

const DAY_MS = 86_400_000;
/** S3's limit. */
const MAX_KEY_BYTES = 1_024;
/** Longest back-fill. */
const MAX_DAYS = 14;

const STAMP = /(?:^|\/)(\d{4})-(\d{2})-(\d{2})-(\d{2})-(\d{2})-(\d{2})(?:[^\d/][^/]*)?$/;
const DATED = /(?:^|\/)(\d{4})\/(\d{2})\/(\d{2})\/(\d{2}):(\d{2}):(\d{2})(?:[^\d/][^/]*)?$/;
const RECORDED = /(?:^|\/)(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z)[^/]*$/;
const SUFFIX = /\.(ndjson|json|event|cast)?(?:\.?(zst|zstd|gz|gzip))?$/;

/** Parses a key below the prefix; undefined when no layout matches. */
export function readName(
  key: string,
  layout: ObjectStoreOptions["layout"],
): ObjectName | undefined {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return undefined;
  const packed = packingOf(key, layout);
  const timeMs =
    layout === "recorder" ? recordedAt(key) : (stampedAt(STAMP, key) ?? stampedAt(DATED, key));
  return packed === undefined || timeMs === undefined ? undefined : { timeMs, ...packed };
}

function packingOf(
  key: string,
  layout: ObjectStoreOptions["layout"],
): Pick<ObjectName, "packing" | "recording"> | undefined {
  const [, form, packer] = SUFFIX.exec(key) ?? [];
  const packing = packer === undefined ? "plain" : packer.startsWith("z") ? "zstd" : "gzip";
  if (layout === "recorder")
    return form === "event" || form === "cast"
      ? { packing, recording: form === "cast" }
      : undefined;
  return form === "ndjson" || form === "json" || (form === undefined && packer !== undefined)
    ? { packing, recording: false }
    : undefined;
}

function stampedAt(pattern: RegExp, key: string): number | undefined {
  const parts = pattern.exec(key)?.slice(1, 7);
  return parts === undefined
    ? undefined
    : validTime(`${parts[0]}-${parts[1]}-${parts[2]}T${parts[3]}:${parts[4]}:${parts[5]}Z`);
}

function recordedAt(key: string): number | undefined {
  const text = RECORDED.exec(key)?.[1];
  return text === undefined ? undefined : validTime(text.replace(/\.(\d{3})\d*Z$/, ".$1Z"));
}

/** Undefined for dates that do not exist, such as 30 February. */
function validTime(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text.slice(0, 10))
    ? undefined
    : ms;
}

/**
 * The stable id of the recorder in keys of the layout `recorder`: `<id>/<time>.cast` for terminal
 * sessions, `<id>/events/<time>.event` for API requests. Empty when the key has none.
 */
export function recorderOf(key: string): string {
  const folders = key.split("/").slice(0, -1);
  return (folders.at(-1) === "events" ? folders.at(-2) : folders.at(-1)) ?? "";
}

/**
 * The key after which a list goes on that has come to `key`. Recordings of one recorder sort by
 * time, so those from before `fromMs` are passed over.
 */
export function continueAfter(
  key: string,
  layout: ObjectStoreOptions["layout"],
  fromMs: number,
): string {
  if (layout !== "recorder" || (recordedAt(key) ?? fromMs) >= fromMs) return key;
  const second = new Date(fromMs).toISOString().slice(0, "2026-11-20T12:00:00".length);
  const first = `${key.slice(0, key.lastIndexOf("/") + 1)}${second}`;
  return first > key ? first : key;
}

/**
 * Prefixes to list from `fromMs` on: the newest 14 days of a partitioned layout, or the prefix
 * itself.
 */
export function prefixesOf(
  prefix: string,
  layout: ObjectStoreOptions["layout"],
  fromMs: number,
  nowMs: number,
): string[] {
  if (layout !== "partitioned") return [prefix];
  const last = Math.floor(nowMs / DAY_MS);
  const first = Math.max(Math.floor(fromMs / DAY_MS), last - MAX_DAYS + 1);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => `${prefix}${dayPath((first + index) * DAY_MS)}`,
  );
}

function dayPath(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 10).replaceAll("-", "/")}/`;
}
