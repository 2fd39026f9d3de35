/**
 * State that a network keeps between runs of the daemon: window positions and digests seen at their
 * edges.
 */
import type { EarlyEvictions } from "./seen-set.ts";

const OVERLAP_FROM = "/overlap-from";

/**
 * Name of the mark before which the overlap of a collector's windows does not begin, because not
 * everything that was read up to there is remembered.
 */
export function overlapMark(collector: string): string {
  return `${collector}${OVERLAP_FROM}`;
}

export function isOverlapMark(name: string): boolean {
  return name.endsWith(OVERLAP_FROM);
}

/** Window positions by collector, scoped to one network. */
export interface Marks {
  /** Milliseconds since 1970; undefined before the first window. */
  get(name: string): number | undefined;
  /** Never moves back. Resolves when it is stored; rejects when storing fails. */
  set(name: string, markMs: number): Promise<void>;
  /** As `set`, but moves back too: for a mark that was stored under a wrong clock. */
  replace(name: string, markMs: number): Promise<void>;
}

/** Digests that must not count twice before they expire. */
export interface SeenDigests {
  has(digest: string): boolean;
  /**
   * They are present at once, whether or not they can be stored: what is counted is not counted
   * twice while a disk is full. Beyond the capacity those that expire first are evicted. Resolves
   * when they are stored, with all that a failed write left; rejects when storing fails.
   */
  add(digests: readonly string[], untilMs: number): Promise<void>;
  readonly size: number;
}

export interface CappedDigests extends SeenDigests {
  /** Since the set was loaded. */
  readonly evictedEarly: EarlyEvictions;
}

/** Small JSON documents by key, e.g. the object-store collector's record of its objects. */
export interface Evidence {
  get(key: string): unknown;
  /** Entries whose key begins with the prefix, in order of their keys. */
  list(prefix: string): readonly (readonly [key: string, value: unknown])[];
  /** All changes or none; an undefined value deletes. Resolves when they are stored. */
  change(changes: ReadonlyMap<string, unknown>): Promise<void>;
}

export interface NetworkMemory {
  readonly marks: Marks;
  /** Digests of replayed windows, at most `capacity` per name. */
  seen(name: string, capacity: number): CappedDigests;
  readonly evidence: Evidence;
  /** Presence of devices: kept wherever the marks are, also while evidence is in memory. */
  readonly presence: Evidence;
}
