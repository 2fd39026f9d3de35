import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Fault } from "../../src/demo/control-plane/faults.ts";
import { startHeadscale } from "../support/headscale/headscale.ts";
import { createNetwork } from "../../src/demo/network/network.ts";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import type { ApiState } from "../../src/monitor/capability/operation.ts";
import { allCollectors } from "../../src/monitor/collectors/all.ts";
import { createStageClock, startStage, type Stage } from "./stage.ts";
import { everyCollector, headscaleNetwork, stageHttp, tailscaleNetwork } from "./stage-options.ts";
import { isLongRun } from "../support/long-run.ts";

const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
const MINUTE_MS = 60_000;

/**
 * What goes wrong, what it says of an operation, and how often one call asks. An answer is an
 * answer, however damaged its members are.
 */
const FAULTS: Readonly<
  Record<string, { readonly fault: Fault; readonly state: ApiState; readonly attempts: number }>
> = {
  "401": { fault: { kind: "status", status: 401 }, state: "credential_rejected", attempts: 2 },
  "403": { fault: { kind: "status", status: 403 }, state: "scope_denied", attempts: 1 },
  "404": { fault: { kind: "status", status: 404 }, state: "disabled", attempts: 1 },
  "429": { fault: { kind: "limited" }, state: "transient_failure", attempts: 2 },
  "429 with Retry-After": {
    fault: { kind: "limited", retryAfterS: 3 },
    state: "transient_failure",
    attempts: 2,
  },
  "429 with a date": {
    fault: { kind: "limited", retryAfterS: 4, as: "date" },
    state: "transient_failure",
    attempts: 2,
  },
  "500": { fault: { kind: "status", status: 500 }, state: "transient_failure", attempts: 2 },
  "no answer": { fault: { kind: "hang" }, state: "transient_failure", attempts: 2 },
  "a reset": { fault: { kind: "reset" }, state: "transient_failure", attempts: 2 },
  "the page of a proxy": { fault: { kind: "html" }, state: "transient_failure", attempts: 2 },
  "a page that says it is a success": {
    fault: { kind: "html", status: 200 },
    state: "transient_failure",
    attempts: 1,
  },
  "truncated gzip": { fault: { kind: "truncated_gzip" }, state: "transient_failure", attempts: 2 },
  "100 MB": {
    fault: { kind: "oversize", bytes: 100e6, chunked: true },
    state: "transient_failure",
    attempts: 1,
  },
  "100 MB, said so": {
    fault: { kind: "oversize", bytes: 100e6 },
    state: "transient_failure",
    attempts: 1,
  },
  "JSON 10,000 deep": {
    fault: { kind: "deep", levels: 10_000 },
    state: "transient_failure",
    attempts: 1,
  },
  "fields of another type": { fault: { kind: "wrong_types" }, state: "supported", attempts: 1 },
  "missing fields": {
    fault: {
      kind: "missing_fields",
      names: [
        "id",
        "nodeId",
        "name",
        "hostname",
        "created",
        "createdAt",
        "keyType",
        "status",
        "type",
      ],
    },
    state: "supported",
    attempts: 1,
  },
  "numbers as texts": { fault: { kind: "numbers_as_strings" }, state: "supported", attempts: 1 },
};

/**
 * Faults much like another one of the list; each costs seconds. The long run alone meets them.
 */
const ALIKE: ReadonlySet<string> = new Set(
  isLongRun ? [] : ["429", "429 with a date", "the page of a proxy"],
);
const met: readonly string[] = Object.keys(FAULTS).filter((name) => !ALIKE.has(name));

interface Asked {
  /** As the simulator calls it. */
  readonly operation: string;
  readonly collector: string;
  /** As `vpn.api.operation` shows it. */
  readonly name: string;
  /** In one run. */
  readonly calls: number;
  /** Whether its failure is one of the run; by fault, where that differs. */
  readonly fails: boolean;
  readonly forgives?: readonly string[];
  /** States that differ from the fault's own. */
  readonly states?: Readonly<Record<string, ApiState>>;
}

