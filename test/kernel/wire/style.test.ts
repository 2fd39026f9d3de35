import { describe, expect, it } from "vitest";
import { Health, HealthSchema, StatusSchema } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { OperationStateSchema } from "../../../src/gen/steward/monitor/v1/collection_pb.ts";
import { enumOf, enumTexts, schemaVersion } from "../../../src/kernel/wire/style.ts";
import { apiStates } from "../../../src/monitor/capability/operation.ts";
import { MonitorPartSchema } from "../../gen/steward/test/v1/monitor_sample_pb.ts";

describe("an enum by its text", () => {
  it("is the value that is written so", () => {
    expect(enumOf(HealthSchema, "degraded")).toBe(Health.DEGRADED);
    for (const [text, number] of enumTexts(OperationStateSchema).numbers) expect(enumOf(OperationStateSchema, text)).toBe(number);
  });

  it("stops at a text that it does not have, the unspecified one among them", () => {
    for (const text of ["", "unspecified", "DEGRADED", "HEALTH_DEGRADED"]) expect(() => enumOf(HealthSchema, text)).toThrow(`no value for ${JSON.stringify(text)}`);
  });

  it("has every state of an operation, from the least to the most serious", () => {
    expect([...enumTexts(OperationStateSchema).numbers.keys()]).toEqual(apiStates);
  });
});

it("a message has the version that it declares, or the first one", () => {
  expect([schemaVersion(StatusSchema), schemaVersion(MonitorPartSchema)]).toEqual([1, 1]);
});
