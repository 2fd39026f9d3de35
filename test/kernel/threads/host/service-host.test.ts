import { MessageChannel } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { create, type DescMethodUnary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type Clock, systemClock } from "../../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import {
  createCall,
  type Call,
  type StreamHandler,
  type UnaryHandler,
} from "../../../../src/kernel/service.ts";
import { holdWrites } from "../../../../src/kernel/state/file/write-gate.ts";
import { STORE_START_MS } from "../../../../src/kernel/supervisor/component.ts";
import type { HostDeps } from "../../../../src/kernel/threads/host/host-spec.ts";
import type { Encoding } from "../../../../src/kernel/threads/calls/messages.ts";
import { createServiceHost } from "../../../../src/kernel/threads/host/service-host.ts";
import type { Placement, ThreadHost } from "../../../../src/kernel/threads/hosted-service.ts";
import { sendSecret } from "../../../../src/kernel/threads/secrets.ts";
import {
  DedupSampleService,
  GetSampleRequestSchema,
} from "../../../gen/steward/test/v1/dedup_sample_pb.ts";
import { plainRequest } from "../../plain-request.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";
import { sampleModule, type SampleOptions } from "../fixtures/module.ts";

const log = createLog({ level: "error", format: "json", write: () => {}, now: () => 0 });
const deps: HostDeps = { clock: systemClock, ids: systemIds, log };
const never = new AbortController().signal;
const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

function place(on: Placement, options: Partial<SampleOptions> = {}, heapMb?: number): ThreadHost {
  const host = createServiceHost(deps, sampleModule, {
    on,
    options: { greeting: "hello", ...options },
    ...(heapMb === undefined ? {} : { heapMb }),
  });
  onTestFinished(() => host.stop(5000));
  return host;
}

async function started(
  on: Placement,
  options: Partial<SampleOptions> = {},
): Promise<{ host: ThreadHost; broke: Promise<unknown> }> {
  const host = place(on, options);
  const { promise: broke, resolve } = Promise.withResolvers<unknown>();
  await host.start(never, resolve);
  return { host, broke };
}

type Unary =
  | "listSamples"
  | "getSampleStats"
  | "getSample"
  | "createSample"
  | "importSample"
  | "exportSample";

/** Calls as the gateway would. */
async function unary(
  host: ThreadHost,
  name: Unary,
  request: Record<string, unknown>,
  call: Partial<Call> = {},
): Promise<any> {
  const method: DescMethodUnary = DedupSampleService.method[name];
  const handler = host.service().rpc[0]?.handler(method) as UnaryHandler<any, any>;
  return create(
    method.output,
    await handler(
      create(method.input, request),
      createCall({ signal: never, requestId: "r-1", ...call }),
    ),
  );
}

function watch(host: ThreadHost, signal: AbortSignal = never): AsyncIterator<unknown> {
  const handler = host
    .service()
    .rpc[0]?.handler(DedupSampleService.method.watchSample) as StreamHandler<any, any>;
  return handler({} as never, createCall({ signal, requestId: "r-1" }))[Symbol.asyncIterator]();
}

