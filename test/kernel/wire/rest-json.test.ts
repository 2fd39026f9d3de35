import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { restMessage, writeRestJson } from "../../../src/kernel/wire/rest-json.ts";
import { StrayBodyService } from "../../gen/steward/test/v1/broken_pb.ts";
import { DedupSampleService } from "../../gen/steward/test/v1/dedup_sample_pb.ts";
import { MonitorSampleService } from "../../gen/steward/test/v1/monitor_sample_pb.ts";
import { VaultSampleService } from "../../gen/steward/test/v1/vault_sample_pb.ts";

function written<M extends DescMethod>(method: M, init: MessageInitShape<M["output"]>): string {
  return writeRestJson(method, create(method.output, init));
}

describe("the JSON of an answer over REST", () => {
  it("has lines where people read it: the admin's documents and dedup's downloads", () => {
    expect(written(MonitorSampleService.method.getMonitorSample, {})).toMatch(/^\{\n {2}"/);
    expect(written(DedupSampleService.method.exportSample, { version: "1" })).toBe(
      '{\n  "version": "1"\n}',
    );
  });

  it("is the one field that the http rule names, also where it is not set", () => {
    const { getCardinality } = StatusService.method;
    expect(
      JSON.parse(written(getCardinality, { cardinality: { schemaVersion: 1, total: 5 } })),
    ).toEqual({ schema_version: 1, available: false, total: 5, total_metrics: 0 });
    expect(JSON.parse(written(getCardinality, {}))).toMatchObject({ schema_version: 0 });
    expect([
      restMessage(getCardinality).name,
      restMessage(MonitorSampleService.method.getMonitorSample).name,
    ]).toEqual(["CardinalityInfo", "GetMonitorSampleResponse"]);
  });

  it.each([
    [StrayBodyService.method.strayBody, "no message field missing"],
    [StrayBodyService.method.textBody, "no message field text"],
  ])("cannot be made of a field that is not there or is no message", (method, named) => {
    expect(() => restMessage(method)).toThrow(named);
  });

  it("is one line elsewhere, each time", () => {
    for (let time = 0; time < 2; time += 1) {
      expect(
        written(MonitorSampleService.method.purgeMonitorSample, { purged: 3, enabled: true }),
      ).toBe('{"purged":3,"enabled":true}');
      expect(written(DedupSampleService.method.getSample, {})).not.toContain("\n");
      expect(written(VaultSampleService.method.getVaultHealth, { initialized: true })).toBe(
        '{"initialized":true,"sealed":false}',
      );
    }
  });
});
