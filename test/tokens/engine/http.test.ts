import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { wholeBody } from "../../../src/tokens/engine/platform/body.ts";
import {
  createHttp,
  type HttpCall,
  type HttpLost,
  type HttpReply,
} from "../../../src/tokens/engine/platform/http.ts";
import { proxyOf } from "../../../src/tokens/engine/platform/proxy.ts";
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
});

describe("a request under the environment's proxies", () => {
  type Lookup = NonNullable<NonNullable<Parameters<typeof createHttp>[2]>["lookup"]>;
  const here = ((_name: string, _options: unknown, done: (error: null, all: unknown) => void) =>
    done(null, [{ address: "127.0.0.1", family: 4 }])) as unknown as Lookup;

  interface Proxy extends AsyncDisposable {
    readonly url: string;
    /** `127.0.0.1:PORT`. */
    readonly host: string;
    /** Requests, in order. */
    readonly seen: string[];
  }

  /** A proxy that refuses every request and every tunnel. */
  async function startProxy(): Promise<Proxy> {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.writeHead(401).end();
    }).on("connect", (request: IncomingMessage, socket: Duplex) => {
      seen.push(`CONNECT ${request.url}`);
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    const url = await listening(server);
    return {
      url,
      host: new URL(url).host,
      seen,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  async function startServer(): Promise<AsyncDisposable & { readonly port: string }> {
    const server = createServer((_request, response) => response.end("x"));
    const { port } = new URL(await listening(server));
    return {
      port,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  /** The outcome of a request with these environment variables. */
  async function sent(
    environment: Record<string, string>,
    origin: string,
  ): Promise<HttpReply | HttpLost> {
    const http = createHttp(systemClock, proxyOf(environment), { lookup: here });
    const outcome = await http.send(call(origin));
    await http.close();
    return outcome;
  }

  it.each(["http://", ""])(
    "goes through a proxy written with %j before its host",
    async (scheme) => {
      await using proxy = await startProxy();
      const both = {
        HTTP_PROXY: `${scheme}${proxy.host}`,
        HTTPS_PROXY: `${scheme}${proxy.host.replace("127.0.0.1", "localhost")}`,
      };
      expect(await sent(both, "http://code.example.org")).toMatchObject({ status: 401 });
      expect(await sent(both, "https://code.example.org")).toMatchObject({
        lost: "connection",
        sent: false,
      });
      expect(proxy.seen).toEqual(["GET http://code.example.org/", "CONNECT code.example.org:443"]);
    },
  );

  it("goes directly over https where only HTTP_PROXY is set, and over http where only HTTPS_PROXY is", async () => {
    await using proxy = await startProxy();
    await using server = await startServer();
    // The server speaks no TLS: it was reached when the connection breaks there.
    expect(
      await sent({ HTTP_PROXY: proxy.url }, `https://code.example.org:${server.port}`),
    ).toMatchObject({ lost: "connection", reason: "ERR_SSL_WRONG_VERSION_NUMBER" });
    expect(
      await sent({ HTTPS_PROXY: proxy.url }, `http://code.example.org:${server.port}`),
    ).toMatchObject({ status: 200 });
    expect(proxy.seen).toEqual([]);
  });

  it("goes directly to this machine, and where NO_PROXY says so", async () => {
    await using proxy = await startProxy();
    await using server = await startServer();
    const at = (host: string, none = ""): Promise<HttpReply | HttpLost> =>
      sent({ HTTP_PROXY: proxy.url, NO_PROXY: none }, `http://${host}:${server.port}`);
    expect(await at("127.0.0.1")).toMatchObject({ status: 200 });
    expect(await at("code.example.org", "10.0.0.0/8,example.org")).toMatchObject({ status: 200 });
    // An address that is not loopback, and leads here all the same.
    expect(await at("0.0.0.0", "0.0.0.0/8")).toMatchObject({ status: 200 });
    expect(proxy.seen).toEqual([]);
    expect(await at("0.0.0.0", "10.0.0.0/8")).toMatchObject({ status: 401 });
    expect(proxy.seen).toEqual([`GET http://0.0.0.0:${server.port}/`]);
  });

  it("trusts a given authority behind a proxy, too", async () => {
    const file = (name: string): string =>
      readFileSync(new URL(`../../contract/golden/listener.${name}.pem`, import.meta.url), "utf8");
    const server = createTlsServer({ cert: file("cert"), key: file("key") }, (_request, response) =>
      response.end("x"),
    );
    const { port } = new URL(await listening(server));
    const tunnel = createServer().on("connect", (_request, socket: Duplex) => {
      const through = connect(Number(port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        socket.pipe(through).pipe(socket);
      });
    });
    const proxy = proxyOf({ HTTPS_PROXY: await listening(tunnel) });
    const outcome = async (ca: string): Promise<HttpReply | HttpLost> => {
      const http = createHttp(systemClock, proxy, { ca });
      const sent = await http.send(call(`https://golden.test:${port}`));
      await http.close();
      return sent;
    };
    expect(await outcome(file("cert"))).toMatchObject({ status: 200 });
    expect(await outcome("")).toMatchObject({ reason: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    server.close();
    tunnel.close();
  });

  it.each(["http://", "ftp://127.0.0.1:9", "http://a:%zz@127.0.0.1:9", "1 2"])(
    "does not leave when its proxy is %j; other requests do, and the client closes",
    async (address) => {
      await using server = await startServer();
      const http = createHttp(systemClock, proxyOf({ HTTPS_PROXY: address }), { lookup: here });
      for (let times = 0; times < 2; times++)
        expect(await http.send(call("https://code.example.org"))).toEqual({
          lost: "connection",
          sent: false,
          reason: "UNUSABLE_PROXY",
        });
      expect(await http.send(call(`http://code.example.org:${server.port}`))).toMatchObject({
        status: 200,
      });
      await http.close();
    },
  );

  it("tells who mints that the proxy cannot be used, and leaves no orphan", async () => {
    await using room = await startEngineRoom({
      proxy: proxyOf({ HTTPS_PROXY: "ftp://127.0.0.1:9" }),
      config: { base_url: "https://code.example.org" },
    });
    const effects: string[] = [];
    const effect = {
      begin: () => void effects.push("begin"),
      none: () => void effects.push("none"),
    };
    expect(
      await room.refusal("create", "token", { installation_id: 1001 }, { effect }),
    ).toMatchObject({
      code: "upstream",
      rule: "transport",
      message: expect.stringMatching(/HTTPS_PROXY.*http:\/\/HOST:PORT/) as string,
    });
    expect(effects).toEqual(["begin", "none"]);
  });

  it("reads proxies from the environment as everybody does", () => {
    expect(proxyOf({})).toEqual(direct);
    expect(
      proxyOf({
        HTTP_PROXY: "http://a",
        https_proxy: "b:3128",
        HTTPS_PROXY: "http://c",
        NO_PROXY: "x",
        no_proxy: "",
      }),
    ).toEqual({ http: "http://a", https: "http://b:3128", none: "x" });
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
