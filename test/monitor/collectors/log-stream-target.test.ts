import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { logStream } from "../../../src/monitor/collectors/log-stream.ts";
import type { LogStreamTarget, LogStreamType } from "../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { networkOptions, openCollector } from "./harness.ts";

const URL_OF_OURS = "https://steward.example.org:8088/services/collector/event";

/** A collector that compares, and what it logs. */
function opened(streamTarget: string | undefined, targets: Map<LogStreamType, LogStreamTarget>) {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => void lines.push(line),
    now: () => 0,
  });
  const provider = createFakeProvider({
    logStream: "none",
    logStreamTarget: (type: LogStreamType) => targets.get(type) ?? "none",
  });
  const options = { ...networkOptions(), streamTarget };
  const harness = openCollector(logStream, provider, { deps: { log, options } });
  return {
    provider,
    harness,
    run: async () => {
      await harness.run();
      return lines.splice(0);
    },
  };
}

describe("The comparison of log streams with the receiver", () => {
  it("logs what to set, once, and once more when it is set", async () => {
    const targets = new Map<LogStreamType, LogStreamTarget>([
      ["configuration", { destination: "splunk", url: "https://other.example/?token=canary" }],
    ]);
    const { run } = opened(URL_OF_OURS, targets);
    const first = await run();
    expect(first).toHaveLength(2);
    expect(first[0]).toContain("the URL is another one");
    expect(first[1]).toContain("nothing is streamed");
    for (const line of first) expect(line).toContain(URL_OF_OURS);
    expect(first.join("")).not.toContain("canary");
    expect(await run()).toEqual([]);
    targets.set("network", { destination: "splunk", url: URL_OF_OURS });
    targets.set("configuration", { destination: "datadog", url: URL_OF_OURS });
    const second = await run();
    expect(second[0]).toContain('the destination is "datadog"');
    expect(second[1]).toContain("the control plane streams network flow logs to this receiver");
    targets.set("network", { destination: "s3", url: "" });
    expect(await run()).toEqual([expect.stringContaining('the destination is "s3"')]);
  });

  it("is made where no stream was ever set up, whose status stays disabled", async () => {
    const { provider, harness, run } = opened(URL_OF_OURS, new Map());
    provider.answers.logStream = () => {
      throw failing(404);
    };
    expect(await run()).toEqual([
      expect.stringContaining("does not stream configuration audit logs to this receiver"),
      expect.stringContaining("does not stream network flow logs to this receiver"),
    ]);
    expect([...harness.states.values()]).toEqual(["disabled", "disabled"]);
  });

  it("asks nothing while it is off", async () => {
    const { provider, run } = opened(undefined, new Map());
    expect(await run()).toEqual([]);
    expect(provider.calls).toEqual(["logStream configuration", "logStream network"]);
  });
});
