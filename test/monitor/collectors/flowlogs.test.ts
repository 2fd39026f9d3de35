import { describe, expect, it } from "vitest";
import { flowlogsFeature } from "../../../src/monitor/collectors/flowlogs-feature.ts";
import { flowlogs } from "../../../src/monitor/collectors/flowlogs.ts";
import type { FlowBatch, FlowIntake } from "../../../src/monitor/flows/types.ts";
import type { Settings } from "../../../src/monitor/providers/model.ts";
import { connection, flowLogOptions, NOW_MS, openIntake, record } from "../flows/fixtures.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import type { Answers } from "./fake-provider.ts";
import { networkOptions, openCollector } from "./harness.ts";

const window = { fromMs: 1_000, toMs: 61_000 };
const feature = (value: number) => [
  `vpn.feature.enabled{vpn.feature="network_flow_logging"} ${value}`,
];

function settings(on: boolean | undefined): Settings {
  return {
    switches: new Map(on === undefined ? [] : [["network_flow_logging", on]]),
    externalLinkSet: undefined,
    keyDurationDays: undefined,
    externalNetworksRole: undefined,
  };
}

function open(answers: Answers, log: Partial<typeof flowLogOptions> = {}) {
  const batches: FlowBatch[] = [];
  const flows: FlowIntake = {
    accept: async (batch) => (batches.push(batch), { accepted: batch.records.length, refused: {} }),
    flush: () => undefined,
  };
  const provider = createFakeProvider(answers);
  return {
    provider,
    batches,
    harness: openCollector(flowlogs, provider, {
      collectors: { flowlogs: { ...flowLogOptions, ...log } },
      deps: { flows },
    }),
  };
}

describe("The collector of flow logs", () => {
  it("hands each batch of the window to the intake, with the memory of what is read again", async () => {
    const { harness, provider, batches } = open({
      settings: settings(true),
      flowLogs: [[record()], [record(), record()]],
    });
    await harness.run({ window });
    expect(provider.calls).toEqual(["settings", 'flowLogs {"fromMs":1000,"toMs":61000}']);
    expect(
      batches.map(({ records, source, windowEndMs, replay }) => [
        records.length,
        source,
        windowEndMs,
        replay?.untilMs,
      ]),
    ).toEqual([
      [1, "poll", 61_000, NOW_MS + 300_000],
      [2, "poll", 61_000, NOW_MS + 300_000],
    ]);
    expect(harness.series()).toEqual(feature(1));
    expect([...harness.states]).toEqual([
      ["getTailnetSettings", "supported"],
      ["listNetworkFlowLogs", "supported"],
    ]);
  });

  it("remembers nothing when nothing is read again", async () => {
    const { harness, batches } = open(
      { settings: settings(true), flowLogs: [[record()]] },
      { replayOverlapMs: 0 },
    );
    await harness.run({ window });
    expect(batches[0]).not.toHaveProperty("replay");
  });

  it("asks for no log while the feature is off, and its window counts as read", async () => {
    const { harness, provider } = open({ settings: settings(false), flowLogs: [] });
    await harness.run({ window });
    expect(provider.calls).toEqual(["settings"]);
    expect(harness.series()).toEqual(feature(0));
  });

  it.each([
    ["does not say", settings(undefined)],
    [
      "cannot be asked",
      () => {
        throw failing(500);
      },
    ],
  ])("asks the log when the control plane %s", async (_why, answer) => {
    const { harness, batches } = open({ settings: answer, flowLogs: [[record()]] });
    await harness.run({ window });
    expect(batches).toHaveLength(1);
    expect(harness.series()).toEqual(feature(1));
  });

  it("takes 403 for a feature that is off, and the window for read", async () => {
    const { harness } = open({
      settings: settings(true),
      flowLogs: () => {
        throw failing(403);
      },
    });
    await harness.run({ window });
    expect(harness.series()).toEqual(feature(0));
    expect(harness.states.get("listNetworkFlowLogs")).toBe("disabled");
  });

  it.each([
    [500, "transient_failure"],
    [401, "credential_rejected"],
    [404, "disabled"],
  ])("fails on status %s, so that the window is read again", async (status, state) => {
    const { harness } = open({
      settings: settings(true),
      flowLogs: () => {
        throw failing(status);
      },
    });
    await expect(harness.run({ window })).rejects.toMatchObject({ code: "upstream" });
    expect(harness.states.get("listNetworkFlowLogs")).toBe(state);
  });

  it("fails when a window ends halfway, and counts its beginning once when it is read again", async () => {
    const { intake, series } = openIntake();
    let broken = true;
    const provider = createFakeProvider(
      { settings: settings(true) },
      {
        async *flowLogs() {
          yield [record()];
          if (broken) throw failing(500);
          yield [record({ virtualTraffic: [connection({ dst: "100.64.0.9:22" })] })];
        },
      },
    );
    const harness = openCollector(flowlogs, provider, {
      collectors: { flowlogs: flowLogOptions },
      deps: { flows: intake },
    });
    await expect(harness.run({ window })).rejects.toMatchObject({ code: "upstream" });
    broken = false;
    await harness.run({ window });
    expect(series("vpn.network.flows")).toEqual([
      'vpn.network.flows{network.transport="tcp",vpn.traffic_type="virtual"} 2',
    ]);
  });

  it("stops when it is told to, also while it asks for the settings", async () => {
    const { harness } = open({ settings: settings(true), flowLogs: [] });
    await expect(
      harness.run({ window, signal: AbortSignal.abort(new Error("enough")) }),
    ).rejects.toThrow("enough");
  });

  it("polls unless records come another way, by the window rule of the options", () => {
    const prepared = (source: "poll" | "stream" | "both" | "objectstore") =>
      flowlogs.prepare(networkOptions({ collectors: { flowlogs: { ...flowLogOptions, source } } }));
    expect(prepared("both")).toMatchObject({
      intervalMs: 60_000,
      window: {
        lagMs: 120_000,
        initialLookbackMs: 300_000,
        maxWindowMs: 3_600_000,
        overlapMs: 300_000,
      },
    });
    expect([
      prepared("stream"),
      prepared("objectstore"),
      flowlogs.prepare(networkOptions()),
    ]).toEqual([undefined, undefined, undefined]);
  });
});

describe("The collector of the feature flag", () => {
  const openFeature = (answers: Answers) =>
    openCollector(flowlogsFeature, createFakeProvider(answers), {
      collectors: { flowlogs: { ...flowLogOptions, source: "stream" } },
    });

  it.each([
    [true, feature(1)],
    [false, feature(0)],
    [undefined, []],
  ])("says %s", async (on, series) => {
    const harness = openFeature({ settings: settings(on) });
    await harness.run();
    expect(harness.series()).toEqual(series);
  });

  it("fails when the settings cannot be read", async () => {
    await expect(
      openFeature({
        settings: () => {
          throw failing(403);
        },
      }).run(),
    ).rejects.toMatchObject({ code: "upstream" });
  });

  it("is there when flow logs come without polling", () => {
    const prepared = (source: "poll" | "stream" | "both" | "objectstore") =>
      flowlogsFeature.prepare(
        networkOptions({ collectors: { flowlogs: { ...flowLogOptions, source } } }),
      ) !== undefined;
    expect([
      prepared("poll"),
      prepared("both"),
      prepared("stream"),
      prepared("objectstore"),
    ]).toEqual([false, false, true, true]);
    expect(flowlogsFeature.prepare(networkOptions())).toBeUndefined();
  });
});
