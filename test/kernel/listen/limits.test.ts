import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
} from "node:http2";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Handler } from "../../../src/kernel/listen/handler.ts";
import { bodyLength, connectRaw, echo, listen, sendPieces, trickle } from "./raw-client.ts";

const head = (more = ""): string => `GET /a HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const chunk = new Uint8Array(64 * 1024);

function openSession(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  onTestFinished(() => session.destroy());
  return session;
}

function openStream(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  endStream = true,
): ClientHttp2Stream {
  const stream = session.request(headers, { endStream });
  stream.on("error", () => undefined);
  return stream;
}

// `once` would reject with the error that comes before.
function gone(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => session.once("close", () => resolve()));
}

async function status(stream: ClientHttp2Stream): Promise<unknown> {
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  return headers[":status"];
}

/** Settings and a request over HTTP/2 of a client that acknowledges nothing. */
const silentRequest = [
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
  // A GET of http://x/ by the static table (RFC 7541, appendix A), and the end of its stream.
  Uint8Array.of(0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x84, 0x41, 0x01, 0x78),
];

/** Writes for ever and remembers when it was cut. */
function pouring(): { handle: Handler; cut: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    cut: promise,
    handle: (_request, response) => {
      response.once("close", resolve);
      response.writeHead(200, { "content-type": "application/octet-stream" });
      const pour = (): void => {
        let flowing = true;
        while (flowing && !response.destroyed) flowing = response.write(chunk);
      };
      response.on("drain", pour);
      pour();
    },
  };
}

describe("an HTTP/1.1 connection", () => {
  it("is cut with 408 when its head comes a byte at a time", async () => {
    const { port } = await listen(echo, { headerMs: 300 });
    const client = await connectRaw(port);
    client.socket.write("GET /slow HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    trickle(client, "a", 10);
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 408 Request Timeout/);
  });

  it("is cut with 408 when the head of a later request comes a byte at a time", async () => {
    const { port } = await listen(echo, { headerMs: 1_000 });
    const client = await connectRaw(port);
    client.socket.write(head());
    await client.until(/GET \/a 0/);
    client.socket.write("GET /slow HTTP/1.1\r\nX-Slow: ");
    trickle(client, "a", 10);
    expect(await client.closed()).toMatch(/408 Request Timeout/);
  });

  it("is cut with 408 when its body comes a byte at a time, and the handler hears of it", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { port } = await listen(
      async (request) => {
        await bodyLength(request).catch((error: unknown) => resolve(error));
      },
      { owner: { bodyMs: 300 } },
    );
    const client = await connectRaw(port);
    client.socket.write("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    trickle(client, "a", 10);
    expect(await client.closed()).toMatch(
      /^HTTP\/1\.1 408 Request Timeout[^]*the body took too long/,
    );
    expect(await promise).toBeInstanceOf(Error);
  });

  it("is cut when a body goes on after its answer", async () => {
    const { port } = await listen(
      (request, response) => {
        request.resume();
        response.writeHead(413).end("too large");
      },
      { owner: { bodyMs: 300 } },
    );
    const client = await connectRaw(port);
    client.socket.write(
      "POST /long HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
    );
    await client.until(/too large/);
    const timer = setInterval(
      () => client.socket.writable && client.socket.write("1\r\na\r\n"),
      10,
    );
    await client.closed();
    clearInterval(timer);
  });

  it("is kept after an answer that did not wait for the body", async () => {
    const { port } = await listen((request, response) => {
      request.resume();
      response.writeHead(413).end("too large");
    });
    const client = await connectRaw(port);
    client.socket.write(
      `POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n${"a".repeat(300_000)}`,
    );
    await client.until(/too large/);
    client.socket.write(head());
    expect(await client.until(/too large[^]*too large/)).not.toMatch(/connection: close/i);
  });

  it("keeps nothing of the requests with bodies that it brought before", async () => {
    const ends = new Set<unknown>();
    const { port } = await listen(async (request, response, admitted) => {
      ends.add(Reflect.get(request.socket, "destroySoon"));
      await echo(request, response, admitted);
    });
    const client = await connectRaw(port);
    for (let count = 1; count <= 20; count += 1) {
      client.socket.write(`POST /${count} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc`);
      await client.until(new RegExp(`POST /${count} 3`));
    }
    // What ends the connection refers to the request at hand, not to a chain of all that came
    // before.
    expect(ends.size).toBe(1);
  });

  it("is refused with 431 when its head is larger than allowed", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    client.socket.write(head(`X-Large: ${"a".repeat(17 * 1024)}\r\n`));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 431 Request Header Fields Too Large/);
  });

  it("is closed when it stays idle", async () => {
    const { port } = await listen(echo, { idleMs: 200 });
    const client = await connectRaw(port);
    client.socket.write(head());
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 200/);
  });

  it("is cut when its client does not read on, and not while an answer is merely quiet", async () => {
    const { handle, cut } = pouring();
    const { port } = await listen(handle, { stallMs: 200 });
    const client = await connectRaw(port);
    client.socket.write(head());
    await client.until(/200 OK/);
    client.socket.pause();
    await cut;

    const quiet = await listen(
      (_request, response) => {
        response.writeHead(200);
        response.write("first ");
        setTimeout(() => response.end("last"), 250);
      },
      { stallMs: 50 },
    );
    const patient = await connectRaw(quiet.port);
    patient.socket.write(head());
    expect(await patient.until(/last/)).toMatch(/first/);
  });
});

describe("an HTTP/2 connection", () => {
  it("is answered 408 when a body comes a byte at a time, and stays open", async () => {
    const { port } = await listen(
      async (request, response) => {
        await bodyLength(request).catch(() => undefined);
        if (!response.headersSent) response.end("read");
      },
      { owner: { bodyMs: 100 } },
    );
    const session = openSession(port);
    const slow = openStream(session, { ":method": "POST", ":path": "/slow" }, false);
    const timer = setInterval(() => slow.writable && slow.write("a"), 10);
    expect(await status(slow)).toBe(408);
    // Node's client emits no "close" when a write of its own was under way at the reset.
    await expect.poll(() => slow.closed).toBe(true);
    clearInterval(timer);
    expect(await status(openStream(session, { ":path": "/next" }))).toBe(200);
  });

  it("has no body time on paths that stay open", async () => {
    const { port } = await listen(echo, { owner: { bodyMs: 30 } }, ({ url }) => ({
      share: "owner",
      kind: url === "/both-ways" ? "conversation" : "request",
      address: undefined,
    }));
    const session = openSession(port);
    const stream = openStream(session, { ":method": "POST", ":path": "/both-ways" }, false);
    setTimeout(() => stream.end("done"), 150);
    expect(await status(stream)).toBe(200);
  });

  it("refuses a header list larger than allowed, also before the client has heard of the limit", async () => {
    const { port } = await listen(echo);
    const session = openSession(port);
    const large = { ":path": "/", "x-large": "a".repeat(20 * 1024) };
    expect(await status(openStream(session, large).resume())).toBe(431);
    await expect.poll(() => session.pendingSettingsAck).toBe(false);
    const stream = openStream(session, large);
    await new Promise((resolve) => stream.once("close", resolve));
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it("tells its client how many streams it may open", async () => {
    const { port } = await listen(echo, { streamsPerConnection: 7 });
    const session = openSession(port);
    await once(session, "remoteSettings");
    expect(session.remoteSettings.maxConcurrentStreams).toBe(7);
    expect(session.remoteSettings.maxHeaderListSize).toBe(16 * 1024);
  });

  it("ends when a client resets streams faster than forgiven", async () => {
    const { port } = await listen(() => undefined, { resetBurst: 20, resetsPerSecond: 1 });
    const session = openSession(port);
    await once(session, "remoteSettings");
    const closed = gone(session);
    let resets = 0;
    const timer = setInterval(() => {
      for (
        let index = 0;
        index < 10 && !session.closed && !session.destroyed;
        index += 1, resets += 1
      )
        openStream(session, { ":path": "/" }).close(constants.NGHTTP2_CANCEL);
    }, 5);
    await closed;
    clearInterval(timer);
    // What was on its way when the server had had enough counts too.
    expect(resets).toBeLessThan(300);
  });

  it("is closed when no request comes, however often it pings", async () => {
    const { port } = await listen(echo, { headerMs: 500 });
    const session = openSession(port);
    await once(session, "remoteSettings");
    const timer = setInterval(() => !session.destroyed && session.ping(() => undefined), 10);
    await gone(session);
    clearInterval(timer);
    expect(session.destroyed).toBe(true);
  });

  it("is not closed while an answer is being made, however long that takes", async () => {
    const { port } = await listen(
      (_request, response) => void setTimeout(() => response.end("late"), 1_500),
      { headerMs: 1_000, idleMs: 200 },
    );
    const stream = openStream(openSession(port), { ":path": "/" });
    expect(await status(stream.resume())).toBe(200);
  });

  it("is closed when idle after its last request", async () => {
    const { port } = await listen(echo, { idleMs: 200 });
    const session = openSession(port);
    expect(await status(openStream(session, { ":path": "/" }).resume())).toBe(200);
    await gone(session);
    expect(session.destroyed).toBe(true);
  });

  it("is cut when its client does not acknowledge a ping, with what it waits for", async () => {
    let inFlight = 0;
    const listener = await listen(() => void (inFlight = listener.inFlight()), { stallMs: 200 });
    const client = await connectRaw(listener.port);
    await sendPieces(client, silentRequest);
    await client.closed();
    expect(inFlight).toBe(1);
    await expect.poll(() => [listener.inFlight(), listener.connections()]).toEqual([0, 0]);
  });

  it("is not pinged while it is idle: its client may read only while it waits for a response", async () => {
    const { port } = await listen(echo, { stallMs: 100, idleMs: 2_000 });
    const client = await connectRaw(port);
    const sentMs = performance.now();
    await sendPieces(client, silentRequest);
    await client.until(/GET \/ 0/);
    await client.closed();
    expect(performance.now() - sentMs).toBeGreaterThan(1_500);
  });

  it("stays open for a client that acknowledges pings, however long an answer takes", async () => {
    const { port } = await listen(
      (_request, response) => void setTimeout(() => response.end("late"), 3_500),
      { stallMs: 1_000 },
    );
    const stream = openStream(openSession(port), { ":path": "/" });
    expect(await status(stream.resume())).toBe(200);
  });

  it("cuts a stream whose client grants no more room", async () => {
    const { handle, cut } = pouring();
    const { port } = await listen(handle, { stallMs: 200 });
    const stream = openStream(openSession(port), { ":path": "/" });
    stream.pause();
    await cut;
    expect(stream.closed || stream.destroyed || !stream.readableEnded).toBe(true);
  });
});

describe("a listener", () => {
  it("answers one connection too many with 503 while all carry requests, and accepts again when one has left", async () => {
    const listener = await listen(
      (_request, response) => void response.writeHead(200).write("held"),
      { connections: 2 },
    );
    const first = await connectRaw(listener.port);
    const stream = openStream(openSession(listener.port), { ":path": "/" });
    first.socket.write(head());
    await Promise.all([first.until(/held/), once(stream, "data")]);
    const third = await connectRaw(listener.port);
    expect(await third.closed()).toMatch(
      /^HTTP\/1\.1 503[^]*Retry-After: 1[^]*too many connections/,
    );
    first.socket.destroy();
    await expect.poll(() => listener.connections()).toBe(1);
    const fourth = await connectRaw(listener.port);
    fourth.socket.write(head());
    expect(await fourth.until(/held/)).toMatch(/200 OK/);
  });

  it("gives a new connection the place of the oldest that has no request, and that of an idle one only after those", async () => {
    const listener = await listen(echo, { connections: 3 });
    const kept = await connectRaw(listener.port);
    kept.socket.write(head());
    await kept.until(/GET \/a/);
    const silent = await connectRaw(listener.port);
    const half = await connectRaw(listener.port);
    half.socket.write("GET /a HTTP/1.1\r\nHost");
    await expect.poll(() => listener.connections()).toBe(3);
    const newcomers = [];
    for (const loser of [silent, half, kept]) {
      const newcomer = await connectRaw(listener.port);
      newcomer.socket.write(head());
      await newcomer.until(/GET \/a/);
      await loser.closed();
      newcomers.push(newcomer);
    }
    expect(newcomers.filter(({ socket }) => socket.closed)).toEqual([]);
    expect(listener.connections()).toBe(3);
  });

  it("cuts no connection over HTTP/2 that has a stream, and takes an idle one's place", async () => {
    const listener = await listen(echo, { connections: 1 });
    const session = openSession(listener.port);
    const stream = openStream(session, { ":path": "/", ":method": "POST" }, false);
    await expect.poll(() => listener.inFlight()).toBe(1);
    expect(await (await connectRaw(listener.port)).closed()).toMatch(/503/);
    stream.end();
    expect(await status(stream)).toBe(200);
    stream.resume();
    await expect.poll(() => listener.inFlight()).toBe(0);
    const next = await connectRaw(listener.port);
    next.socket.write(head());
    await Promise.all([next.until(/GET \/a/), gone(session)]);
  });

  it("makes the answers of one HTTP/1.1 connection one after the other, as they are read", async () => {
    let begun = 0;
    const { port } = await listen((_request, response) => {
      begun += 1;
      response.end(Buffer.alloc(32 * 1024 * 1024));
    });
    const client = await connectRaw(port);
    client.socket.pause();
    client.socket.write(head().repeat(50));
    await expect.poll(() => begun).toBe(1);
    const other = await connectRaw(port);
    other.socket.write(head());
    await other.until(/200 OK/);
    expect(begun).toBe(2);
  });

  it("ends a connection that has more requests waiting than it may", async () => {
    let begun = 0;
    const { port } = await listen(() => void (begun += 1), { pipelined: 3 });
    const [many, enough] = [await connectRaw(port), await connectRaw(port)];
    enough.socket.write(head().repeat(4));
    many.socket.write(head().repeat(5));
    await many.closed();
    expect([begun, enough.socket.closed]).toEqual([2, false]);
  });

  it("answers what takes no place however many others wait", async () => {
    const listener = await listen(
      (request, response) => void (request.url === "/probe" && response.end("alive")),
      { admissionMs: 20, owner: { requests: 1 } },
      ({ url }) => ({
        share: url === "/probe" ? "probe" : "owner",
        kind: "request",
        address: undefined,
      }),
    );
    const [busy, probe] = [await connectRaw(listener.port), await connectRaw(listener.port)];
    busy.socket.write(head());
    await expect.poll(() => listener.inFlight()).toBe(1);
    probe.socket.write("GET /probe HTTP/1.1\r\nHost: x\r\n\r\n");
    await probe.until(/alive/);
    expect(listener.inFlight()).toBe(1);
  });

  it("answers a request 503 that found no place in time, and serves one that did", async () => {
    const releases: (() => void)[] = [];
    const listener = await listen(
      (_request, response) => void releases.push(() => response.end("served")),
      { admissionMs: 1_000, owner: { requests: 1 } },
    );
    const clients = await Promise.all([1, 2].map(() => connectRaw(listener.port)));
    const [first, second] = clients;
    first?.socket.write(head());
    await expect.poll(() => listener.inFlight()).toBe(1);
    second?.socket.write(head());
    expect(await second?.until(/too many requests/)).toMatch(/503[^]*retry-after: 1/);
    second?.socket.write("GET /again HTTP/1.1\r\nHost: x\r\n\r\n");
    releases[0]?.();
    expect(await first?.until(/served/)).toMatch(/200/);
    await expect.poll(() => releases.length).toBe(2);
    releases[1]?.();
    expect(await second?.until(/served/)).toMatch(/200/);
    await expect.poll(() => listener.inFlight()).toBe(0);
  });

  it("gives places back when clients vanish before their answers", async () => {
    const listener = await listen(() => undefined, { owner: { requests: 3 } });
    const clients = await Promise.all([1, 2, 3].map(() => connectRaw(listener.port)));
    for (const client of clients) client.socket.write(head() + head());
    await expect.poll(() => listener.inFlight()).toBe(3);
    for (const client of clients) client.socket.destroy();
    await expect.poll(() => listener.inFlight()).toBe(0);
    await expect.poll(() => listener.connections()).toBe(0);
  });

  it("answers 500 without internals when its handler throws", async () => {
    const { port } = await listen(() => Promise.reject(new Error("the secret reason")));
    const client = await connectRaw(port);
    client.socket.write(head());
    const text = await client.until(/internal error/);
    expect(text).toMatch(/^HTTP\/1\.1 500/);
    expect(text).not.toMatch(/secret reason/);
  });
});
