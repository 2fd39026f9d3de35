import { describe, expect, it } from "vitest";
import { Signal } from "../../../src/gen/steward/monitor/v1/export_pb.ts";
import { Health } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import type { CollectorStatus } from "../../../src/monitor/runner/collector-runner.ts";
import {
  evaluateHealth,
  type HealthInputs,
  type NetworkHealthInputs,
} from "../../../src/monitor/status/health.ts";

const good: NonNullable<CollectorStatus["last"]> = {
  startedMs: 0,
  finishedMs: 1,
  tookMs: 1,
  error: undefined,
};

function collector(name: string, more: Partial<CollectorStatus> = {}): CollectorStatus {
  return {
    name,
    description: "",
    intervalMs: 60_000,
    runs: 1,
    failures: 0,
    consecutiveFailures: 0,
    last: good,
    lastSuccessMs: 1,
    recent: [],
    nextRunInMs: 0,
    overdue: false,
    freshnessMs: 0,
    freshness: "ok",
    checkpoint: undefined,
    ...more,
  };
}

const network = (
  collectors: readonly CollectorStatus[],
  more: Partial<NetworkHealthInputs> = {},
): NetworkHealthInputs => ({ name: "home", prefix: "", failure: undefined, collectors, ...more });
const evaluated = (facts: Partial<HealthInputs>) =>
  evaluateHealth({ process: [], checkpoints: undefined, delivery: [], networks: [], ...facts });
const verdict = (facts: Partial<HealthInputs>) => {
  const { health, problems } = evaluated(facts);
  return { health, reasons: problems.map(({ reason }) => reason) };
};
const of = (part: string, reason: string) => ({ part, reason, remedy: "", link: "" });

describe("the verdict", () => {
  it("is healthy when nothing is wrong, and when nothing is there", () => {
    expect(verdict({})).toEqual({ health: Health.HEALTHY, reasons: [] });
    expect(verdict({ networks: [network([collector("devices")])] })).toEqual({
      health: Health.HEALTHY,
      reasons: [],
    });
  });

  it("is starting while a collector has not finished a run, also a single one", () => {
    const waiting = { last: undefined, runs: 0, freshness: "none" } as const;
    expect(
      verdict({
        networks: [
          network([collector("devices"), collector("users", waiting), collector("acl", waiting)]),
        ],
      }),
    ).toEqual({ health: Health.STARTING, reasons: ["waiting for first run: users, acl"] });
    expect(
      verdict({ networks: [network([collector("users", waiting)], { prefix: "east/" })] }).reasons,
    ).toEqual(["waiting for first run: east/users"]);
  });

  it("is degraded by the first failure, and does not say then what it waits for", () => {
    const failed = { last: { ...good, error: "why" } };
    expect(
      verdict({
        networks: [
          network([
            collector("devices", { ...failed, consecutiveFailures: 2 }),
            collector("users", { last: undefined }),
          ]),
        ],
      }),
    ).toEqual({ health: Health.DEGRADED, reasons: ['collector "devices": last run failed'] });
    expect(
      verdict({
        networks: [network([collector("devices", { ...failed, consecutiveFailures: 3 })])],
      }).reasons,
    ).toEqual(['collector "devices": 3 consecutive failures']);
  });

  it("gives a cause that several collectors share once, and other causes apart", () => {
    const refused = "the connection failed: ECONNREFUSED 127.0.0.1:8081 (http://127.0.0.1:8081)";
    const failing = (name: string, cause: string, consecutiveFailures = 1) =>
      collector(name, {
        last: { ...good, error: `${name}: ${cause}`, cause },
        consecutiveFailures,
      });
    const names = ["acl", "contacts", "devices", "dns", "users"];
    expect(
      verdict({
        networks: [
          network([
            ...names.map((name) => failing(name, refused)),
            failing(
              "keys",
              "the credential lacks the permission (status 403) (http://127.0.0.1:8081)",
              4,
            ),
          ]),
        ],
      }).reasons,
    ).toEqual([
      `5 collectors "acl", "contacts", "devices" and 2 more: last run failed: ${refused}`,
      'collector "keys": 4 consecutive failures: the credential lacks the permission (status 403) (http://127.0.0.1:8081)',
    ]);
    expect(
      verdict({
        networks: [
          network([failing("acl", refused, 3), failing("dns", refused, 1)], { prefix: "east/" }),
        ],
      }).reasons,
    ).toEqual([`2 collectors "east/acl", "east/dns": 3 consecutive failures: ${refused}`]);
  });

  it("tells of a collector that is overdue or stuck beside its failure", () => {
    const late = collector("flowlogs", {
      overdue: true,
      checkpoint: { markMs: 0, lagMs: 3_603_000, stuck: true },
    });
    expect(verdict({ networks: [network([late])] }).reasons).toEqual([
      'collector "flowlogs": the next run is overdue',
      'collector "flowlogs": stuck, 1h0m behind',
    ]);
    expect(
      verdict({
        networks: [
          network([{ ...late, overdue: false, checkpoint: { markMs: 0, lagMs: 1, stuck: false } }]),
        ],
      }).health,
    ).toBe(Health.HEALTHY);
  });

  it("is degraded by components, by exports that fail and fail, and by a network that is not collected", () => {
    const found = verdict({
      process: [of("stream", "component stream: the port is taken")],
      checkpoints: "the disk is full",
      delivery: [
        {
          signal: Signal.METRICS,
          failing: true,
          consecutiveFailures: 4,
          lastErrorClass: "timeout",
        },
        { signal: Signal.LOGS, failing: false, consecutiveFailures: 2, lastErrorClass: "other" },
      ],
      networks: [network([], { failure: "the address is no URL" })],
    });
    expect(found).toEqual({
      health: Health.DEGRADED,
      reasons: [
        "component stream: the port is taken",
        "checkpoints are not stored: the disk is full",
        "OTLP metrics export failing: 4 consecutive failures (timeout)",
        'network "home": the address is no URL',
      ],
    });
  });

  it("says of each problem what is not well, what to do and where to read on; the cause that most collectors share comes first", () => {
    const failing = (name: string, cause: string, remedy?: string) =>
      collector(name, { last: { ...good, error: cause, cause, remedy }, consecutiveFailures: 1 });
    const { problems } = evaluated({
      delivery: [
        { signal: Signal.LOGS, failing: true, consecutiveFailures: 3, lastErrorClass: "timeout" },
      ],
      networks: [
        network([
          failing("keys", "the credential lacks the permission", "give the credential the scope"),
          failing("acl", "the connection failed"),
          failing("dns", "the connection failed"),
        ]),
      ],
    });
    expect(problems.map(({ part, link }) => [part, link])).toEqual([
      ["export", "/monitor#config"],
      ["network", "/monitor#collectors"],
      ["network", "/monitor#collectors"],
    ]);
    expect(problems.map(({ remedy }) => remedy)).toEqual([
      expect.stringContaining("otlp.endpoint"),
      expect.stringContaining("headscale.url"),
      "give the credential the scope",
    ]);
  });
});
