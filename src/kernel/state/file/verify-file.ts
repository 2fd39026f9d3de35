/**
 * Verifies a store before LMDB maps it: LMDB trusts its pages, so a damaged one appears as missing
 * rows or crashes the process. Reads every tree and compares pages, counts, key order and
 * checksums.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { StewardError } from "../../base/errors.ts";
import {
  checkOverflow,
  damaged,
  NO_PAGE,
  PAGE_HEADER,
  pageKind,
  pageTxn,
  readBranches,
  readLeaves,
  readMeta,
  readTree,
} from "./lmdb-pages.ts";
import type { Leaf, Meta, Tree } from "./lmdb-pages.ts";
import { createRowCheck } from "../codec/row-check.ts";
import type { RowCheck } from "../codec/row-check.ts";
import { METADATA_STORE } from "../table.ts";
import { Turns } from "../../async/turns.ts";

const MAX_TREE_DEPTH = 32;
/** Flags of the tree of free pages (integer keys), and of all others. */
const FREE_FLAGS = 0x4008;

/** Contents of a verified file. */
export interface FileReport {
  /** Number of entries of each sub-database. */
  readonly entries: ReadonlyMap<string, number>;
  readonly pages: number;
}

export interface VerifyOptions {
  /**
   * Default `whole`. `paths` reads only the pages that lead to rows, and the metadata rows: a tenth
   * of the time, but rows are left to their checksums, and a changed key that keeps its order is
   * not noticed.
   */
  readonly depth?: "whole" | "paths";
  /** Called with every row that is read, its checksum verified and removed. */
  readonly visit?: (store: string, key: Uint8Array, value: Uint8Array) => void;
  /** Ends it early; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with the file's contents, or throws `corrupt` naming what does not match. Yields to
 * other work as `Turns` does.
 */
export async function verifyFile(path: string, options: VerifyOptions = {}): Promise<FileReport> {
  const file = openSync(path, "r");
  try {
    return await new Walk(file, readMetas(file), options).run();
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!(error instanceof StewardError)) throw error;
    throw new StewardError("corrupt", `${path} is damaged: ${error.message}`, {
      remedy:
        "stop Steward and restore a backup (docs/recovery.md); Steward has not changed the file",
      cause: error,
    });
  } finally {
    closeSync(file);
  }
}

// Commits alternate between the two meta pages, so their numbers are consecutive; anything else
// hides a commit.
function readMetas(file: number): Meta {
  const first = readMeta(readAt(file, 0, 512));
  const second = readMeta(readAt(file, first.pageSize, 512));
  const untouched = first.txn === 0 && second.txn === 0;
  const neighbours = Math.abs(first.txn - second.txn) === 1 && first.txn % 2 === 0;
  if (!untouched && !neighbours) throw damaged("the two heads of the file contradict each other");
  if (first.version !== second.version || first.pageSize !== second.pageSize)
    throw damaged("the two heads of the file differ in format");
  return first.txn > second.txn ? first : second;
}

/** Called for each entry of a tree; without one its leaves are not read. */
type Visit = (leaf: Leaf) => void | Promise<void>;

interface Counts {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  last: Buffer | undefined;
}

class Walk {
  readonly #file: number;
  readonly #meta: Meta;
  readonly #seen: Uint8Array;
  readonly #options: VerifyOptions;
  readonly #turns = new Turns();
  #pages = 0;

  constructor(file: number, meta: Meta, options: VerifyOptions) {
    this.#file = file;
    this.#options = options;
    this.#meta = meta;
    if (meta.lastPage < 1 || meta.lastPage > 2 ** 34)
      throw damaged("the number of pages is out of range");
    this.#seen = new Uint8Array(Math.floor(meta.lastPage / 8) + 1);
  }

