import { expect, it } from "vitest";
import { CrossDedup } from "../../../src/monitor/ingest/cross-dedup.ts";

const change = { verb: "create", subject: "node", id: "n1", timeMs: 5_200 };

it("the second source that reports a change within its second does not count", () => {
  const dedup = new CrossDedup();
  expect(dedup.isNew("webhook", change)).toBe(true);
  expect(dedup.isNew("audit", { ...change, timeMs: 5_900 })).toBe(false);
  expect(dedup.isNew("audit", { ...change, timeMs: 6_000 })).toBe(true);
  expect(dedup.isNew("webhook", { ...change, timeMs: 6_999 })).toBe(false);
  expect(dedup.status()).toMatchObject({
    name: "webhook_cross",
    size: 2,
    hits: 2,
    capacity: 4_096,
  });
});

it("changes that differ, or that one source reports twice, count", () => {
  const dedup = new CrossDedup();
  expect(dedup.isNew("audit", change)).toBe(true);
  expect(dedup.isNew("audit", change)).toBe(true);
  for (const other of [
    { ...change, verb: "delete" },
    { ...change, subject: "user" },
    { ...change, id: "n2" },
  ])
    expect(dedup.isNew("webhook", other)).toBe(true);
});

it("a change without verb, subject, id or time is never taken for another", () => {
  const dedup = new CrossDedup();
  for (const part of [{ verb: "" }, { subject: "" }, { id: "" }, { timeMs: undefined }]) {
    expect(dedup.isNew("audit", { ...change, ...part })).toBe(true);
    expect(dedup.isNew("webhook", { ...change, ...part })).toBe(true);
  }
});
