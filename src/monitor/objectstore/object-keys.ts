/** What the name of an object tells: when it was written and how it is packed. */
import type { ObjectStoreOptions } from "../options.ts";

/** How an object is packed. */
export type Packing = "plain" | "gzip" | "zstd";

/** A name that was understood. */
export interface ObjectName {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly packing: Packing;
  /** A terminal recording, whose first line alone is read. */
  readonly recording: boolean;
}

const DAY_MS = 86_400_000;
/** Of a name, by the protocol. */
const MAX_KEY_BYTES = 1_024;
/** Back-fill goes no further than this. */
const MOST_DAYS = 14;

const STAMP = /(?:^|\/)(\d{4})-(\d{2})-(\d{2})-(\d{2})-(\d{2})-(\d{2})(?:[^\d/][^/]*)?$/;
const DATED = /(?:^|\/)(\d{4})\/(\d{2})\/(\d{2})\/(\d{2}):(\d{2}):(\d{2})(?:[^\d/][^/]*)?$/;
const RECORDED = /(?:^|\/)(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z)[^/]*$/;
const SUFFIX = /\.(ndjson|json|event|cast)?(?:\.?(zst|zstd|gz|gzip))?$/;

/** The name of an object below the prefix; undefined for one that no layout has. */
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

/** A date that does not exist, such as the 30th of February, is none. */
function validTime(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text.slice(0, 10))
    ? undefined
    : ms;
}

/**
 * Where objects from `fromMs` on lie: the days of the partitioned layout, the newest 14 at most, or
 * the prefix itself.
 */
export function prefixesOf(
  prefix: string,
  layout: ObjectStoreOptions["layout"],
  fromMs: number,
  nowMs: number,
): string[] {
  if (layout !== "partitioned") return [prefix];
  const last = Math.floor(nowMs / DAY_MS);
  const first = Math.max(Math.floor(fromMs / DAY_MS), last - MOST_DAYS + 1);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => `${prefix}${dayPath((first + index) * DAY_MS)}`,
  );
}

function dayPath(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 10).replaceAll("-", "/")}/`;
}