  async run(): Promise<FileReport> {
    if (this.#meta.free.flags !== FREE_FLAGS || this.#meta.main.flags !== 0)
      throw damaged("the file was made with other settings");
    this.#checkNewest();
    const entries = new Map<string, number>();
    await this.#tree(this.#meta.main, compareBytes, async (leaf) => {
      const name = leaf.key.toString("utf8").replace(/\0$/, "");
      if (!leaf.sub || leaf.value === undefined)
        throw damaged("the list of tables holds something else");
      const tree = readTree(leaf.value);
      if (tree.flags !== 0) throw damaged(`${name} was made with other settings`);
      const check = createRowCheck(name);
      const visit: Visit = (row) => this.#row(name, check, row);
      await this.#tree(
        tree,
        compareBytes,
        this.#options.depth === "paths" && name !== METADATA_STORE ? undefined : visit,
      );
      entries.set(name, tree.entries);
    });
    await this.#tree(this.#meta.free, compareNumbers, (leaf) => this.#freePages(leaf));
    return { entries, pages: this.#pages };
  }

  // Every commit changes a table and with it the root of the table list; an older meta page that
  // claims to be newer has an older root.
  #checkNewest(): void {
    const { main, txn, pageSize } = this.#meta;
    if (
      main.root !== NO_PAGE &&
      pageTxn(readAt(this.#file, main.root * pageSize, PAGE_HEADER)) !== txn
    )
      throw damaged("the newest head of the file does not lead to its newest state");
  }

  async #tree(tree: Tree, compare: Compare, visit: Visit | undefined): Promise<void> {
    const counts: Counts = {
      branchPages: 0,
      leafPages: 0,
      overflowPages: 0,
      entries: 0,
      last: undefined,
    };
    if (tree.root !== NO_PAGE) await this.#page(tree.root, tree.depth, { counts, compare, visit });
    else if (tree.depth !== 0) throw damaged("an empty tree has a depth");
    const counted = visit === undefined ? pageCounts : treeCounts;
    for (const key of counted) {
      if (counts[key] !== tree[key])
        throw damaged(`a tree should have ${tree[key]} ${key} and has ${counts[key]}`);
    }
  }

  async #page(
    number: number,
    depth: number,
    walk: { counts: Counts; compare: Compare; visit: Visit | undefined },
  ): Promise<void> {
    if (depth < 1 || depth > MAX_TREE_DEPTH) throw damaged("a tree is deeper than it says");
    const { counts, compare, visit } = walk;
    this.#take(number, 1);
    const page = readAt(this.#file, number * this.#meta.pageSize, this.#meta.pageSize);
    this.#pages += 1;
    if (this.#turns.over) await this.#turns.give(this.#options.signal);
    if (pageKind(page, number) === "leaf") {
      if (depth !== 1) throw damaged("a tree ends before its depth");
      counts.leafPages += 1;
      for (const leaf of readLeaves(page)) {
        if (counts.last !== undefined && compare(counts.last, leaf.key) >= 0)
          throw damaged("keys are out of order");
        counts.last = leaf.key;
        counts.entries += 1;
        counts.overflowPages += leaf.pages;
        if (leaf.pages > 0 && this.#turns.over) await this.#turns.give(this.#options.signal);
        await visit?.(leaf);
      }
      return;
    }
    counts.branchPages += 1;
    for (const [index, branch] of readBranches(page).entries()) {
      // The first entry of a branch covers everything below the second and has no key of its own.
      if (index > 0 && counts.last !== undefined && compare(counts.last, branch.key) >= 0)
        throw damaged("keys are out of order");
      if (index > 0 && visit === undefined) counts.last = branch.key;
      if (depth === 2 && visit === undefined) {
        this.#take(branch.page, 1);
        counts.leafPages += 1;
        continue;
      }
      const before = counts.entries;
      await this.#page(branch.page, depth - 1, {
        counts,
        compare,
        visit:
          index === 0 || visit === undefined ? visit : notBefore(branch.key, counts, before, walk),
      });
    }
  }

  #row(name: string, check: RowCheck, leaf: Leaf): void {
    if (leaf.sub) throw damaged(`${name} holds a tree where a row should be`);
    const value = check.open(leaf.key, this.#value(leaf));
    if (value === undefined)
      throw damaged(
        `a row of ${name} does not fit its check word (key ${leaf.key.toString("hex")})`,
      );
    this.#options.visit?.(name, leaf.key, value);
  }

  #value(leaf: Leaf): Buffer {
    if (leaf.value !== undefined) return leaf.value;
    this.#take(leaf.page, leaf.pages);
    const bytes = readAt(this.#file, leaf.page * this.#meta.pageSize, PAGE_HEADER + leaf.size);
    checkOverflow(bytes, leaf.page, leaf.pages);
    return bytes.subarray(PAGE_HEADER);
  }

  // A record is a count and that many numbers: a page, minus the length of the block that the next
  // page starts, or 0 for none.
  #freePages(leaf: Leaf): void {
    const bytes = this.#value(leaf);
    const words = Array.from({ length: Math.floor(bytes.length / 8) }, (_, index) =>
      Number(bytes.readBigInt64LE(index * 8)),
    );
    const count = words[0] ?? 0;
    if (leaf.sub || count < 0 || count >= words.length)
      throw damaged("a list of free pages is cut off");
    let block = 1;
    for (const word of words.slice(1, count + 1)) {
      if (word < 0) block = -word;
      else {
        if (word > 0) this.#take(word, block);
        block = 1;
      }
    }
  }

  #take(first: number, pages: number): void {
    if (!Number.isSafeInteger(first) || first < 2 || first + pages - 1 > this.#meta.lastPage)
      throw damaged(`page ${first} lies outside the file`);
    for (let page = first; page < first + pages; page += 1) {
      const bit = 1 << (page & 7);
      const at = Math.floor(page / 8);
      if (((this.#seen[at] ?? 0) & bit) !== 0) throw damaged(`page ${page} is used twice`);
      this.#seen[at] = (this.#seen[at] ?? 0) | bit;
    }
  }
}

const pageCounts = ["branchPages", "leafPages"] as const;
const treeCounts = [...pageCounts, "overflowPages", "entries"] as const;

type Compare = (left: Buffer, right: Buffer) => number;

const compareBytes: Compare = (left, right) => Buffer.compare(left, right);

const compareNumbers: Compare = (left, right) => {
  if (left.length !== 8 || right.length !== 8) throw damaged("a list of free pages has no number");
  return Number(left.readBigUInt64LE() - right.readBigUInt64LE());
};

function notBefore(
  bound: Buffer,
  counts: Counts,
  before: number,
  walk: { compare: Compare; visit: Visit | undefined },
): Visit {
  return (leaf) => {
    if (counts.entries === before + 1 && walk.compare(leaf.key, bound) < 0)
      throw damaged("a branch leads to the wrong keys");
    return walk.visit?.(leaf);
  };
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const read = readSync(file, bytes, 0, length, position);
  if (read < length) throw damaged("the file is shorter than its last page in use");
  return bytes;
}