/** Collects what is published. */
function listen(host: ThreadHost, topic: string): string[] {
  const heard: string[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void (async () => {
    for await (const event of host.events(topic, stop.signal)) heard.push(text(event));
  })();
  return heard;
}

/** Ports to the service, one more for each time it is given some, and what it answers on each. */
function pingPorts(): {
  readonly ports: () => Readonly<Record<string, MessagePort>>;
  readonly ours: MessagePort[];
  readonly ask: (at: number, word: string) => Promise<unknown>;
} {
  const ours: MessagePort[] = [];
  onTestFinished(() => ours.forEach((port) => port.close()));
  return {
    ours,
    ports: () => {
      const { port1, port2 } = new MessageChannel();
      ours.push(port1);
      return { pings: port2 };
    },
    ask: (at, word) =>
      new Promise((resolve) => {
        ours[at]?.once("message", resolve);
        ours[at]?.postMessage(word);
      }),
  };
}

describe.each<Placement>(["main", "thread"])("the ports of a service placed on %s", (on) => {
  it("are answered until what the stopped service left was taken, and closed then", async () => {
    const { ports, ours, ask } = pingPorts();
    const heard: unknown[] = [];
    const host = createServiceHost(
      { ...deps, ports, drained: async () => void heard.push(await ask(0, "last")) },
      sampleModule,
      { on, options: { greeting: "hello" } },
    );
    await host.start(never, () => undefined);
    expect(await ask(0, "first")).toBe("first heard");
    const closed = new Promise((resolve) => ours[0]?.once("close", resolve));
    await host.stop(5000);
    expect(heard).toEqual(["last heard"]);
    await closed;
  });

  it("can be renewed while it runs", async () => {
    const { ports, ours, ask } = pingPorts();
    const host = createServiceHost({ ...deps, ports }, sampleModule, {
      on,
      options: { greeting: "hello" },
    });
    host.renewPorts();
    expect(ours).toHaveLength(0);
    await host.start(never, () => undefined);
    host.renewPorts();
    expect(await ask(1, "again")).toBe("again heard");
    await host.stop(5000);
    host.renewPorts();
    expect(ours).toHaveLength(2);
  });

  it("can be renewed while it starts, however often", async () => {
    const { ports, ours, ask } = pingPorts();
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const host = createServiceHost({ ...deps, ports }, sampleModule, {
      on,
      options: { greeting: "hello", gate },
    });
    const starting = host.start(never, () => undefined);
    await expect.poll(() => ours.length).toBe(1);
    for (let renewal = 0; renewal < 3; renewal += 1) {
      ours.at(-1)?.close();
      host.renewPorts();
    }
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await starting;
    expect(ours.length).toBeGreaterThan(1);
    expect(await ask(ours.length - 1, "first")).toBe("first heard");
    await host.stop(5000);
  });

  it("do not hold a stop up beyond its deadline", async () => {
    const logged: string[] = [];
    const host = createServiceHost(
      {
        ...deps,
        log: createLog({
          level: "warn",
          format: "text",
          write: (line) => logged.push(line),
          now: () => 0,
        }),
        drained: () => new Promise(() => undefined),
      },
      sampleModule,
      { on, options: { greeting: "hello" } },
    );
    await host.start(never, () => undefined);
    await host.stop(400);
    const failing = createServiceHost(
      {
        ...deps,
        log: createLog({
          level: "warn",
          format: "text",
          write: (line) => logged.push(line),
          now: () => 0,
        }),
        drained: () => Promise.reject(new Error("gone")),
      },
      sampleModule,
      { on, options: { greeting: "hello" } },
    );
    await failing.start(never, () => undefined);
    await failing.stop(5000);
    expect(logged.join("")).toContain(
      "cannot collect the remaining results of a service name=sample",
    );
  });
});

describe.each<Placement>(["main", "thread"])("a service placed on %s", (on) => {
  it("answers with what was asked, whole numbers included", async () => {
    const { host } = await started(on);
    expect(await unary(host, "listSamples", { shelfId: "7", limit: 3 })).toMatchObject({
      data: [{ text: "hello 7", largeNumber: 9_007_199_254_740_991n }],
      meta: { total: 3 },
    });
    expect(await unary(host, "exportSample", {}, { requestId: "r-42" })).toMatchObject({
      version: "r-42",
    });
  });

  it("fails with its own error, whole", async () => {
    const { host } = await started(on);
    await expect(unary(host, "getSample", { number: 2 })).rejects.toMatchObject({
      code: "conflict",
      message: "it is there already",
      field: "number",
      rule: "unique",
      remedy: "take another",
      retryAfterMs: 7,
      facts: { held: 2 },
      details: [{ path: ["number"], message: "twice", code: "twice" }],
    });
  });

  it("hears that its caller has gone, and the caller does not wait for it", async () => {
    const { host } = await started(on);
    const heard = listen(host, "waiting");
    const stop = new AbortController();
    const call = unary(host, "getSample", { number: 1 }, { signal: stop.signal });
    await vi.waitFor(() => expect(heard).toEqual(["waits"]), { timeout: 60_000, interval: 1 });
    stop.abort(new Error("the caller went away"));
    await expect(call).rejects.toThrow("the caller went away");
    await vi.waitFor(() => expect(heard).toEqual(["waits", "heard"]), {
      timeout: 60_000,
      interval: 1,
    });
    await unary(host, "createSample", { name: "later" });
    expect(host.status().dropped).toBe(0);
    await vi.waitFor(() => expect(host.status().inFlight).toBe(0), {
      timeout: 60_000,
      interval: 1,
    });
  });

  it("is not waited for beyond the deadline", async () => {
    const { host } = await started(on);
    const body = toBinary(GetSampleRequestSchema, create(GetSampleRequestSchema, { number: 1 }));
    const call = host.call("steward.test.v1.DedupSampleService/GetSample", body, {
      signal: never,
      encoding: "proto",
      requestId: "r",
      deadlineMs: 20,
    });
    await expect(call).rejects.toMatchObject({ code: "deadline" });
  });

  it("streams, fails in the middle of it, and ends", async () => {
    const { host } = await started(on);
    const stream = watch(host);
    let count = 0;
    await expect(
      (async () => {
        while (!(await stream.next()).done) count += 1;
      })(),
    ).rejects.toMatchObject({ code: "upstream", message: "the thousandth is missing" });
    expect(count).toBe(1000);
  });

  it("makes no more of a stream than somebody takes, and ends it when nobody does", async () => {
    const { host } = await started(on);
    const made = listen(host, "made");
    const stream = watch(host);
    await stream.next();
    await unary(host, "listSamples", {});
    await unary(host, "listSamples", {});
    expect(made.length).toBeLessThanOrEqual(6);
    await stream.return?.();
    await vi.waitFor(() => expect(made.at(-1)).toBe("ended"), { timeout: 60_000, interval: 1 });
    expect(made.length).toBeLessThanOrEqual(7);
    await vi.waitFor(() => expect(host.status().inFlight).toBe(0), {
      timeout: 60_000,
      interval: 1,
    });
  });

  it("serves plain routes, whole and in pieces", async () => {
    const { host } = await started(on);
    const [whole, pieces] = host.service().plain;
    expect(whole).toMatchObject({ verb: "GET", template: "/api/v1/plain/{id}", dialect: "dedup" });
    const call = createCall({ signal: never, requestId: "r" });
    const answer = await whole?.handle(
      plainRequest({ params: { id: "ü/1" }, query: new URLSearchParams("q=a&q=%26") }),
      call,
    );
    expect({
      ...answer,
      body: typeof answer?.body === "string" ? answer.body : text(answer?.body as Uint8Array),
    }).toEqual({ status: 203, headers: { "x-id": "ü/1" }, body: "GET a+&" });
    let body = "";
    const streamed = (await pieces?.handle(plainRequest(), call))?.body;
    for await (const piece of streamed as AsyncIterable<string | Uint8Array>)
      body += typeof piece === "string" ? piece : text(piece);
    expect(body).toBe("one two");
  });

  it("brings the body, the caller and the target of a plain request along", async () => {
    const { host } = await started(on);
    const route = host.service().plain[2];
    expect(route).toMatchObject({ verb: "*", limits: { bodyBytes: 10, requestMs: 90_000 } });
    const remote = { address: "192.0.2.7", port: 4711 };
    const headers = { "x-token": ["a", "b"] };
    const ask = (body: string) =>
      route?.handle(
        plainRequest({
          target: "/v1/%zz?a",
          secured: true,
          headers,
          remote,
          body: () => Promise.resolve(Buffer.from(body)),
        }),
        createCall({ signal: never, requestId: "r", headers, remote }),
      );
    const answer = (await ask("äö"))?.body;
    expect(JSON.parse(typeof answer === "string" ? answer : text(answer as Uint8Array))).toEqual([
      "/v1/%zz?a",
      true,
      "a, b",
      remote,
      remote,
      "äö",
    ]);
  });

  it("writes REST JSON where it is asked to", async () => {
    const { host } = await started(on);
    const call = (encoding: Encoding) =>
      host.call(
        "steward.test.v1.DedupSampleService/CreateSample",
        new Uint8Array([0x0a, 0x01, 0x61]),
        { signal: never, requestId: "r", encoding },
      );
    expect(JSON.parse(text((await call("json")).body))).toMatchObject({ data: { partName: "a" } });
    await expect(
      host.call("steward.test.v1.DedupSampleService/Nothing", new Uint8Array(), {
        signal: never,
        requestId: "r",
        encoding: "proto",
      }),
    ).rejects.toMatchObject({ code: "unsupported" });
  });

  it("writes REST JSON itself where it can, and hands out what is in shared memory without copying it", async () => {
    const { host } = await started(on);
    const call = () =>
      host.call("steward.test.v1.DedupSampleService/GetSampleStats", new Uint8Array(), {
        signal: never,
        requestId: "r",
        encoding: "json",
      });
    for (const { pieces = [], body } of [await call(), await call()]) {
      expect([pieces.length, body.length, Buffer.concat(pieces).toString()]).toEqual([
        2,
        0,
        '{"written":"here"}',
      ]);
      expect(pieces.every(({ buffer }) => buffer instanceof SharedArrayBuffer)).toBe(true);
    }
    expect((await unary(host, "getSampleStats", {})).data.text).toBe("");
  });

  it("publishes to those who listen", async () => {
    const { host } = await started(on);
    const heard = listen(host, "created");
    await unary(host, "createSample", { name: "a" });
    await unary(host, "createSample", { name: "b" });
    await vi.waitFor(() => expect(heard).toEqual(["a", "b"]), { timeout: 60_000, interval: 1 });
  });

  it("gets secrets that are sent on purpose, and no others", async () => {
    const secret = Secret.of("canary", "test");
    const { host } = await started(on, { secret: sendSecret(secret) });
    expect(await unary(host, "getSampleStats", {})).toMatchObject({ data: { text: "canary" } });
    expect(() => place(on, { greeting: { hidden: [secret] } as never })).toThrow(
      "options.greeting.hidden.0 is sent by sendSecret",
    );
  });

  it("says how its parts stand", async () => {
    const { host } = await started(on, { part: "unwell" });
    await vi.waitFor(
      () =>
        expect(host.states()).toMatchObject([
          { name: "part", phase: "degraded", reason: "the part is not well" },
        ]),
      { timeout: 60_000, interval: 1 },
    );
    expect(host.health?.()).toEqual({ ok: false, reason: "part: the part is not well" });
    await host.stop(5000);
    expect(host.states()).toEqual([]);
  });

  it("does not start when a part does not, and says why", async () => {
    await expect(place(on, { part: "refuses" }).start(never, () => {})).rejects.toMatchObject({
      code: "conflict",
      message: "the part does not start",
    });
  });

  it("gives up starting when asked to", async () => {
    const stop = new AbortController();
    const starting = place(on, { part: "hangs" }).start(stop.signal, () => {});
    stop.abort(new Error("the process is stopping"));
    await expect(starting).rejects.toThrow();
  });

  it("answers nobody before its start and after its stop, which ends what listens", async () => {
    const host = place(on);
    expect(() => host.service()).toThrow("sample is not running");
    await host.stop(100);
    await host.start(never, () => {});
    const ended = (async () => {
      for await (const event of host.events("created", never)) expect(event).toBeUndefined();
    })();
    const service = host.service();
    expect(service.name).toBe("sample");
    await host.stop(5000);
    await ended;
    await expect(
      host.call("x/y", new Uint8Array(), { signal: never, requestId: "r", encoding: "proto" }),
    ).rejects.toMatchObject({ code: "not_ready", retryAfterMs: 1000 });
    await host.start(never, () => {});
    expect(await unary(host, "createSample", { name: "again" })).toMatchObject({
      data: { partName: "again" },
    });
  });
});

describe("a service in a thread of its own", () => {
  it("hides what it did not mean to say, and keeps where it was thrown for the log", async () => {
    const { host } = await started("thread");
    const error = (await unary(host, "getSample", { number: 3 }).catch(
      (thrown: unknown) => thrown,
    )) as Error;
    expect(error).toMatchObject({ code: "internal", message: "internal error" });
    expect((error.cause as Error).message).toMatch(
      /thread sample: Error: something with a canary[\s\S]*sample\.ts/,
    );
  });

  it("that exits breaks the component, ends its calls, and can be started again", async () => {
    const { host, broke } = await started("thread");
    await expect(unary(host, "importSample", { number: 1 })).rejects.toMatchObject({
      code: "not_ready",
    });
    expect(await broke).toMatchObject({
      code: "internal",
      message: "the thread sample ended with code 3",
    });
    await host.stop(1000);
    await host.start(never, () => {});
    expect(await unary(host, "createSample", { name: "again" })).toMatchObject({
      data: { partName: "again" },
    });
  });

  it("that ends in the middle of a write holds up no backup", async () => {
    const { host, broke } = await started("thread");
    await expect(unary(host, "importSample", { number: 5 })).rejects.toMatchObject({
      code: "not_ready",
    });
    await broke;
    expect(await holdWrites(10_000, () => Promise.resolve("held"))).toBe("held");
  });

  it("that exhausts its heap breaks the component and not the process", async () => {
    const host = place("thread", {}, 32);
    const { promise: broke, resolve } = Promise.withResolvers<unknown>();
    await host.start(never, resolve);
    await expect(unary(host, "importSample", { number: 2 })).rejects.toMatchObject({
      code: "not_ready",
    });
    expect(await broke).toMatchObject({ code: "ERR_WORKER_OUT_OF_MEMORY" });
  });

  it("that spins is left by its callers and ended by the stop", async () => {
    const { host } = await started("thread");
    const stop = new AbortController();
    const call = unary(host, "importSample", { number: 3 }, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    const beganMs = performance.now();
    await host.stop(300);
    expect(performance.now() - beganMs).toBeLessThan(3000);
  });

  it("has as long to start as its stores need", () => {
    expect(place("thread").startTimeoutMs).toBe(STORE_START_MS);
  });

  it("that says nothing is unwell at first and lost in the end", async () => {
    const clock = createManualClock();
    const host = createServiceHost({ ...deps, clock }, sampleModule, {
      on: "thread",
      options: { greeting: "" },
    });
    const { promise: broke, resolve } = Promise.withResolvers<unknown>();
    await host.start(never, resolve);
    const body = toBinary(
      DedupSampleService.method.importSample.input,
      create(DedupSampleService.method.importSample.input, { number: 3 }),
    );
    // The clock runs ahead of a slow thread's last word, and must not come upon the call's own
    // deadline before.
    const call = host.call("steward.test.v1.DedupSampleService/ImportSample", body, {
      signal: never,
      encoding: "proto",
      requestId: "r",
      deadlineMs: 2_000_000_000,
    });
    const lost = expect(call).rejects.toMatchObject({ code: "not_ready" });
    // A word that the thread had said before may still be on its way, and counts from its arrival.
    await vi.waitFor(
      async () => {
        await clock.advance(11_000);
        expect(host.health?.()).toMatchObject({
          ok: false,
          reason: expect.stringMatching(/^the thread has sent no heartbeat for \d+ s$/) as string,
        });
      },
      { interval: 1, timeout: 60_000 },
    );
    let over = false;
    void broke.finally(() => (over = true));
    await vi.waitFor(
      async () => {
        await clock.advance(61_000);
        expect(over).toBe(true);
      },
      { interval: 1, timeout: 60_000 },
    );
    expect(await broke).toMatchObject({ code: "deadline" });
    await lost;
    await host.stop(1000);
    expect(clock.timers()).toBe(0);
  });

  it("is not lost after a pause of the whole process, which its heartbeat did not outlast", async () => {
    let pausedMs = 0;
    let look: (() => void) | undefined;
    const clock: Clock = {
      now: () => systemClock.now(),
      monotonic: () => systemClock.monotonic() + pausedMs,
      timer(atMs, run) {
        look = run;
        return systemClock.timer(atMs, run);
      },
    };
    const broken: unknown[] = [];
    const host = createServiceHost({ ...deps, clock }, sampleModule, {
      on: "thread",
      options: { greeting: "hello" },
    });
    onTestFinished(() => host.stop(5000));
    await host.start(never, (error) => void broken.push(error));
    pausedMs = 61_000;
    look?.();
    expect(await unary(host, "listSamples", { shelfId: "7" })).toMatchObject({
      data: [{ text: "hello 7" }],
    });
    expect(broken).toEqual([]);
  });

  it("sees no variable that may hold a secret", async () => {
    const { threadEnvironment } = await import("../../../../src/kernel/threads/boot.ts");
    expect(
      threadEnvironment({
        PATH: "/bin",
        https_proxy: "p",
        STEWARD_AUTH__TOKEN: "canary",
        PAPERLESS_API_TOKEN: "canary",
        AI_OPENAI_API_KEY: "canary",
      }),
    ).toEqual({ PATH: "/bin", https_proxy: "p" });
    expect(threadEnvironment({ PATH: "/bin", AWS_REGION: "r", AWSOME: "x" }, ["AWS_"])).toEqual({
      PATH: "/bin",
      AWS_REGION: "r",
    });
  });
});
