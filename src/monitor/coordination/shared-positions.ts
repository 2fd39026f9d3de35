/**
 * Read positions that replicas share: how far logs and buckets have been read, so that the next
 * holder of the lease goes on there instead of where it was itself when it last held it. Everything
 * else that is remembered stays each replica's own.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import {
  isOverlapMark,
  overlapMark,
  type Evidence,
  type Marks,
  type NetworkMemory,
} from "../checkpoints/types.ts";

/** Topic of the positions, from the monitor to the election. */
export const POSITIONS_TOPIC = "positions";
/** Changes within this time are published together. */
const GATHER_MS = 500;
/** More are of configurations that are gone. */
const MAX_NAMES = 256;
/**
 * A bucket's feed keeps its position, up to where its lists were complete, and its unfinished lists
 * and their start under these names.
 */
const CURSOR = "/cursor";
const COMPLETE = "/complete";
const ALL_LISTS = "/scan";
const LISTS = ["/scan-from", "/scan-began", "/scan/"] as const;

const MARK = "mark/";

type Positions = Map<string, number>;

export interface SharedPositions {
  /** The network's memory, with the later of its own and the shared positions. */
  of(network: string, own: NetworkMemory): NetworkMemory;
  /** Publishes what has changed. */
  flush(): void;
}

/** `given`: what the last holder published; anything else than that counts as nothing. */
export function createSharedPositions(
  clock: Clock,
  given: string | undefined,
  publish: (text: string) => void,
): SharedPositions {
  const networks = readPositions(given);
  let timer: Disposable | undefined;

  const flush = (): void => {
    if (timer === undefined) return;
    timer[Symbol.dispose]();
    timer = undefined;
    publish(
      JSON.stringify(
        Object.fromEntries([...networks].map(([name, all]) => [name, Object.fromEntries(all)])),
      ),
    );
  };
  return {
    of(network, own) {
      const known = networks.get(network) ?? new Map<string, number>();
      networks.set(network, known);
      const replace = (name: string, ms: number): void => {
        known.delete(name);
        known.set(name, ms);
        const [oldest] = known.keys();
        if (known.size > MAX_NAMES && oldest !== undefined) known.delete(oldest);
        timer ??= clock.timer(clock.monotonic() + GATHER_MS, flush);
      };
      const advance = (name: string, ms: number): void => {
        if (ms > (known.get(name) ?? 0)) replace(name, ms);
      };
      return {
        ...own,
        seen: (name, capacity) => own.seen(name, capacity),
        marks: sharedMarks(own.marks, known, { advance, replace }),
        evidence: sharedEvidence(own.evidence, known, advance),
      };
    },
    flush,
  };
}

type Change = (name: string, ms: number) => void;

function sharedMarks(
  own: Marks,
  known: Positions,
  { advance, replace }: { readonly advance: Change; readonly replace: Change },
): Marks {
  const overlapsFrom = takenOver(own, known);
  return {
    get: (name) =>
      overlapsFrom.has(name)
        ? later(own.get(name), overlapsFrom.get(name))
        : later(own.get(name), known.get(`${MARK}${name}`)),
    async set(name, markMs) {
      const overlapFromMs = overlapsFrom.get(overlapMark(name));
      if (overlapFromMs !== undefined) await own.set(overlapMark(name), overlapFromMs);
      await own.set(name, markMs);
      if (!isOverlapMark(name)) advance(`${MARK}${name}`, markMs);
    },
    async replace(name, markMs) {
      await own.replace(name, markMs);
      if (isOverlapMark(name)) overlapsFrom.delete(name);
      else replace(`${MARK}${name}`, markMs);
    },
  };
}

/**
 * Overlap marks of logs that another replica read further than this one, which remembers none of
 * those records.
 */
function takenOver(own: Marks, known: Positions): Map<string, number> {
  const marks = [...known]
    .filter(([name]) => name.startsWith(MARK))
    .map(([name, ms]) => [name.slice(MARK.length), ms] as const);
  return new Map(
    marks
      .filter(([name, ms]) => ms > (own.get(name) ?? 0))
      .map(([name, ms]) => [overlapMark(name), ms]),
  );
}

function sharedEvidence(own: Evidence, known: Positions, advance: Change): Evidence {
  /** Whether another replica read the feed further than this one. */
  const passed = (feed: string): boolean => {
    const cursor = own.get(`${feed}${CURSOR}`);
    return (known.get(`${feed}${CURSOR}`) ?? 0) > (typeof cursor === "number" ? cursor : 0);
  };
  const isPassedList = (key: string): boolean =>
    LISTS.some((name) => key.includes(name) && passed(key.slice(0, key.indexOf(name))));
  /** Own lists that would come back once the own position has caught up. */
  const obsoleteLists = (changed: Iterable<string>): [string, undefined][] =>
    [...changed]
      .filter((key) => key.endsWith(CURSOR))
      .map((key) => key.slice(0, -CURSOR.length))
      .filter((feed) => passed(feed))
      .flatMap((feed) => own.list(`${feed}${ALL_LISTS}`).map(([key]) => [key, undefined]));
  return {
    get(key) {
      if (isPassedList(key)) return undefined;
      if (key.endsWith(COMPLETE) && passed(key.slice(0, -COMPLETE.length))) return known.get(key);
      const value = own.get(key);
      return isPosition(key)
        ? later(typeof value === "number" ? value : undefined, known.get(key))
        : value;
    },
    list: (prefix) => (isPassedList(prefix) ? [] : own.list(prefix)),
    async change(changes) {
      await own.change(new Map([...obsoleteLists(changes.keys()), ...changes]));
      for (const [key, value] of changes)
        if (isPosition(key) && typeof value === "number") advance(key, value);
    },
  };
}

function isPosition(key: string): boolean {
  return key.endsWith(CURSOR) || key.endsWith(COMPLETE);
}

function later(own: number | undefined, shared: number | undefined): number | undefined {
  return own === undefined || shared === undefined ? (own ?? shared) : Math.max(own, shared);
}

function readPositions(text: string | undefined): Map<string, Positions> {
  const networks = new Map<string, Positions>();
  for (const [network, all] of entriesOf(parse(text ?? "")))
    networks.set(
      network,
      new Map(
        entriesOf(all).flatMap(([name, ms]) =>
          typeof ms === "number" && Number.isFinite(ms) ? [[name, ms]] : [],
        ),
      ),
    );
  return networks;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}
