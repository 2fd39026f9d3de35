import { MessageChannel } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import type { WriterMessage, WriterReply } from "../../../../src/kernel/telemetry/messages.ts";
import type { SeriesScope } from "../../../../src/kernel/telemetry/writer/scope.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { RemoteScope } from "../../../../src/kernel/telemetry/thread/remote-scope.ts";
import { seriesProducer } from "../../../../src/kernel/telemetry/thread/export/producer.ts";
import { createTelemetryWriter } from "../../../../src/kernel/telemetry/writer/writer.ts";
import { startReceiver } from "../../../support/otlp/receiver.ts";
import { level, NEVER_MS, plainLevel, spec, startTelemetry } from "../fixtures.ts";

const host = (name: string) => ({ "host.name": name, state: undefined });
const ports: MessagePort[] = [];
afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

/** A writer whose other end is the test. */
function connect(before: (scope: SeriesScope) => void = () => undefined) {
  const writer = createTelemetryWriter({ clock: systemClock });
  const scope = writer.scope(spec("process", { limits: { perMetric: 0 } })) as SeriesScope;
  before(scope);
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const heard: WriterMessage[] = [];
  port2.on("message", (message: WriterMessage) => heard.push(message));
  writer.attach(port1, { logs: false });
  const labels = () => heard.filter((message) => message.type === "labels");
  return {
    writer,
    scope,
    heard,
    labels,
    reply: (message: WriterReply) => port2.postMessage(message),
    until: async (enough: () => boolean): Promise<void> => {
      while (!enough()) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

describe("A writer", () => {
  it("names at most 2,000 series in a message, and rows before their first series", async () => {
    const { scope, heard, labels, until, reply } = connect();
    for (let index = 0; index < 5_000; index++) scope.gauge(level, 1, host(`${index}`));
    await until(() => labels().length === 2);
    expect(labels().map((message) => message.started.length)).toEqual([2_000, 2_000]);
    reply({ type: "snapshot?", scope: 0 });
    await until(() => heard.at(-1)?.type === "snapshot");
    expect(heard.map((message) => message.type)).toEqual([
      "scope",
      "rows",
      "labels",
      "labels",
      "labels",
      "snapshot",
    ]);
    expect(labels().at(-1)?.started).toHaveLength(1_000);
  });

  it("tells a new listener what lives already, in pieces, and answers a snapshot only after that", async () => {
    const { scope, heard, labels, until, reply } = connect((scope) => {
      for (let index = 0; index < 5_000; index++) scope.gauge(level, index, host(`${index}`));
    });
    reply({ type: "snapshot?", scope: 0 });
    scope.end(level, host("4999"));
    await until(() => heard.at(-1)?.type === "snapshot");
    expect(labels().map((message) => message.started.length)).toEqual([2_000, 2_000, 999, 0]);
    expect(labels().at(-1)?.ended).toEqual([4_999]);
  });

  it("gives a number to another series only after its end was acknowledged", async () => {
    const { scope, labels, heard, until, reply } = connect();
    scope.gauge(level, 1, host("a"));
    reply({ type: "snapshot?", scope: 0 });
    await until(() => heard.at(-1)?.type === "snapshot");
    scope.end(level, host("a"));
    scope.gauge(level, 2, host("b"));
    expect(scope.table.columns.used).toBe(2);
    reply({ type: "snapshot?", scope: 0 });
    await until(() => labels().length === 2);
    const [first, second] = labels();
    expect(first?.started).toEqual([0]);
    expect(second).toMatchObject({ started: [1], ended: [0] });
    reply({ type: "ack", scope: 0, seq: second?.seq ?? -1 });
    reply({ type: "snapshot?", scope: 0 });
    await until(() => heard.filter((message) => message.type === "snapshot").length === 3);
    scope.gauge(level, 3, host("c"));
    expect(scope.table.columns.used).toBe(2);
  });

  it("forgets its listener when that goes, and keeps counting", async () => {
    const { writer, scope } = connect();
    scope.gauge(level, 1, host("a"));
    scope.end(level, host("a"));
    for (const port of ports.splice(0)) port.close();
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    scope.gauge(level, 1, host("b"));
    expect(writer.status().series).toBe(1);
  });

  it("of another thread exports through a port of its own", async () => {
    const receiver = await startReceiver({ protocol: "grpc" });
    await using telemetry = await startTelemetry({
      metrics: { protocol: "grpc", endpoint: receiver.endpoint, intervalMs: NEVER_MS },
      pull: true,
    });
    telemetry.scope(spec()).gauge(plainLevel, 1, {});
    await telemetry.flush(30_000);
    const port = telemetry.port();
    if (!port) throw new Error("no port");
    ports.push(port);
    const other = createTelemetryWriter({ clock: systemClock });
    other.scope(spec("net")).gauge(plainLevel, 2, {});
    other.attach(port, { logs: telemetry.wantsLogs });
    while (!receiver.points().some((point) => point.value === 2)) {
      receiver.clear();
      await telemetry.flush(30_000);
    }
    // Scopes export side by side: their order is nobody's promise.
    expect(
      receiver
        .points()
        .map((point) => `${String(point.resource["service.instance.id"])} ${point.value}`)
        .toSorted(),
    ).toEqual(["net 2", "process 1"]);
    port.close();
    // Its scopes leave with it.
    for (let count = 2; count > 1; count = receiver.points().length) {
      receiver.clear();
      await telemetry.flush(30_000);
    }
    expect(receiver.points().map((point) => point.value)).toEqual([1]);
    await receiver.close();
  });
});

describe("A scope in the telemetry thread", () => {
  const open = () => {
    const replies: WriterReply[] = [];
    const scope = new RemoteScope(
      { type: "scope", scope: 7, name: "x", resource: {}, logResource: {}, constants: {} },
      { rows: new Map(), reply: (reply) => void replies.push(reply) },
    );
    const columns = () => ({
      row: new Uint32Array([0]),
      value: new Float64Array([1]),
      start: new Float64Array([0]),
      slab: new Float64Array(0),
      exemplars: undefined,
    });
    return {
      scope,
      replies,
      deliver: () =>
        scope.receiveSnapshot({ type: "snapshot", scope: 7, atMs: 1, columns: columns() }),
    };
  };

  it("asks a slow writer once, however often a snapshot is wanted, and counts each export that went without", async () => {
    const { scope, replies, deliver } = open();
    let skipped = 0;
    const producer = seriesProducer(scope, { timeoutMs: 1, skipped: () => (skipped += 1) });
    expect((await producer.collect()).resourceMetrics.scopeMetrics).toEqual([]);
    await producer.collect();
    expect(skipped).toBe(2);
    expect(replies).toEqual([{ type: "snapshot?", scope: 7 }]);
    deliver();
    const next = scope.snapshot(1_000);
    expect(replies).toHaveLength(2);
    deliver();
    expect((await next)?.atMs).toBe(1);
  });

  it("acknowledges an end only when every snapshot taken before it is released", async () => {
    const { scope, replies, deliver } = open();
    scope.rows.set(0, {
      number: 0,
      name: "m",
      kind: "gauge",
      unit: "",
      attributes: ["a"],
      help: "x",
      bounds: [],
      verbatim: false,
    });
    scope.receiveLabels({
      type: "labels",
      scope: 7,
      seq: 0,
      started: [0],
      rows: [0],
      values: [["old"]],
      ended: [],
    });
    const [first, second] = [scope.snapshot(1_000), scope.snapshot(1_000)];
    deliver();
    const held = [await first, await second];
    scope.receiveLabels({
      type: "labels",
      scope: 7,
      seq: 1,
      started: [],
      rows: [],
      values: [],
      ended: [0],
    });
    expect(replies.filter((reply) => reply.type === "ack")).toEqual([]);
    expect(scope.attributesOf(0)).toEqual({ a: "old" });
    held[0]?.release();
    held[0]?.release();
    expect(replies.filter((reply) => reply.type === "ack")).toEqual([]);
    held[1]?.release();
    expect(replies.filter((reply) => reply.type === "ack")).toEqual([
      { type: "ack", scope: 7, seq: 1 },
    ]);
    expect(scope.attributesOf(0)).toBeUndefined();
    scope.receiveLabels({
      type: "labels",
      scope: 7,
      seq: 2,
      started: [],
      rows: [],
      values: [],
      ended: [5],
    });
    expect(replies.at(-1)).toEqual({ type: "ack", scope: 7, seq: 2 });
  });
});
