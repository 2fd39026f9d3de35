import { describe, expect, it } from "vitest";
import { logStream } from "../../../src/monitor/collectors/log-stream.ts";
import type { LogStreamStatus, LogStreamType } from "../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const quiet: LogStreamStatus = {
  lastActivityMs: undefined,
  lastError: "",
  bytesSent: 0,
  entriesSent: 0,
  requests: 0,
  failedRequests: 0,
  spoofedEntries: 0,
  maxBodyRequests: 0,
};
const status = (more: Partial<LogStreamStatus>): LogStreamStatus => ({ ...quiet, ...more });

/** Answers for the network's stream; the other is not configured. */
function opened(first: LogStreamStatus) {
  let network: LogStreamStatus | (() => never) = first;
  let configuration: "none" | (() => never) = "none";
  const answer = (type: LogStreamType) => {
    const given = type === "network" ? network : configuration;
    return typeof given === "function" ? given() : given;
  };
  const harness = openCollector(logStream, createFakeProvider({ logStream: answer }));
  return {
    harness,
    setNetwork: (next: typeof network) => void (network = next),
    setConfiguration: (next: typeof configuration) => void (configuration = next),
  };
}

describe("The collector of log streams", () => {
  it("bears the collector's name and lives in its own section", () => {
    expect([logStream.name, logStream.section.name]).toEqual(["logstream", "log_stream"]);
  });

  it("counts what was added since it looked first, and all of a total that began anew", async () => {
    const { harness, setNetwork } = opened(
      status({ bytesSent: 1_000, entriesSent: 10, requests: 5, failedRequests: 2 }),
    );
    await harness.run();
    expect(harness.series()).toEqual([
      'vpn.logstream.configured{vpn.logstream.type="configuration"} 0',
      'vpn.logstream.configured{vpn.logstream.type="network"} 1',
      'vpn.logstream.error{vpn.logstream.type="network"} 0',
    ]);
    setNetwork(
      status({
        bytesSent: 1_500,
        entriesSent: 14,
        requests: 7,
        failedRequests: 2,
        spoofedEntries: 1,
        maxBodyRequests: 3,
      }),
    );
    await harness.run();
    setNetwork(
      status({
        bytesSent: 200,
        entriesSent: 1,
        requests: 8,
        failedRequests: 0,
        spoofedEntries: 1,
        maxBodyRequests: 3,
      }),
    );
    await harness.run();
    expect(harness.series().filter((line) => !/configured|error/.test(line))).toEqual([
      'vpn.logstream.bytes_sent{vpn.logstream.type="network"} 700',
      'vpn.logstream.entries_sent{vpn.logstream.type="network"} 5',
      'vpn.logstream.max_body_requests{vpn.logstream.type="network"} 3',
      'vpn.logstream.requests{vpn.logstream.type="network"} 3',
      'vpn.logstream.spoofed_entries{vpn.logstream.type="network"} 1',
    ]);
  });

  it("shows the last activity and tells the last error, until there is none", async () => {
    const { harness, setNetwork } = opened(
      status({ lastActivityMs: 1_700_000_000_000, lastError: "connection refused" }),
    );
    await harness.run();
    expect(harness.series("vpn.logstream.last_activity")).toEqual([
      'vpn.logstream.last_activity{vpn.logstream.type="network"} 1700000000',
    ]);
    expect(harness.series("vpn.logstream.error")).toEqual([
      'vpn.logstream.error{vpn.logstream.type="network"} 1',
    ]);
    expect(harness.records()).toEqual([
      'error vpn.logstream.error {"vpn.logstream.type":"network"} connection refused',
    ]);
    setNetwork(quiet);
    await harness.run();
    expect(harness.series("vpn.logstream.last_activity")).toEqual([]);
    expect(harness.records()).toEqual([]);
  });

  it("takes 404 of one type for not configured, and asks for the other when one fails", async () => {
    const { harness, setConfiguration, setNetwork } = opened(quiet);
    setNetwork(() => {
      throw failing(404);
    });
    await harness.run();
    expect(harness.series("vpn.logstream.configured")).toEqual([
      'vpn.logstream.configured{vpn.logstream.type="configuration"} 0',
      'vpn.logstream.configured{vpn.logstream.type="network"} 0',
    ]);
    expect(harness.states.get("getLogStreamingStatus.network")).toBe("disabled");
    setConfiguration(() => {
      throw failing(403);
    });
    setNetwork(quiet);
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream", rule: "forbidden" });
    expect(harness.states.get("getLogStreamingStatus.configuration")).toBe("scope_denied");
    expect(harness.series("vpn.logstream.configured")).toEqual([
      'vpn.logstream.configured{vpn.logstream.type="configuration"} 0',
      'vpn.logstream.configured{vpn.logstream.type="network"} 1',
    ]);
  });

  it("tells the first failure when both fail, and stops when it is cancelled", async () => {
    const { harness, setConfiguration, setNetwork } = opened(quiet);
    setConfiguration(() => {
      throw failing(403);
    });
    setNetwork(() => {
      throw failing(500);
    });
    await expect(harness.run()).rejects.toMatchObject({ rule: "forbidden" });
    const stop = new AbortController();
    setConfiguration(() => {
      stop.abort(new Error("stopping"));
      throw failing(500);
    });
    setNetwork(() => {
      throw new Error("asked after the end");
    });
    await expect(harness.run({ signal: stop.signal })).rejects.toThrow("stopping");
  });
});
