/**
 * Bounds-checked parser of the LMDB file format as lmdb 3.5.6 writes it (data format of LMDB
 * 0.9.90, 64 bit, little-endian). No byte of the file is trusted. Structures: MDB_page_header,
 * MDB_meta, MDB_db, MDB_node, MDB_ovpage of mdb.c.
 */
import { StewardError } from "../../base/errors.ts";

/** Bytes before the nodes of a page. */
export const PAGE_HEADER = 24;
/** The root of an empty tree. */
export const NO_PAGE = -1;

const NODE_HEADER = 8;
const MAGIC = 0xbeefc0de;
const FLAG_BRANCH = 1;
const FLAG_LEAF = 2;
const FLAG_OVERFLOW = 4;
const FLAG_META = 8;
const NODE_BIG = 1;
const NODE_SUB = 2;

/** Root record of a tree (MDB_db). */
export interface Tree {
  readonly pad: number;
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  readonly root: number;
}

/** A meta page: one state of the whole file. */
export interface Meta {
  readonly version: number;
  readonly pageSize: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly txn: number;
}

/** An entry of a branch page. */
export interface Branch {
  readonly key: Buffer;
  readonly page: number;
}

/** An entry of a leaf page; `page` is set when the value lies in overflow pages. */
export interface Leaf {
  readonly key: Buffer;
  readonly sub: boolean;
  readonly size: number;
  readonly value: Buffer | undefined;
  readonly page: number;
  readonly pages: number;
}

/** The error for bytes that LMDB cannot have written. */
export function damaged(what: string): StewardError {
  return new StewardError("corrupt", what);
}

/** A page number or count; larger than a safe integer means damage. */
function u64(bytes: Buffer, at: number): number {
  if (at + 8 > bytes.length) throw damaged("a record is cut off");
  const high = bytes.readUInt32LE(at + 4);
  if (high === 0xffffffff && bytes.readUInt32LE(at) === 0xffffffff) return NO_PAGE;
  if (high > 0x1fffff) throw damaged("a number is out of range");
  return high * 2 ** 32 + bytes.readUInt32LE(at);
}

export function readTree(bytes: Buffer, at = 0): Tree {
  if (at + 48 > bytes.length) throw damaged("the record of a tree is cut off");
  return {
    pad: bytes.readUInt32LE(at),
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branchPages: u64(bytes, at + 8),
    leafPages: u64(bytes, at + 16),
    overflowPages: u64(bytes, at + 24),
    entries: u64(bytes, at + 32),
    root: u64(bytes, at + 40),
  };
}

/** Parses a meta page from its first bytes. */
export function readMeta(page: Buffer): Meta {
  if (page.length < PAGE_HEADER + 144) throw damaged("the file is shorter than its head");
  if ((page.readUInt16LE(18) & FLAG_META) === 0 || page.readUInt32LE(PAGE_HEADER) !== MAGIC)
    throw damaged("the file's head is not that of a store");
  const free = readTree(page, PAGE_HEADER + 24);
  const pageSize = free.pad;
  if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0)
    throw damaged("the page size is none");
  const mapSize = u64(page, PAGE_HEADER + 16);
  if (mapSize > 2 ** 46) throw damaged("the map size is out of range");
  return {
    version: page.readUInt32LE(PAGE_HEADER + 4),
    pageSize,
    free,
    main: readTree(page, PAGE_HEADER + 72),
    lastPage: u64(page, PAGE_HEADER + 120),
    txn: u64(page, PAGE_HEADER + 128),
  };
}

/** The type of a page by its flags. */
export function pageKind(page: Buffer, number: number): "branch" | "leaf" {
  if (u64(page, 0) !== number) throw damaged(`page ${number} bears another number`);
  const flags = page.readUInt16LE(18);
  if (flags === FLAG_BRANCH) return "branch";
  if (flags === FLAG_LEAF) return "leaf";
  throw damaged(`page ${number} is neither branch nor leaf`);
}

/** The transaction that wrote a page. */
export function pageTxn(page: Buffer): number {
  return u64(page, 8);
}

/** Checks the header of a value's overflow pages. */
export function checkOverflow(head: Buffer, number: number, pages: number): void {
  if (
    u64(head, 0) !== number ||
    head.readUInt16LE(18) !== FLAG_OVERFLOW ||
    head.readUInt32LE(20) !== pages
  )
    throw damaged(`the long value on page ${number} has lost its head`);
}

/** The entries of a branch page, in order. */
export function readBranches(page: Buffer): Branch[] {
  return nodesOf(page).map((at) => {
    const key = nodeKey(page, at);
    return { key, page: page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 2 ** 32 };
  });
}

/** The entries of a leaf page, in order. */
export function readLeaves(page: Buffer): Leaf[] {
  return nodesOf(page).map((at) => {
    const flags = page.readUInt16LE(at + 4);
    if ((flags & ~(NODE_BIG | NODE_SUB)) !== 0)
      throw damaged("an entry has flags that Steward never writes");
    const key = nodeKey(page, at);
    const size = page.readUInt32LE(at);
    const start = at + NODE_HEADER + key.length;
    const sub = (flags & NODE_SUB) !== 0;
    if ((flags & NODE_BIG) !== 0) {
      const pages = u64(page, start + 16);
      if (pages < 1 || pages !== Math.floor((PAGE_HEADER - 1 + size) / page.length) + 1)
        throw damaged("a long value has the wrong number of pages");
      return { key, sub, size, value: undefined, page: u64(page, start), pages };
    }
    if (start + size > page.length) throw damaged("a value reaches over the end of its page");
    return { key, sub, size, value: page.subarray(start, start + size), page: NO_PAGE, pages: 0 };
  });
}

function nodesOf(page: Buffer): number[] {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  if (lower % 2 !== 0 || lower > upper || upper > page.length - PAGE_HEADER || lower === 0)
    throw damaged("the entries of a page have no bounds");
  const offsets: number[] = [];
  for (let index = 0; index < lower / 2; index += 1) {
    const offset = page.readUInt16LE(PAGE_HEADER + index * 2);
    if (offset < upper || offset + PAGE_HEADER + NODE_HEADER > page.length)
      throw damaged("an entry lies outside its page");
    offsets.push(offset + PAGE_HEADER);
  }
  return offsets;
}

function nodeKey(page: Buffer, at: number): Buffer {
  const length = page.readUInt16LE(at + 6);
  if (at + NODE_HEADER + length > page.length)
    throw damaged("a key reaches over the end of its page");
  return page.subarray(at + NODE_HEADER, at + NODE_HEADER + length);
}
