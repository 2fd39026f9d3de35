import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { wholeBody } from "../../../src/tokens/engine/platform/body.ts";
import { createHttp, type HttpCall, proxyOf } from "../../../src/tokens/engine/platform/http.ts";
import { direct, startEngineRoom } from "../support/engine.ts";

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const call = (origin: string, more: Partial<HttpCall> = {}): HttpCall => ({
  method: "GET",
  origin,
  path: "/",
  headers: {},
  sink: wholeBody(1_000),
  ...more,
});

describe("a request to the platform", () => {
  it("tells whether anything left", async () => {
    await using room = await startEngineRoom({ config: false });
    const http = createHttp(systemClock, direct);
    const { url } = room.codeHost;
    room.codeHost.faults.next("app", { kind: "reset" });
    expect(await http.send(call(url, { path: "/app" }))).toMatchObject({
      lost: "connection",
      sent: true,
    });
    await room.codeHost.stop();
    expect(await http.send(call(url))).toEqual({
      lost: "connection",
      sent: false,
      reason: "ECONNREFUSED",
    });
    expect(await http.send(call(url, { signal: AbortSignal.abort() }))).toEqual({
      lost: "cancelled",
      sent: false,
      reason: "CANCELLED",
    });
    await http.close();
    expect(await http.send(call(url))).toEqual({
      lost: "cancelled",
      sent: false,
      reason: "CLOSED",
    });
  });

  it("does not leave after it was given up while it waited for a connection", async () => {
    let seen = 0;
    const held: (() => void)[] = [];
    const server = createServer((_request, response) => {
      seen += 1;
      held.push(() => response.end("x"));
    });
    const origin = await listening(server);
    const http = createHttp(systemClock, direct);
    const first = Array.from({ length: 64 }, () => http.send(call(origin)));
    const leaving = new AbortController();
    const late = http.send(call(origin, { signal: leaving.signal }));
    await expect.poll(() => seen).toBe(64);
    leaving.abort();
    expect(await late).toEqual({ lost: "cancelled", sent: false, reason: "CANCELLED" });
    for (const release of held) release();
    await Promise.all(first);
    const next = http.send(call(origin));
    await expect.poll(() => held.length).toBe(65);
    held[64]?.();
    expect(await next).toMatchObject({ status: 200 });
    expect(seen).toBe(65);
    await http.close();
    server.close();
  });

  it("goes through the environment's proxy, except where that says no", async () => {
    await using room = await startEngineRoom({ config: false });
    const isRead: string[] = [];
    const proxy = createServer((request, response) => {
      isRead.push(`${request.method} ${request.url}`);
      response.writeHead(401).end();
    }).on("connect", (request: IncomingMessage, socket: Duplex) => {
      isRead.push(`CONNECT ${request.url}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    const address = await listening(proxy);
    const proxied = createHttp(systemClock, { ...direct, http: address, https: address });
    expect(
      await proxied.send(
        call("http://code.example.org", { path: "/rate_limit", headers: { "user-agent": "x" } }),
      ),
    ).toMatchObject({ status: 401 });
    expect(await proxied.send(call("https://code.example.org"))).toMatchObject({
      lost: "connection",
      sent: false,
    });
    expect(isRead).toEqual([
      "GET http://code.example.org/rate_limit",
      "CONNECT code.example.org:443",
    ]);
    const excepted = createHttp(systemClock, { ...direct, http: address, none: "127.0.0.1" });
    expect(
      await excepted.send(
        call(room.codeHost.url, { path: "/rate_limit", headers: { "user-agent": "x" } }),
      ),
    ).toMatchObject({ status: 200 });
    expect(isRead).toHaveLength(2);
    await Promise.all([proxied.close(), excepted.close()]);
    proxy.close();
    proxy.closeAllConnections();
  });

  it("reads proxies from the environment as everybody does", () => {
    expect(proxyOf({})).toEqual(direct);
    expect(
      proxyOf({
        HTTP_PROXY: "http://a",
        https_proxy: "http://b",
        HTTPS_PROXY: "http://c",
        NO_PROXY: "x",
        no_proxy: "",
      }),
    ).toEqual({ http: "http://a", https: "http://b", none: "x" });
  });
});

describe("a request to a link-local address or a metadata service", () => {
  type Lookup = NonNullable<NonNullable<Parameters<typeof createHttp>[2]>["lookup"]>;
  const resolving = (...addresses: string[]): Lookup =>
    ((_name: string, _options: unknown, done: (error: null, all: unknown) => void) =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      )) as unknown as Lookup;

  it("does not leave, whatever the name resolves to beside it; other names do", async () => {
    const server = createServer((_request, response) => response.end("x"));
    const port = new URL(await listening(server)).port;
    const send = async (
      lookup: Lookup,
      host = "code.example.org",
      allowLinkLocal = false,
    ): Promise<unknown> => {
      const http = createHttp(systemClock, direct, { lookup, allowLinkLocal });
      const outcome = await http.send(call(`http://${host}:${port}`));
      await http.close();
      return outcome.lost === undefined ? outcome.status : outcome;
    };
    const refused = { lost: "connection", sent: false, reason: "FORBIDDEN_ADDRESS" };
    for (const addresses of [
      ["169.254.169.254"],
      ["127.0.0.1", "169.254.1.1"],
      ["fe80::1"],
      ["::ffff:169.254.169.254"],
      ["fd00:ec2::254"],
    ])
      expect([addresses, await send(resolving(...addresses))]).toEqual([addresses, refused]);
    for (const host of [
      "169.254.169.254",
      "[fe80::1]",
      "[::ffff:a9fe:a9fe]",
      "metadata.google.internal",
    ])
      expect([host, await send(resolving("127.0.0.1"), host)]).toEqual([host, refused]);
    expect(await send(resolving("127.0.0.1"))).toBe(200);
    // What is allowed goes the system's way: no look-up of ours is asked.
    expect(await send(resolving("169.254.169.254"), "127.0.0.1", true)).toBe(200);
    server.close();
    server.closeAllConnections();
  });
});
