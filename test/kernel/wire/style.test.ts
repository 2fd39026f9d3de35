import { describe, expect, it } from "vitest";
import {
  Health,
  HealthSchema,
  StatusSchema,
} from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { OperationStateSchema } from "../../../src/gen/steward/monitor/v1/collection_pb.ts";
import { enumTexts, schemaVersion } from "../../../src/kernel/wire/style.ts";
import { apiStates } from "../../../src/monitor/capability/operation.ts";
import { MonitorPartSchema } from "../../gen/steward/test/v1/monitor_sample_pb.ts";

describe("an enum by its text", () => {
  it("is the value that is written so", () => {
    expect(enumTexts(HealthSchema).numbers.get("degraded")).toBe(Health.DEGRADED);
  });

  it("has no text for what is unspecified, nor the names of the schema", () => {
    for (const text of ["", "unspecified", "DEGRADED", "HEALTH_DEGRADED"])
      expect(enumTexts(HealthSchema).numbers.has(text)).toBe(false);
  });

  it("has every state of an operation, from the least to the most serious", () => {
    expect([...enumTexts(OperationStateSchema).numbers.keys()]).toEqual(apiStates);
  });
});

it("a message has the version that it declares, or the first one", () => {
  expect([schemaVersion(StatusSchema), schemaVersion(MonitorPartSchema)]).toEqual([1, 1]);
});