const first = (
  operation: string,
  collector: string,
  name: string,
  more: Partial<Asked> = {},
): Asked => ({ operation, collector, name, calls: 1, fails: true, ...more });
/** Calls that follow others: what fails there is counted as coverage, and the run goes on. */
const then = (
  operation: string,
  collector: string,
  name: string,
  calls: number,
  more: Partial<Asked> = {},
): Asked => ({ operation, collector, name, calls, fails: false, ...more });

const DEVICES = 4;

/** Facts, collectors §4: which failure is one of the run. */
const HOSTED: readonly (readonly Asked[])[] = [
  [
    first("devices", "devices", "listTailnetDevices"),
    first("users", "users", "listUsers"),
    first("keys", "keys", "listTailnetKeys"),
    first("settings", "settings", "getTailnetSettings", { calls: 2 }),
    // A policy is a text to the client, and one that makes no sense is told of by its size.
    first("acl", "acl", "getPolicyFile", {
      forgives: ["JSON 10,000 deep"],
      states: { "JSON 10,000 deep": "supported" },
    }),
    first("dns", "dns", "getDnsConfiguration"),
    first("contacts", "contacts", "getContacts"),
    first("webhooks", "webhooks", "listWebhooks", { forgives: ["404"] }),
    first("posture_integrations", "posture_integrations", "getPostureIntegrations", {
      forgives: ["404"],
    }),
    // No stream is set up: that is an answer.
    first("stream_status", "logstream", "getLogStreamingStatus.network", {
      calls: 2,
      forgives: ["404"],
    }),
    first("oauth_apps", "oauth_apps", "listOAuthApps", { forgives: ["403", "404"] }),
    first("services", "services", "listServices"),
    first("audit_logs", "auditlogs", "listConfigurationAuditLogs"),
    first("flow_logs", "flowlogs", "listNetworkFlowLogs", {
      forgives: ["403"],
      states: { "403": "disabled" },
    }),
  ],
  [
    then("attributes", "devices", "device_posture", DEVICES),
    then("device_invites", "devices", "device_invites", DEVICES),
    then("user_invites", "users", "user_invites", 1, { fails: true }),
    then("acl_validate", "acl", "validateAndTestPolicyFile", 1),
    then("service_hosts", "services", "listServiceHosts", 2),
  ],
];

const OWN: readonly (readonly Asked[])[] = [
  [
    first("nodes", "devices", "listTailnetDevices"),
    first("users", "users", "listUsers"),
    first("preauth_keys", "keys", "listTailnetKeys"),
    // It is wrapped, and what is wrapped must be a text.
    first("policy", "acl", "getPolicyFile", {
      states: { "fields of another type": "transient_failure" },
    }),
  ],
  [first("api_keys", "keys", "listTailnetKeys")],
];

interface Plane {
  readonly faults: { next(operation: string, fault: Fault, times?: number): void; clear(): void };
  requests(): Readonly<Record<string, number>>;
}

const gaugesOf = (stage: Stage, collector: string): string[] => {
  const rows = new Set(
    allCollectors.find(({ name }) => name === collector)?.emits.map(({ name }) => name),
  );
  return stage.exposition(({ kind, name }) => kind === "gauge" && rows.has(name));
};

/**
 * Lets a run of each collector meet the fault, in every call that it makes first, or in those that
 * follow; then all is well again.
 */
