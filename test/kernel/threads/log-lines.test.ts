import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { LogLevel, RootLog } from "../../../src/kernel/base/log.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { createCall, type UnaryHandler } from "../../../src/kernel/service.ts";
import {
  createRelayedLog,
  createThreadLog,
  MAX_CHARACTERS,
  type LogMessage,
} from "../../../src/kernel/threads/log-lines.ts";
import { createServiceHost } from "../../../src/kernel/threads/host/service-host.ts";
import type { Placement, ThreadHost } from "../../../src/kernel/threads/hosted-service.ts";
import { sendSecret } from "../../../src/kernel/threads/secrets.ts";
import { DedupSampleService } from "../../gen/steward/test/v1/dedup_sample_pb.ts";
import { startReceiver } from "../../support/otlp/receiver.ts";
import { NEVER_MS, spec, startTelemetry } from "../telemetry/fixtures.ts";
import { sampleModule } from "./fixtures/module.ts";

const never = new AbortController().signal;

function openLog(
  format: "text" | "json" = "text",
  level: LogLevel = "info",
): { log: RootLog; written: string[] } {
  const written: string[] = [];
  return {
    written,
    log: createLog({
      level,
      format,
      write: (line) => void written.push(line),
      now: () => Date.now(),
    }),
  };
}

async function start(
  log: RootLog,
  on: Placement = "thread",
): Promise<{ host: ThreadHost; broke: Promise<unknown> }> {
  const secret = sendSecret(Secret.of("kanarienvogel", "test"));
  const host = createServiceHost({ clock: systemClock, ids: systemIds, log }, sampleModule, {
    on,
    options: { greeting: "hello", secret },
  });
  onTestFinished(() => host.stop(5000));
  const { promise: broke, resolve } = Promise.withResolvers<unknown>();
  await host.start(never, resolve);
  return { host, broke };
}

async function call(
  host: ThreadHost,
  name: "createSample" | "importSample",
  request: Record<string, unknown>,
): Promise<unknown> {
  const method: DescMethodUnary = DedupSampleService.method[name];
  const handler = host.service().rpc[0]?.handler(method) as UnaryHandler<any, any>;
  return await handler(
    create(method.input, request),
    createCall({ signal: never, requestId: "r" }),
  );
}

describe.each<Placement>(["main", "thread"])("a line of a service placed on %s", (on) => {
  it.each(["text", "json"] as const)(
    "is written in the form of the house, with secrets concealed (%s)",
    async (format) => {
      const { log, written } = openLog(format);
      log.conceal([Secret.of("kanarienvogel", "test")]);
      const { host } = await start(log, on);
      await call(host, "createSample", { name: "a kanarienvogel sings" });
      await vi.waitFor(() => expect(written.length).toBe(1), { timeout: 60_000, interval: 1 });
      const [line = ""] = written;
      expect(line).not.toContain("kanarienvogel");
      if (format === "text")
        expect(line).toMatch(
          /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info  parts: made kind=plain name="a \[secret\] sings" error=\{"type":"Error","message":"why",.*\}\n$/,
        );
      else
        expect(JSON.parse(line)).toMatchObject({
          level: "info",
          component: "parts",
          msg: "made",
          name: "a [secret] sings",
          error: { message: "why" },
        });
    },
  );

  it("is exported", async () => {
    const receiver = await startReceiver({ protocol: "grpc" });
    onTestFinished(() => receiver.close());
    await using telemetry = await startTelemetry({
      logs: { protocol: "grpc", endpoint: receiver.endpoint, batchDelayMs: NEVER_MS },
      pull: false,
    });
    telemetry.scope(spec());
    const { log, written } = openLog();
    log.conceal([Secret.of("kanarienvogel", "test")]);
    log.tap((line) => telemetry.line(line));
    const { host } = await start(log, on);
    const before = Date.now();
    await call(host, "createSample", { name: "kanarienvogel" });
    await vi.waitFor(() => expect(written.length).toBe(1), { timeout: 60_000, interval: 1 });
    expect(await telemetry.flush(30_000)).toBe(true);
    expect(receiver.logs()).toMatchObject([
      {
        body: "made",
        severity: "INFO",
        attributes: {
          component: "parts",
          kind: "plain",
          name: "[secret]",
          "exception.type": "Error",
          "exception.message": "why",
        },
      },
    ]);
    const { timeMs = 0 } = receiver.logs()[0] ?? {};
    expect([timeMs >= before, timeMs <= Date.now()]).toEqual([true, true]);
  });
});

