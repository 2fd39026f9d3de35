import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createHashTable } from "../../../src/dedup/analysis/hash-table.ts";

function hashOf(number: number): Uint8Array {
  const bytes = new Uint8Array(createHash("sha256").update(`${number}`).digest());
  // Many that begin alike, so that slots collide.
  bytes.fill(0, 0, number % 3 === 0 ? 4 : 0);
  return bytes;
}

it.each([0, 10, 5_000])("numbers hashes in their order, from room for %i on", (capacity) => {
  const table = createHashTable(capacity);
  const hashes = Array.from({ length: 3_000 }, (_, number) => hashOf(number));
  expect(hashes.map((hash) => table.add(hash))).toEqual([...hashes.keys()]);
  expect(hashes.map((hash) => table.add(hash))).toEqual([...hashes.keys()]);
  expect(table.size).toBe(3_000);
  expect([hashOf(3_000), hashOf(3_001)].map((hash) => table.find(hash))).toEqual([-1, -1]);
  const all = Buffer.concat(hashes);
  expect(Buffer.compare(table.hashes, all)).toBe(0);
  expect([0, 7, 2_999].map((number) => table.find(all, number * 32))).toEqual([0, 7, 2_999]);
});
