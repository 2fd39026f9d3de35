import { connect as connectHttp2 } from "node:http2";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGateway } from "../../gateway/gateway.ts";
import { SyncService } from "../../src/gen/steward/dedup/v1/sync_pb.ts";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import { bindService, type PlainRoute } from "../../src/kernel/service.ts";
import { connectRaw, trickle } from "../kernel/listen/raw-client.ts";
import { hasOpenssl, makePair, testFolder, writePair } from "../kernel/listen/test-certificates.ts";
import { connectCall, jobService, startGateway, systemService } from "./start-gateway.ts";

const token = Secret.of("word", "test");

/** The status of a GET whose `Host` is chosen freely. */
async function statusUnder(
  port: number,
  path: string,
  host: string,
  method = "GET",
): Promise<number> {
  const request = httpRequest({
    port,
    path,
    method,
    headers: { host, ...(method === "POST" ? { "content-type": "application/json" } : {}) },
  });
  request.end(method === "POST" ? "{}" : undefined);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

function streamRoute(handle: PlainRoute["handle"], template = "/api/v1/stream"): PlainRoute {
  return { verb: "GET", template, access: Access.OPERATOR, dialect: "dedup", handle };
}

describe("the probes", () => {
  it("answer in text, open to everyone, under any name", async () => {
    const { url, gateway } = await startGateway({ auth: { token, allowedHosts: [] } });
    for (const path of ["/healthz", "/readyz"]) {
      const answer = await fetch(url + path);
      expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([
        200,
        "ok\n",
        "text/plain; charset=utf-8",
      ]);
    }
    expect((await fetch(`${url}/readyz`, { method: "HEAD" })).status).toBe(200);
    const wrong = await fetch(`${url}/healthz`, { method: "POST" });
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await statusUnder(gateway.port, "/readyz", "probe.example")).toBe(200);
  });

  it("say the first reason of a process that is not ready", async () => {
    const { url } = await startGateway({
      probes: {
        live: () => ({ ok: true, reasons: [] }),
        ready: () => ({ ok: false, reasons: ["starting: waiting for listener: x", "more"] }),
        serviceReady: () => true,
      },
    });
    const answer = await fetch(`${url}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([
      503,
      "starting: waiting for listener: x\n",
    ]);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("say how every component stands when they are asked for it, and only then", async () => {
    const components = [
      { name: "gateway", phase: "ready", reason: undefined },
      {
        name: "backups",
        phase: "degraded",
        reason: `the last backup failed:\ndisk full ${"x".repeat(600)}`,
      },
    ];
    for (const [ok, first] of [
      [true, "ok"],
      [false, "starting"],
    ] as const) {
      const { url } = await startGateway({
        auth: { token, allowedHosts: [] },
        probes: {
          live: () => ({ ok: true, reasons: [] }),
          ready: () => ({ ok, reasons: ok ? [] : ["starting", "more"] }),
          components: () => components,
          serviceReady: () => true,
        },
      });
      const ask = async (target: string): Promise<[number, string]> => {
        const answer = await fetch(url + target);
        return [answer.status, await answer.text()];
      };
      const status = ok ? 200 : 503;
      expect(await ask("/readyz?verbose=1")).toEqual([
        status,
        `${first}\ngateway: ready\nbackups: degraded, the last backup failed:\\ndisk full ${"x".repeat(465)}\n`,
      ]);
      for (const plain of ["/readyz", "/readyz?verbose=0", "/readyz?other=1"])
        expect(await ask(plain)).toEqual([status, `${first}\n`]);
      expect(await ask("/healthz?verbose=1")).toEqual([200, "ok\n"]);
    }
    const { url } = await startGateway();
    expect(await (await fetch(`${url}/readyz?verbose=1`)).text()).toBe("ok\n");
  });
});

describe("every answer", () => {
  const paths = [
    "/api/v1/health",
    "/api/v1/nothing",
    "/healthz",
    "/nothing",
    "/steward.dedup.v1.JobService/Nothing",
    "/steward.dedup.v1.SystemService/GetHealth",
  ];

  it.each(paths)(
    "of %s echoes a good request id, makes one for a bad one, and has the house's headers",
    async (path) => {
      const { url } = await startGateway();
      const good = await fetch(url + path, { headers: { "x-request-id": "Ab.1_2-3" } });
      expect(good.headers.get("x-request-id")).toBe("Ab.1_2-3");
      for (const bad of ["with space", "a".repeat(65), "ünicode", ""]) {
        const answer = await fetch(url + path, {
          headers: { "x-request-id": Buffer.from(bad).toString("latin1") },
        });
        expect(answer.headers.get("x-request-id")).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }
      expect(good.headers.get("x-content-type-options")).toBe("nosniff");
      expect(good.headers.get("x-frame-options")).toBe("DENY");
      expect(good.headers.get("referrer-policy")).toBe("no-referrer");
      expect(good.headers.get("cache-control")).toBe("no-store");
      expect(good.headers.get("content-security-policy")).toContain("default-src 'none'");
    },
  );

  it("of an rpc has them too", async () => {
    const { url } = await startGateway();
    const answer = await connectCall(url, "/steward.dedup.v1.SystemService/GetHealth", "{}", {
      "x-request-id": "rpc-1",
    });
    expect([answer.headers.get("x-request-id"), answer.headers.get("cache-control")]).toEqual([
      "rpc-1",
      "no-store",
    ]);
  });

  it("of the listener itself has them too", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = streamRoute(async () => (resolve(), await new Promise<never>(() => undefined)));
    const { gateway, url } = await startGateway(
      { plain: [held] },
      { admissionMs: 10, owner: { requests: 1 } },
    );
    const client = await connectRaw(gateway.port);
    client.socket.write(
      "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nX-Request-Id: tea-1\r\n\r\n",
    );
    const refused = (await client.until(/\r\n\r\n/)).toLowerCase();
    expect(refused).toMatch(/^http\/1\.1 417 /);
    for (const header of [
      "x-request-id: tea-1",
      "cache-control: no-store",
      "x-frame-options: deny",
    ])
      expect(refused).toContain(`\r\n${header}\r\n`);
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/healthz", expect: "tea", "x-request-id": "tea-2" });
    const [second] = (await once(stream, "response")) as [Record<string, unknown>];
    stream.resume();
    expect(second).toMatchObject({
      ":status": 417,
      "x-request-id": "tea-2",
      "cache-control": "no-store",
      "x-frame-options": "DENY",
    });
    const gone = new AbortController();
    const first = fetch(`${url}/api/v1/stream`, { signal: gone.signal }).catch(() => undefined);
    await promise;
    const busy = await fetch(`${url}/api/v1/jobs`, { headers: { "x-request-id": "busy-1" } });
    expect([
      busy.status,
      busy.headers.get("x-request-id"),
      busy.headers.get("cache-control"),
      busy.headers.get("retry-after"),
    ]).toEqual([429, "busy-1", "no-store", "1"]);
    gone.abort();
    await first;
  });

  it("is followed by what its route does once it was sent, and by nothing when the client has left before", async () => {
    const sent: string[] = [];
    const waiting = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { url } = await startGateway({
      plain: [
        streamRoute(async ({ query }, { signal }) => {
          const name = query.get("name") ?? "";
          if (name === "left") {
            waiting.resolve();
            await once(signal, "abort");
            left.resolve();
          }
          return { status: 200, headers: {}, body: name, sent: () => void sent.push(name) };
        }),
      ],
    });
    const gone = new AbortController();
    const first = fetch(`${url}/api/v1/stream?name=left`, { signal: gone.signal }).catch(() => "");
    await waiting.promise;
    gone.abort();
    await Promise.all([first, left.promise]);
    expect(await (await fetch(`${url}/api/v1/stream?name=stayed`)).text()).toBe("stayed");
    await expect.poll(() => sent).toEqual(["stayed"]);
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/api/v1/stream?name=second" });
    stream.resume();
    await once(stream, "close");
    await expect.poll(() => sent).toEqual(["stayed", "second"]);
  });

  it("may replace a header with its own", async () => {
    const { url } = await startGateway({
      plain: [
        streamRoute(() =>
          Promise.resolve({
            status: 200,
            headers: { "cache-control": "max-age=60", "content-type": "text/plain" },
            body: "kept",
          }),
        ),
      ],
    });
    expect((await fetch(`${url}/api/v1/stream`)).headers.get("cache-control")).toBe("max-age=60");
  });
});

describe.skipIf(!hasOpenssl)("over TLS (skipped without the openssl command)", () => {
  it("every answer says that only TLS will do, and gRPC, Connect and REST are served", async () => {
    const pair = makePair("localhost");
    const { gateway } = await startGateway({}, {}, writePair(testFolder(), pair));
    const session = connectHttp2(`https://localhost:${gateway.port}`, { ca: pair.cert });
    onTestFinished(() => session.destroy());
    for (const [path, type] of [
      ["/healthz", ""],
      ["/api/v1/jobs", ""],
      ["/api/v1/nothing", ""],
      ["/steward.dedup.v1.JobService/ListJobs", "application/json"],
      ["/steward.dedup.v1.JobService/ListJobs", "application/grpc"],
    ] as const) {
      const stream = session.request({
        ":path": path,
        ":method": type === "" ? "GET" : "POST",
        ...(type === "" ? {} : { "content-type": type }),
      });
      stream.end(type === "application/json" ? "{}" : type === "" ? undefined : Buffer.alloc(5));
      const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
      stream.resume();
      expect([headers[":status"], headers["strict-transport-security"]]).toEqual([
        path.endsWith("nothing") ? 404 : 200,
        "max-age=31536000",
      ]);
    }
    expect(gateway.certificate()?.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it("plain HTTP promises nothing of the kind", async () => {
    const { gateway, url } = await startGateway();
    expect((await fetch(`${url}/healthz`)).headers.get("strict-transport-security")).toBeNull();
    expect(gateway.certificate()).toBeUndefined();
  });
});

describe("the handler's call", () => {
  it("carries the request's id over REST and rpc", async () => {
    const ids: string[] = [];
    const { url } = await startGateway({
      services: [systemService({ getHealth: (_request, call) => (ids.push(call.requestId), {}) })],
    });
    await fetch(`${url}/api/v1/health`, { headers: { "x-request-id": "one" } });
    await connectCall(url, "/steward.dedup.v1.SystemService/GetHealth", "{}", {
      "x-request-id": "two",
    });
    expect(ids).toEqual(["one", "two"]);
  });
});

describe("names", () => {
  const paths = [
    ["GET", "/api/v1/jobs"],
    ["GET", "/api/v1/health"],
    ["POST", "/steward.dedup.v1.JobService/ListJobs"],
  ] as const;

  it.each(paths)("of other machines are refused without a token: %s %s", async (method, path) => {
    const { gateway } = await startGateway();
    for (const good of [`localhost:${gateway.port}`, "127.0.0.1", "[::1]:8400"])
      expect(await statusUnder(gateway.port, path, good, method)).toBe(200);
    for (const bad of ["evil.example", "127.0.0.1.evil.example:8400"])
      expect([401, 403]).toContain(await statusUnder(gateway.port, path, bad, method));
  });

  it("are refused over HTTP/2 by the authority", async () => {
    const { gateway } = await startGateway();
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    onTestFinished(() => session.destroy());
    for (const [authority, status] of [
      ["localhost", 200],
      ["evil.example", 401],
    ] as const) {
      const stream = session.request({ ":path": "/api/v1/jobs", ":authority": authority });
      const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
      stream.resume();
      expect(headers[":status"]).toBe(status);
    }
  });

  it("do not matter with a token", async () => {
    const { gateway } = await startGateway({ auth: { token, allowedHosts: [] } });
    expect(await statusUnder(gateway.port, "/api/v1/health", "evil.example")).toBe(200);
    expect(await statusUnder(gateway.port, "/api/v1/jobs", "evil.example")).toBe(401);
  });

  it.each([
    ["no host", "GET /api/v1/health HTTP/1.0\r\n\r\n"],
    ["two hosts", "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"],
    ["a broken host", "GET /api/v1/health HTTP/1.1\r\nHost: local host\r\n\r\n"],
    ["a whole URL", "GET http://localhost/api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["a star", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"],
  ])("must be one and well-formed: %s is 400", async (_name, text) => {
    const { gateway } = await startGateway();
    const client = await connectRaw(gateway.port);
    client.socket.write(text);
    expect(await client.until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 400/);
  });
});

describe("the token over REST", () => {
  it("is asked for with a challenge", async () => {
    const { url } = await startGateway({ auth: { token, allowedHosts: [] } });
    const answer = await fetch(`${url}/api/v1/jobs`);
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([
      401,
      expect.stringContaining("Basic"),
    ]);
    expect(await answer.json()).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    for (const authorization of [
      "Bearer word",
      `Basic ${Buffer.from("me:word").toString("base64")}`,
    ])
      expect((await fetch(`${url}/api/v1/jobs`, { headers: { authorization } })).status).toBe(200);
    expect((await fetch(`${url}/api/v1/health`)).status).toBe(200);
  });

  it("is asked for with a header line for each challenge: browsers do not split one at its comma", async () => {
    const { gateway, url } = await startGateway({ auth: { token, allowedHosts: [] } });
    const lines = ['Bearer realm="steward"', 'Basic realm="steward"'];
    for (const [method, path, body] of [
      ["GET", "/api/v1/jobs", undefined],
      ["POST", "/steward.dedup.v1.JobService/ListJobs", "{}"],
    ] as const) {
      const headers = { "content-type": "application/json" };
      const request = httpRequest({ port: gateway.port, path, method, headers });
      request.end(body);
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.resume();
      expect([path, response.statusCode]).toEqual([path, 401]);
      expect(response.headersDistinct["www-authenticate"]).toEqual(lines);
    }
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/api/v1/jobs" });
    const [, , raw] = (await once(stream, "response")) as [unknown, unknown, string[]];
    stream.resume();
    expect(raw.flatMap((each, at) => (each === "www-authenticate" ? [raw[at + 1]] : []))).toEqual(
      lines,
    );
  });

  it("is needed to listen for other machines", () => {
    const deps = {
      services: [],
      plain: [],
      probes: {
        live: () => ({ ok: true, reasons: [] }),
        ready: () => ({ ok: true, reasons: [] }),
        serviceReady: () => true,
      },
      log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
      clock: systemClock,
      ids: systemIds,
    };
    const address = { host: "0.0.0.0", port: 0 };
    expect(() => createGateway({ ...deps, auth: { allowedHosts: [] } }, { address })).toThrow(
      expect.objectContaining({ code: "invalid", field: "gateway.listen" }),
    );
    expect(createGateway({ ...deps, auth: { token, allowedHosts: [] } }, { address }).port).toBe(0);
  });
});

describe("a page of another site", () => {
  it("may read and not change", async () => {
    const { url } = await startGateway();
    const headers = { "sec-fetch-site": "cross-site", origin: "http://evil.example" };
    expect((await fetch(`${url}/api/v1/jobs`, { headers })).status).toBe(200);
    const answer = await fetch(`${url}/api/v1/jobs/j/cancel`, { method: "POST", headers });
    expect([
      answer.status,
      ((await answer.json()) as { error: { message: string } }).error.message,
    ]).toEqual([401, expect.stringContaining("another site")]);
    expect(
      (await fetch(`${url}/api/v1/jobs/j/cancel`, { method: "POST", headers: { origin: url } }))
        .status,
    ).toBe(200);
  });

  it("reads which names differ and what a proxy must do, unless the browser knows it for foreign", async () => {
    const { url, host } = await startGateway();
    const origin = `https://steward.example/"\u00e9${"x".repeat(200)}`;
    const refusal = async (headers: Record<string, string>): Promise<string> => {
      const answer = await fetch(`${url}/api/v1/jobs/j/cancel`, { method: "POST", headers });
      return ((await answer.json()) as { error: { message: string } }).error.message;
    };
    for (const headers of [{ origin }, { origin, "sec-fetch-site": "same-origin" }] as Record<
      string,
      string
    >[]) {
      const message = await refusal(headers);
      expect(message).toContain(`Host is "${host}"`);
      expect(message).toContain(`Origin is ${JSON.stringify(origin.slice(0, 100))}`);
      expect(message).toMatch(/proxy in front must pass on the Host header of the browser$/);
    }
    expect(await refusal({ origin, "sec-fetch-site": "cross-site" })).not.toMatch(/proxy|Host/);
  });
});

describe("a body", () => {
  const sync = bindService(SyncService, { startSync: () => ({}), getSyncStatus: () => ({}) });

  it.each([
    ["/api/v1/sync", 408],
    ["/steward.dedup.v1.JobService/GetJob", 408],
    ["/steward.dedup.v1.JobService/Nothing", 404],
    ["/api/v1/nothing", 404],
  ])("that comes a byte at a time is cut on %s after %i", async (path, status) => {
    const { gateway } = await startGateway(
      { services: [sync, jobService()] },
      { owner: { bodyMs: 100 } },
    );
    const client = await connectRaw(gateway.port);
    client.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`,
    );
    trickle(client, " ", 10);
    expect((await client.closed()).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    await expect.poll(() => gateway.inFlight()).toBe(0);
  });

  const large = " ".repeat(5_000_000);

  it.each([
    ["REST, declared", "/api/v1/sync", "Content-Length: 5000000", large, 413],
    [
      "REST, in chunks",
      "/api/v1/sync",
      "Transfer-Encoding: chunked",
      `4c4b40\r\n${large}\r\n0\r\n\r\n`,
      413,
    ],
    [
      "rpc, declared",
      "/steward.dedup.v1.SyncService/StartSync",
      "Content-Length: 5000000",
      large,
      429,
    ],
    [
      "rpc, in chunks",
      "/steward.dedup.v1.SyncService/StartSync",
      "Transfer-Encoding: chunked",
      `4c4b40\r\n${large}\r\n0\r\n\r\n`,
      429,
    ],
  ])(
    "larger than its surface takes is refused, and the connection ends once the answer is read: %s",
    async (_name, path, header, body, status) => {
      const { gateway } = await startGateway({ services: [sync] });
      const client = await connectRaw(gateway.port);
      client.socket.write(
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${header}\r\n\r\n${body}`,
      );
      const first = await client.closed();
      expect(first.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
      expect(first).toMatch(/connection: close\r\n[^]*larger than/);
    },
  );

  it("that breaks off harms nobody", async () => {
    const { gateway, url } = await startGateway();
    for (let round = 0; round < 10; round += 1) {
      const client = await connectRaw(gateway.port);
      client.socket.write(
        `POST /steward.dedup.v1.JobService/${round % 2 === 0 ? "GetJob" : "Nothing"} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jo`,
      );
      await expect.poll(() => gateway.connections()).toBeGreaterThan(0);
      client.socket.destroy();
    }
    await expect.poll(() => gateway.inFlight()).toBe(0);
    expect((await fetch(`${url}/api/v1/health`)).status).toBe(200);
  });
});

describe("a plain stream", () => {
  it("is written no faster than it is read, and ends its source when the client vanishes", async () => {
    let sent = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    async function* pour(): AsyncGenerator<Uint8Array> {
      try {
        for (; ; sent += 1) yield new Uint8Array(64 * 1024);
      } finally {
        resolve();
      }
    }
    const { gateway } = await startGateway({
      plain: [
        streamRoute(() =>
          Promise.resolve({
            status: 200,
            headers: { "content-type": "application/octet-stream" },
            body: pour(),
          }),
        ),
      ],
    });
    const client = await connectRaw(gateway.port);
    client.socket.write("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await client.until(/200 OK/);
    client.socket.pause();
    let before = -1;
    await expect
      .poll(
        () => {
          const still = sent === before;
          before = sent;
          return still;
        },
        { interval: 100 },
      )
      .toBe(true);
    expect(sent).toBeLessThan(1000);
    client.socket.destroy();
    await promise;
    await expect.poll(() => gateway.inFlight()).toBe(0);
  });

  it("aborts the call's signal when the client vanishes although nothing is being sent", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { gateway } = await startGateway({
      plain: [
        streamRoute((_request, { signal }) => {
          signal.addEventListener("abort", () => resolve(signal.reason));
          return Promise.resolve({
            status: 200,
            headers: { "content-type": "text/event-stream" },
            body: {
              [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
            },
          });
        }),
      ],
    });
    const client = await connectRaw(gateway.port);
    client.socket.write("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await client.until(/text\/event-stream/);
    client.socket.destroy();
    expect(await promise).toMatchObject({ code: "cancelled" });
    await expect.poll(() => gateway.inFlight()).toBe(0);
  });

  it("that nobody reads releases its resources, and has no length for HEAD", async () => {
    const released: string[] = [];
    async function* piecesOf(name: string): AsyncGenerator<string> {
      try {
        yield await Promise.resolve("one");
        yield "two";
      } finally {
        released.push(name);
      }
    }
    const { url } = await startGateway({
      plain: [
        streamRoute(({ method, query }) =>
          Promise.resolve({
            status: Number(query.get("status")),
            headers: { "content-type": "text/csv" },
            body: piecesOf(`${method} ${query.get("status")}`),
          }),
        ),
      ],
    });
    const head = await fetch(`${url}/api/v1/stream?status=200`, { method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, null]);
    await expect.poll(() => released).toEqual(["HEAD 200"]);
    expect((await fetch(`${url}/api/v1/stream?status=304`)).status).toBe(304);
    await expect.poll(() => released).toEqual(["HEAD 200", "GET 304"]);
  });

  it("that breaks is cut, so that the client does not take it for whole", async () => {
    async function* broken(): AsyncGenerator<string> {
      yield "first";
      throw new Error("the archive went away");
    }
    const { url } = await startGateway({
      plain: [
        streamRoute(() =>
          Promise.resolve({ status: 200, headers: { "content-type": "text/csv" }, body: broken() }),
        ),
      ],
    });
    const answer = await fetch(`${url}/api/v1/stream`);
    await expect(answer.text()).rejects.toThrow("terminated");
  });

  it("of events ends whole when the process stops, and a file is sent to its end", async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const body = async function* (): AsyncGenerator<string> {
      yield "begun\n";
      await release;
      yield "ended\n";
    };
    const route = (template: string, type: string): PlainRoute =>
      streamRoute(
        () => Promise.resolve({ status: 200, headers: { "content-type": type }, body: body() }),
        template,
      );
    const { gateway, url } = await startGateway({
      plain: [route("/api/v1/events", "text/event-stream"), route("/api/v1/file", "text/csv")],
    });
    const [events, file] = await Promise.all([
      fetch(`${url}/api/v1/events`),
      fetch(`${url}/api/v1/file`),
    ]);
    const stopped = gateway.stop(10_000);
    expect(await events.text()).toBe("begun\n");
    resolve();
    expect(await file.text()).toBe("begun\nended\n");
    await stopped;
  });
});

describe("stopping", () => {
  it("lets requests of every protocol finish under load", async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const slow = async (): Promise<{ data: { id: string } }> => (
      await release,
      { data: { id: "done" } }
    );
    const { gateway, url } = await startGateway({ services: [jobService({ getJob: slow })] });
    const rest = Array.from(
      { length: 20 },
      async () => (await fetch(`${url}/api/v1/jobs/j`)).status,
    );
    const rpc = Array.from(
      { length: 20 },
      async () => (await connectCall(url, "/steward.dedup.v1.JobService/GetJob", "{}")).status,
    );
    await expect.poll(() => gateway.inFlight()).toBe(40);
    const stopped = gateway.stop(10_000);
    resolve();
    expect(new Set(await Promise.all([...rest, ...rpc]))).toEqual(new Set([200]));
    await stopped;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
  });
});
