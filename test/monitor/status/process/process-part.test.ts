import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ConfigSummarySchema } from "../../../../src/gen/steward/monitor/v1/config_summary_pb.ts";
import type { CheckpointStoreStatus } from "../../../../src/monitor/checkpoints/open.ts";
import { createConfigPart } from "../../../../src/monitor/status/process/process-part.ts";

const inFile: CheckpointStoreStatus = {
  store: "file",
  path: "/state/checkpoints.mdb",
  reason: "it was damaged and set aside",
  trouble: "the disk is full",
  bytes: 1,
  persistAgeMs: 2,
};
const inMemory: CheckpointStoreStatus = {
  ...inFile,
  store: "memory",
  path: "",
  reason: undefined,
};

describe("the summary of the configuration", () => {
  // What is configured, which the store in effect replaces.
  const reported = create(ConfigSummarySchema, {
    checkpointStore: "file",
    checkpointPath: "/configured",
    checkpointReason: "configured",
    logLevel: "debug",
  });

  it("has the checkpoint store in effect: its kind, path and reason", () => {
    const configPart = createConfigPart();
    expect(configPart(reported, inFile, [])).toMatchObject({
      checkpointStore: "file",
      checkpointPath: "/state/checkpoints.mdb",
      checkpointReason: "it was damaged and set aside",
      logLevel: "debug",
    });
    expect(configPart(reported, inMemory, [])).toMatchObject({
      checkpointStore: "memory",
      checkpointPath: "",
      checkpointReason: "",
    });
  });

  it("is another one once the path or the reason changes, and else the same", () => {
    const configPart = createConfigPart();
    const first = configPart(reported, inFile, []);
    expect(configPart(reported, { ...inFile, bytes: 9 }, [])).toBe(first);
    expect(configPart(reported, { ...inFile, reason: "other" }, []).checkpointReason).toBe("other");
    expect(configPart(reported, { ...inFile, path: "/other" }, []).checkpointPath).toBe("/other");
  });
});
