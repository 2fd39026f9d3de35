import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  DEDUP_TYPES,
  dedupTypes,
  EVENT_TYPES,
  eventTypes,
  FLOW_TYPES,
  flowTypes,
  STATUS_TYPES,
  statusTypes,
} from "../../tools/status-types.ts";

it("the types of the status that pages use are those of its messages", () => {
  expect(readFileSync(STATUS_TYPES, "utf8")).toBe(statusTypes());
});

it("the types of the events that pages use are those of their messages", () => {
  expect(readFileSync(EVENT_TYPES, "utf8")).toBe(eventTypes());
});

it("the types of the flows that commands use are those of their messages", () => {
  expect(readFileSync(FLOW_TYPES, "utf8")).toBe(flowTypes());
});

it("the types of the document API that pages use are those of its messages", () => {
  const types = dedupTypes();
  expect(readFileSync(DEDUP_TYPES, "utf8")).toBe(types);
  expect(types).toContain('readonly status: "pending" | "false_positive" | "ignored" | "deleted";');
  expect(types).toContain("readonly lastSyncAt: string | null;");
  expect(types).toContain("readonly data: readonly GroupSummary[];");
});

it("say which fields may be absent or null, and the texts of enums", () => {
  const types = statusTypes();
  expect(types).toContain("readonly checkpoint: Checkpoint | null;");
  expect(types).toContain("readonly last_error?: string;");
  expect(types).toContain('readonly health: "healthy" | "degraded" | "starting";');
  expect(types).toContain("readonly generated_at: string;");
});