describe("the lines of a thread", () => {
  it("below the level of the process's log are not sent", async () => {
    const { log, written } = openLog("text", "warn");
    const { host } = await start(log);
    await call(host, "createSample", { name: "a" });
    await host.stop(5000);
    expect(written).toEqual([]);
  });

  it.each([
    ["exits", 1],
    ["throws what nobody catches", 4],
  ])("are all written, in their order, when it %s right after them", async (_how, number) => {
    const { log, written } = openLog();
    const { host, broke } = await start(log);
    await expect(call(host, "importSample", { number })).rejects.toMatchObject({
      code: "not_ready",
    });
    await broke;
    await vi.waitFor(
      () =>
        expect(written.map((line) => /the \w+ words/.exec(line)?.[0])).toEqual([
          "the first words",
          "the middle words",
          "the last words",
        ]),
      { timeout: 60_000, interval: 1 },
    );
  });

  it("are limited where they repeat by the log of the process, also when the thread is another one", async () => {
    const { log, written } = openLog();
    for (let thread = 0; thread < 2; thread++) {
      const { boot, receive } = createRelayedLog(log, "sample");
      const sent = createThreadLog(boot, receive, () => Date.now());
      sent.log.child("sample").warn("is down");
    }
    expect(written.length).toBe(1);
  });

  it("carry the time of the thread and nothing of what the process does just now", () => {
    const { log, written } = openLog("json");
    log.relate(() => ({ trace_id: "t" }));
    const { boot, receive } = createRelayedLog(log, "sample");
    createThreadLog(boot, receive, () => 1_000).log.info("late");
    expect(written.map((line) => JSON.parse(line))).toEqual([
      { level: "info", time: "1970-01-01T00:00:01.000Z", msg: "late" },
    ]);
  });

  it("that nobody hears are left out above a bound, and said to be", () => {
    const { log, written } = openLog();
    const heard = createRelayedLog(log, "sample");
    const waiting: LogMessage[] = [];
    const sent = createThreadLog(
      heard.boot,
      (message) => void waiting.push(message),
      () => 0,
    );
    const words = "x".repeat(10_000);
    for (let count = 0; count < 200; count++) sent.log.info(`${count} ${words}`);
    const passed = waiting.length;
    expect(Math.abs(passed * words.length - MAX_CHARACTERS)).toBeLessThan(words.length);
    for (const message of waiting.splice(0)) heard.receive(message);
    sent.log.info("there is room again");
    sent.reportDropped();
    for (const message of waiting.splice(0)) heard.receive(message);
    expect(Atomics.load(heard.boot.inTransit, 0)).toBe(0);
    expect(written.slice(0, passed).map((line) => line.split(" ")[3])).toEqual(
      Array.from({ length: passed }, (_, count) => String(count)),
    );
    expect(written.slice(passed).map((line) => line.slice(25))).toEqual([
      `warn  sample: ${200 - passed} log lines were dropped: the thread logged faster than they could be written\n`,
      "info  there is room again\n",
    ]);
  });

  it("that were the last before a stop are said to have been left out, too", () => {
    const { log, written } = openLog();
    const heard = createRelayedLog(log, "sample");
    const waiting: LogMessage[] = [];
    const sent = createThreadLog(
      heard.boot,
      (message) => void waiting.push(message),
      () => 0,
    );
    sent.log.info("x".repeat(MAX_CHARACTERS));
    sent.log.info("lost");
    sent.reportDropped();
    for (const message of waiting) heard.receive(message);
    expect(written.at(-1)).toContain("1 log lines were dropped");
  });
});
