/**
 * What a network remembers between runs of the daemon: how far its windows came, and what it has
 * seen at their edges.
 */

/** How far windows came. Names are those of collectors; a network sees its own marks only. */
export interface Marks {
  /** Milliseconds since 1970; undefined before the first window. */
  get(name: string): number | undefined;
  /** Never moves back. Resolves when it is stored; rejects when it cannot be. */
  set(name: string, markMs: number): Promise<void>;
}

/** Digests that must not count twice, each until its time. */
export interface SeenDigests {
  has(digest: string): boolean;
  /**
   * Stores all or none; beyond the capacity those that end first go. Resolves when they are stored.
   */
  add(digests: readonly string[], untilMs: number): Promise<void>;
  readonly size: number;
}

/** Small JSON documents by key, e.g. what an object-store feed knows of its objects. */
export interface Evidence {
  get(key: string): unknown;
  /** Entries whose key begins with the prefix, in order of their keys. */
  list(prefix: string): readonly (readonly [key: string, value: unknown])[];
  /** All changes or none; an undefined value deletes. Resolves when they are stored. */
  change(changes: ReadonlyMap<string, unknown>): Promise<void>;
}

/** What is remembered for one network. */
export interface NetworkMemory {
  readonly marks: Marks;
  /** Digests of replayed windows under one name, at most `capacity` of them. */
  seen(name: string, capacity: number): SeenDigests;
  readonly evidence: Evidence;
}
