/** The life of a network as its documents tell it, and what they tell of the process. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { StatusSchema, type Status } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { Signal } from "../../../src/gen/steward/monitor/v1/export_pb.ts";
import { createCall, type StreamHandler } from "../../../src/kernel/service.ts";
import type { NetworkOptions, SectionOptions } from "../../../src/monitor/options.ts";
import { aDevice, START_MS } from "../collectors/entities.ts";
import { createFakeProvider, failing } from "../collectors/fake-provider.ts";
import { deviceDefaults, networkOptions } from "../collectors/harness.ts";
import { stageOptions, startStage, fakeProcess } from "./monitor-stage.ts";

const MINUTE = 60_000;
const every = { intervalMs: MINUTE };

function network(name: string, collectors: SectionOptions): NetworkOptions {
  return { ...networkOptions(), collectors, name };
}

interface Shown {
  readonly health: string;
  readonly health_reasons?: readonly string[];
  readonly collectors: readonly {
    readonly name: string;
    readonly freshness_state: string;
    readonly overdue?: boolean;
    readonly next_run_in?: string;
    readonly last_error?: string;
  }[];
  readonly capability_matrix: readonly {
    readonly collector: string;
    readonly state: string;
    readonly actionable: boolean;
    readonly active: boolean;
    readonly reason?: string;
  }[];
}

describe("a network", () => {
  it("is starting, healthy, degraded by a failure, by three, overdue, and healthy again; what it may ask goes along", async () => {
    const provider = createFakeProvider(
      { users: [], userInvites: [], dns: () => Promise.reject(failing(503)) },
      { unsupported: ["policy"] },
    );
    const stage = await startStage(stageOptions([network("home", { users: every })]), {
      home: provider,
    });
    const shown = async (): Promise<Shown> => (await stage.status()) as unknown as Shown;
    const users = (status: Shown) => ({
      ...status.collectors[0],
      ...status.capability_matrix.find(({ collector }) => collector === "users"),
    });
    expect(await shown()).toMatchObject({
      health: "starting",
      health_reasons: ["waiting for first run: users"],
    });
    await stage.advance(4_000);
    expect(await shown()).toMatchObject({ health: "healthy" });
    expect(users(await shown())).toMatchObject({
      freshness_state: "ok",
      state: "supported",
      active: true,
      actionable: false,
    });
    provider.answers.users = () => Promise.reject(failing(403));
    await stage.advance(MINUTE);
    expect(await shown()).toMatchObject({
      health: "degraded",
      health_reasons: [
        'collector "users": last run failed: the credential lacks the permission (status 403)',
      ],
    });
    expect(users(await shown())).toMatchObject({
      freshness_state: "ok",
      state: "scope_denied",
      actionable: true,
      last_error: expect.stringContaining("403") as string,
    });
    await stage.advance(2 * MINUTE);
    expect(await shown()).toMatchObject({
      health_reasons: [
        'collector "users": 3 consecutive failures: the credential lacks the permission (status 403)',
      ],
    });
    expect(users(await shown()).freshness_state).toBe("warning");
    provider.answers.users = () => new Promise(() => undefined);
    await stage.advance(3 * MINUTE);
    expect((await shown()).health_reasons).toEqual([
      'collector "users": 3 consecutive failures: the credential lacks the permission (status 403)',
      'collector "users": the next run is overdue',
    ]);
    expect(users(await shown())).toMatchObject({
      freshness_state: "stale",
      overdue: true,
      next_run_in: "0s",
    });
    provider.answers.users = [];
    await stage.advance(12 * MINUTE);
    expect(await shown()).toMatchObject({ health: "healthy" });
    expect((await shown()).health_reasons).toBeUndefined();
    expect(
      (await shown()).capability_matrix.find(({ collector }) => collector === "acl"),
    ).toMatchObject({ state: "unknown", active: false, reason: "provider_unsupported" });
  });

  it("shows its devices by name, and those of several networks together; a list that did not change is the same object", async () => {
    const [east, west] = [
      createFakeProvider({ devices: [aDevice("b"), aDevice("d")] }),
      createFakeProvider({ devices: [aDevice("c"), aDevice("a")] }),
    ];
    const devices = { ...deviceDefaults, collectDeviceInvites: false };
    const stage = await startStage(
      stageOptions([network("east", { devices }), network("west", { devices })]),
      { east, west },
    );
    await stage.advance(4_000);
    const first = await stage.message();
    expect(
      [first.devices, ...first.networks.map((each) => each.devices)].map((rows) =>
        rows.map(({ hostname }) => hostname).join(""),
      ),
    ).toEqual(["abcd", "bd", "ac"]);
    expect(first).toMatchObject({
      deviceCache: { devices: 4 },
      service: { network: "2 networks" },
      dedupSets: [
        { name: "east/flow", capacity: 16_384 },
        { name: "east/audit", capacity: 4_096 },
        { name: "west/flow" },
        { name: "west/audit" },
      ],
    });
    expect(first.collectors.map(({ name, network: of }) => `${of}/${name}`)).toEqual([
      "east/devices",
      "west/devices",
    ]);
    await stage.advance(600);
    const second = await stage.message();
    expect([
      second === first,
      second.devices === first.devices,
      second.config === first.config,
      second.logEvents === first.logEvents,
    ]).toEqual([false, true, true, true]);
    east.answers.devices = [];
    await stage.advance(MINUTE);
    expect((await stage.message()).devices.map(({ hostname }) => hostname)).toEqual(["a", "c"]);
  });

  it("that cannot be opened says why, and the other one is served", async () => {
    const stage = await startStage(
      stageOptions([network("east", { users: every }), network("west", { users: every })]),
      { west: createFakeProvider({ users: [], userInvites: [] }) },
    );
    await stage.advance(4_000);
    const status = (await stage.status()) as unknown as Shown & {
      readonly networks: readonly { readonly name: string }[];
    };
    expect(status.health).toBe("degraded");
    expect(status.health_reasons?.[0]).toMatch(/^network "east": /);
    expect(status.networks.map(({ name }) => name)).toEqual(["east", "west"]);
  });

  it("counts calls, the rate limit and the credential's end", async () => {
    const stage = await startStage(stageOptions([network("home", { users: every })]), {
      home: createFakeProvider({ users: [], userInvites: [] }),
    });
    expect((await stage.message()).api).toMatchObject({
      auth: { method: "apikey", total429: 0n, totalCalls: 0n, warning: "" },
      endpoints: [],
    });
    const call = {
      operation: "users",
      status: 200,
      class: undefined,
      attempts: 1,
      durationMs: 0.4,
      waitedMs: 0,
    } as const;
    stage.called("home", call);
    stage.called("home", { ...call, status: 429, class: "rate_limited", attempts: 3 });
    stage.called("home", { ...call, operation: "acl", status: 0, class: "timeout" });
    await stage.advance(600);
    expect((await stage.status())["api"]).toEqual({
      auth: { method: "apikey", total_429: 1, total_calls: 3 },
      rate_limit: { count: 1, last_seen: "2023-11-14T22:13:21Z" },
      endpoints: [
        {
          endpoint: "acl",
          requests: 1,
          errors: 1,
          retries: 0,
          rate_limited: 0,
          last_status: 0,
          last_at: "2023-11-14T22:13:21Z",
          last_error: "no complete response in time",
          duration_ms_series: [1],
        },
        {
          endpoint: "users",
          requests: 2,
          errors: 1,
          retries: 2,
          rate_limited: 1,
          last_status: 429,
          last_at: "2023-11-14T22:13:21Z",
          last_429_at: "2023-11-14T22:13:21Z",
          duration_ms_series: [1, 1],
        },
      ],
    });
  });
});

describe("the process", () => {
  const constants = create(StatusSchema, {
    provider: "tailscale",
    refreshMs: 2_000,
    service: {
      name: "steward",
      version: "1.2.3",
      network: "-",
      startedAt: timestampFromMs(START_MS - 90_000),
    },
    config: { logLevel: "info", checkpointStore: "file" },
  });
  const answer = create(StatusSchema, {
    components: [
      { name: "admin", enabled: true },
      { name: "stream", enabled: true, failed: true, reason: "the port is taken" },
    ],
    healthProblems: [
      {
        part: "stream",
        reason: "component stream: the port is taken",
        remedy: "free it",
        link: "/monitor#config",
      },
    ],
    delivery: [
      {
        signal: Signal.METRICS,
        exports: 4n,
        failures: 4n,
        consecutiveFailures: 4,
        failing: true,
        lastErrorClass: "timeout",
      },
      { signal: Signal.LOGS },
      { signal: Signal.TRACES },
    ],
    services: { monitor: "ready" },
  });

  it("has its part in the documents, completed by what only the monitor knows", async () => {
    const stage = await startStage(
      stageOptions([network("home", { users: every })]),
      { home: createFakeProvider({ users: [], userInvites: [] }) },
      fakeProcess(constants, answer),
    );
    await stage.advance(4_000);
    const json = await stage.status();
    expect(json).toMatchObject({
      health: "degraded",
      health_reasons: [
        "component stream: the port is taken",
        "OTLP metrics export failing: 4 consecutive failures (timeout)",
      ],
      refresh_ms: 2_000,
      provider: "headscale",
      services: { monitor: "ready" },
      service: {
        name: "steward",
        version: "1.2.3",
        network: "home",
        started_at: "2023-11-14T22:11:51Z",
        uptime: "1m34s",
        uptime_seconds: 94,
      },
      config: { log_level: "info", checkpoint_store: "memory", enabled_collectors: ["users"] },
    });
    expect(await stage.document("getConfigSummary")).toEqual(json["config"]);
    expect(await stage.document("getCardinality")).toEqual(json["cardinality"]);
  });

  it("that does not answer in two and a half seconds leaves what it said before, and a new one takes its place", async () => {
    const processStatus = fakeProcess(constants, answer);
    const stage = await startStage(stageOptions([]), {}, processStatus);
    expect((await stage.message()).components).toHaveLength(2);
    processStatus.silent = true;
    await stage.advance(600);
    const late = stage.message();
    await stage.advance(2_500);
    expect((await late).components).toHaveLength(2);
    await stage.advance(600);
    stage.moveTo(
      fakeProcess(
        create(StatusSchema, { ...constants, provider: "headscale" }),
        create(StatusSchema, { components: [{ name: "admin", enabled: true }] }),
      ),
    );
    expect(await stage.message()).toMatchObject({
      provider: "headscale",
      components: [{ name: "admin" }],
    });
    expect(processStatus.pending.every(({ id, kind }, at) => id === at && kind === "ask")).toBe(
      true,
    );
  });

  it("is asked for label values once an interval only, and its series count with the others", async () => {
    const processStatus = fakeProcess(constants, answer);
    processStatus.series = [
      {
        name: "svc.pool.threads",
        series: 2,
        overflowing: false,
        labels: [{ label: "pool", distinct: 1, capped: false, examples: ["io"] }],
      },
    ];
    const stage = await startStage(stageOptions([]), {}, processStatus);
    for (let at = 0; at < 10; at += 1) {
      await stage.message();
      await stage.advance(6_001);
    }
    await stage.advance(0);
    expect(processStatus.pending.filter(({ labels }) => labels)).toHaveLength(2);
    expect((await stage.message()).cardinality).toMatchObject({
      available: true,
      series: expect.arrayContaining([
        expect.objectContaining({ metric: "svc.pool.threads", count: 2 }),
      ]) as unknown,
    });
  });

  it("of a monitor without networks has healthy documents", async () => {
    const stage = await startStage(stageOptions([]), {}, fakeProcess(constants));
    expect(await stage.status()).toMatchObject({
      health: "healthy",
      networks: [],
      collectors: [],
      capability_matrix: [],
      provider: "tailscale",
      service: { network: "-" },
      fleet: { active: 0 },
    });
  });
});

describe("the stream", () => {
  it("gives a document at once and one each interval, until nobody wants it", async () => {
    const processStatus = fakeProcess(create(StatusSchema, { refreshMs: 2_000 }));
    const stage = await startStage(stageOptions([]), {}, processStatus);
    const stop = new AbortController();
    const watch = stage.service.handler(StatusService.method.watchStatus) as StreamHandler<
      typeof StatusService.method.watchStatus.input,
      typeof StatusService.method.watchStatus.output
    >;
    const heard: Status[] = [];
    const ended = (async () => {
      for await (const { status } of watch(
        create(StatusService.method.watchStatus.input),
        createCall({ signal: stop.signal, requestId: "r" }),
      ))
        heard.push(status as Status);
    })();
    await stage.advance(1_999);
    expect(heard).toHaveLength(1);
    await stage.advance(1);
    await stage.advance(0);
    expect(heard).toHaveLength(2);
    stop.abort(new Error("gone"));
    await expect(ended).rejects.toThrow("gone");
  });
});