async function meet(
  stage: Stage,
  plane: Plane,
  asked: readonly Asked[],
  fault: string,
): Promise<void> {
  const {
    fault: wrong,
    state,
    attempts,
  } = FAULTS[fault] ?? { fault: { kind: "hang" }, state: "unknown", attempts: 0 };
  const before = plane.requests();
  const kept = new Map(asked.map(({ collector }) => [collector, gaugesOf(stage, collector)]));
  for (const { operation } of asked) plane.faults.next(operation, wrong, Infinity);
  await stage.clock.advance(INTERVAL_MS);
  plane.faults.clear();
  for (const { operation, collector, name, calls, fails, forgives = [], states = {} } of asked) {
    const failed = fails && (states[fault] ?? state) !== "supported" && !forgives.includes(fault);
    const row = stage
      .status()
      .capabilities.find((each) => each.collector === collector && each.subrequest === undefined);
    const told = {
      operation,
      failed: stage.collector(collector).last?.error !== undefined,
      state: row?.operations.find((each) => each.operation === name)?.state,
    };
    expect(told, fault).toEqual({ operation, failed, state: states[fault] ?? state });
    if (failed && operation !== "user_invites")
      expect(gaugesOf(stage, collector), `${operation}: ${fault}`).toEqual(kept.get(collector));
    const times = (plane.requests()[operation] ?? 0) - (before[operation] ?? 0);
    expect(times, `${operation}: ${fault}`).toBeGreaterThan(0);
    expect(times, `${operation}: ${fault}`).toBeLessThanOrEqual(calls * attempts);
  }
  await stage.clock.advance(INTERVAL_MS);
  expect(
    stage
      .status()
      .collectors.flatMap(({ name, last }) =>
        last?.error === undefined ? [] : [`${name}: ${last.error}`],
      ),
    `after ${fault}`,
  ).toEqual([]);
}

const INTERVAL_MS = 10 * MINUTE_MS;
const total = (requests: Readonly<Record<string, number>>): number =>
  Object.values(requests).reduce((sum, count) => sum + count, 0);
const patient = { ...stageHttp, maxDelayMs: 10_000 };

/** Everything of a stage that comes out, in one text. */
const outputOf = (stage: Stage): string =>
  [...stage.lines, ...stage.exposition(), ...stage.records(), JSON.stringify(stage.status())].join(
    "\n",
  );

describe("Every call of the hosted control plane, in the running engine, meets", () => {
  let stage: Stage;
  let plane: Awaited<ReturnType<typeof startTailscale>>;
  beforeAll(async () => {
    const clock = createStageClock();
    plane = await startTailscale({
      clock,
      ids: systemIds,
      log,
      network: createNetwork({ seed: 3, devices: DEVICES }),
      gzip: false,
      streams: ["configuration", "network"],
    });
    stage = await startStage(clock, tailscaleNetwork(plane, everyCollector(INTERVAL_MS), patient), {
      progress: () => total(plane.requests()),
    });
    await clock.advance(INTERVAL_MS / 2);
  });
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await plane.stop();
  });

  it.each(met)(
    "%s: a state, a failed run or a forgiven one, what was said before stays, and the next run is well",
    async (fault) => {
      for (const asked of HOSTED) await meet(stage, plane, asked, fault);
    },
  );

  it("and no secret is in the log, a metric, a record or the status", () => {
    const output = outputOf(stage);
    expect(output.length).toBeGreaterThan(10_000);
    expect(output).not.toContain(plane.credentials.clientSecret);
    expect(output).not.toMatch(/tskey-api-/);
    expect(stage.lines.filter((line) => line.includes("panicked"))).toEqual([]);
  });
});

describe("Every call of Headscale, in the running engine, meets", () => {
  let stage: Stage;
  let plane: Awaited<ReturnType<typeof startHeadscale>>;
  beforeAll(async () => {
    const clock = createStageClock();
    plane = await startHeadscale({
      clock,
      ids: systemIds,
      log,
      flavour: "release",
      seed: 3,
      devices: DEVICES,
    });
    stage = await startStage(clock, headscaleNetwork(plane, everyCollector(INTERVAL_MS), patient), {
      progress: () => total(plane.requests()),
    });
    await clock.advance(INTERVAL_MS / 2);
  });
  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
    await plane.stop();
  });

  it.each(met)("%s", async (fault) => {
    for (const asked of OWN) await meet(stage, plane, asked, fault);
  });

  it("and no secret is in the log, a metric, a record or the status", () => {
    expect(outputOf(stage)).not.toContain(plane.apiKey);
    expect(stage.lines.filter((line) => line.includes("panicked"))).toEqual([]);
  });
});
