import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { writeRestJson } from "../../../src/kernel/wire/rest-json.ts";
import { DedupSampleService } from "../../gen/steward/test/v1/dedup_sample_pb.ts";
import { MonitorSampleService } from "../../gen/steward/test/v1/monitor_sample_pb.ts";
import { VaultSampleService } from "../../gen/steward/test/v1/vault_sample_pb.ts";

function written<M extends DescMethod>(method: M, init: MessageInitShape<M["output"]>): string {
  return writeRestJson(method, create(method.output, init));
}

describe("the JSON of an answer over REST", () => {
  it("has lines where people read it: the admin's documents and dedup's downloads", () => {
    expect(written(MonitorSampleService.method.getMonitorSample, {})).toMatch(/^\{\n {2}"/);
    expect(written(DedupSampleService.method.exportSample, { version: "1" })).toBe('{\n  "version": "1"\n}');
  });

  it("is one line elsewhere, each time", () => {
    for (let time = 0; time < 2; time += 1) {
      expect(written(MonitorSampleService.method.purgeMonitorSample, { purged: 3, enabled: true })).toBe('{"purged":3,"enabled":true}');
      expect(written(DedupSampleService.method.getSample, {})).not.toContain("\n");
      expect(written(VaultSampleService.method.getVaultHealth, { initialized: true })).toBe('{"initialized":true,"sealed":false}');
    }
  });
});
