import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../src/kernel/client/failure.ts";
import type { CallRequest } from "../../../src/kernel/client/types.ts";
import {
  createRawUpstream,
  createTestClient,
  createUpstream,
  forever,
  get,
  post,
  retry,
  sendJson,
} from "./upstream.ts";

const once = { ...retry, retries: 0 };
const json = { "content-type": "application/json" };

/** The error of a call and how long it took. */
async function outcome(
  client: ReturnType<typeof createTestClient>,
  request: CallRequest = get,
): Promise<{ error: unknown; class: string | undefined; tookMs: number }> {
  const begin = performance.now();
  const error: unknown = await client.call(request, forever).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { error, class: failureOf(error)?.class, tookMs: performance.now() - begin };
}

describe("statuses", () => {
  it.each([
    [400, {}, "rejected", "upstream"],
    [401, {}, "auth", "upstream"],
    [403, {}, "forbidden", "upstream"],
    [403, { "retry-after": "1" }, "rate_limited", "exhausted"],
    [403, { "x-ratelimit-remaining": "0" }, "rate_limited", "exhausted"],
    [404, {}, "not_found", "upstream"],
    [408, {}, "timeout", "deadline"],
    [410, {}, "not_found", "upstream"],
    [422, {}, "rejected", "upstream"],
    [429, {}, "rate_limited", "exhausted"],
    [500, {}, "server", "upstream"],
    [502, {}, "server", "upstream"],
    [503, {}, "server", "upstream"],
    [504, {}, "server", "upstream"],
    [304, {}, "redirect", "upstream"],
  ])("%i with %j is %s", async (status, headers, kind, code) => {
    await using upstream = await createUpstream(
      (_, response) => void response.writeHead(status, headers).end(),
    );
    await using client = createTestClient(upstream.url, { retry: once });
    const found = await outcome(client);
    expect(found).toMatchObject({ class: kind, error: { code, rule: kind } });
    expect(failureOf(found.error)?.status).toBe(status);
  });
});

describe("retries", () => {
  it.each([429, 500, 502, 503, 504])(
    "repeat what is idempotent after %i, at most three times",
    async (status) => {
      await using upstream = await createUpstream((_, response) =>
        sendJson(response, {}, {}, status),
      );
      await using client = createTestClient(upstream.url);
      await outcome(client);
      expect(upstream.requests).toHaveLength(4);
      await using eager = createTestClient(upstream.url, { retry: { ...retry, retries: 50 } });
      await outcome(eager);
      expect(upstream.requests).toHaveLength(8);
    },
  );

  it.each([400, 401, 403, 404, 422])("do not repeat after %i", async (status) => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, {}, {}, status),
    );
    await using client = createTestClient(upstream.url);
    await outcome(client);
    expect(upstream.requests).toHaveLength(1);
  });

  it("succeed when the upstream does, and send the body again", async () => {
    await using upstream = await createUpstream((_, response, count) =>
      sendJson(response, count, {}, count < 3 ? 503 : 200),
    );
    await using client = createTestClient(upstream.url);
    expect(await client.call({ ...post, idempotent: true }, forever)).toMatchObject({
      value: 3,
      attempts: 3,
    });
    expect(upstream.requests.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
  });

  it("never repeat what may have had an effect, whatever came back", async () => {
    for (const status of [429, 500, 503]) {
      await using upstream = await createUpstream((_, response) =>
        sendJson(response, {}, { "retry-after": "0" }, status),
      );
      await using client = createTestClient(upstream.url);
      await outcome(client, post);
      expect(upstream.requests).toHaveLength(1);
    }
    let seen = 0;
    await using upstream = await createRawUpstream((socket) => {
      seen += 1;
      socket.resetAndDestroy();
    });
    await using client = createTestClient(upstream.url);
    expect(await outcome(client, post)).toMatchObject({ class: "transport" });
    expect(seen).toBe(1);
    expect(client.reports).toHaveLength(1);
  });

  it("repeat anything that never left, as when nobody listens", async () => {
    await using client = createTestClient(new URL("http://127.0.0.1:1"));
    const found = await outcome(client, post);
    expect(found).toMatchObject({
      class: "transport",
      error: { message: "archive: things: the connection failed: ECONNREFUSED" },
    });
    expect(client.reports).toHaveLength(4);
  });

  it("wait as long as Retry-After says, in seconds or as a date, up to the cap, and tell the caller", async () => {
    const nowMs = Date.now();
    const headers = [
      { "retry-after": "1" },
      {
        "retry-after": new Date(nowMs + 61_000).toUTCString(),
        date: new Date(nowMs + 60_000).toUTCString(),
      },
      { "retry-after": "3600" },
    ];
    for (const asked of headers) {
      const times: number[] = [];
      await using upstream = await createUpstream((_, response, count) => {
        times.push(performance.now());
        sendJson(response, {}, asked, count === 1 ? 429 : 200);
      });
      await using client = createTestClient(upstream.url, {
        retry: { retries: 1, baseDelayMs: 1, maxDelayMs: 150 },
      });
      await client.call(get, forever);
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(148);
    }
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, {}, { "retry-after": "3600" }, 429),
    );
    await using client = createTestClient(upstream.url, { retry: once });
    expect((await outcome(client)).error).toMatchObject({
      code: "exhausted",
      retryAfterMs: 3_600_000,
    });
  });

  it("give up when the wait would outlast the call", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, {}, { "retry-after": "60" }, 503),
    );
    await using client = createTestClient(upstream.url, {
      retry: { retries: 3, baseDelayMs: 1, maxDelayMs: 60_000 },
      limits: { callMs: 5_000 },
    });
    const found = await outcome(client);
    expect(found).toMatchObject({ class: "server" });
    expect(found.tookMs).toBeLessThan(5_000);
  });

  it("add no more than a fifth to the load of an upstream that is down", async () => {
    await using upstream = await createUpstream((_, response) => sendJson(response, {}, {}, 503));
    await using client = createTestClient(upstream.url, {
      breaker: { failures: 1e9, coolMs: 1 },
      retry: { retries: 3, baseDelayMs: 0, maxDelayMs: 0 },
    });
    for (let call = 0; call < 300; call++) await outcome(client);
    expect(upstream.requests.length).toBeGreaterThan(340);
    expect(upstream.requests.length).toBeLessThanOrEqual(360);
  });

  it("stop for a while after ten failures in a row, then ask once", async () => {
    let down = true;
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, {}, {}, down ? 500 : 200),
    );
    await using client = createTestClient(upstream.url, {
      retry: once,
      breaker: { failures: 10, coolMs: 3_000 },
    });
    for (let call = 0; call < 15; call++) await outcome(client);
    expect(upstream.requests).toHaveLength(10);
    const refused = await outcome(client);
    expect(refused).toMatchObject({
      class: "unavailable",
      error: { code: "upstream", retryAfterMs: expect.any(Number) },
    });
    await expect.poll(async () => (await outcome(client)).class, { interval: 20 }).toBe("server");
    expect(upstream.requests).toHaveLength(11);
    down = false;
    await expect.poll(async () => (await outcome(client)).error, { interval: 20 }).toBeUndefined();
    const answers = await Promise.all(Array.from({ length: 5 }, () => outcome(client)));
    expect(answers.map(({ error }) => error)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("an upstream that breaks off", () => {
  it.each([
    ["before the head", ""],
    ["in the head", "HTTP/1.1 200 OK\r\ncontent-ty"],
    ["after the head", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"],
    ["before its declared length", "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n[1,2,3]"],
    ["in a chunk", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n[1"],
    ["between chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1]\r\n"],
    ["without speaking HTTP", "SSH-2.0-OpenSSH_9.2\r\n"],
  ])("%s is a failed connection, repeated", async (_, text) => {
    for (const end of ["end", "resetAndDestroy"] as const) {
      await using upstream = await createRawUpstream((socket) => {
        if (end === "end") socket.end(text);
        else socket.write(text, () => socket.resetAndDestroy());
      });
      await using client = createTestClient(upstream.url, { retry: { ...retry, retries: 1 } });
      expect(await outcome(client)).toMatchObject({
        class: "transport",
        error: { code: "upstream" },
      });
      expect(client.reports.map((report) => report.class)).toEqual(["transport", "transport"]);
    }
  });

  it("in the middle of a compressed body is a failed connection too; what is not compressed as said is not repeated", async () => {
    const whole = JSON.stringify({ list: Array.from({ length: 500 }, (_, id) => ({ id })) });
    for (const [encoding, bytes] of [
      ["gzip", gzipSync(whole)],
      ["br", brotliCompressSync(whole)],
      ["zstd", zstdCompressSync(whole)],
    ] as const) {
      await using upstream = await createUpstream((_, response, count) => {
        response.writeHead(200, { ...json, "content-encoding": encoding });
        response.end(count === 1 ? bytes.subarray(0, bytes.length >> 1) : bytes);
      });
      await using client = createTestClient(upstream.url);
      expect((await client.call(get, forever)).value).toEqual(JSON.parse(whole));
      expect(client.reports.map((report) => report.class)).toEqual(["transport", undefined]);

      await using garbage = await createUpstream(
        (_, response) =>
          void response
            .writeHead(200, { ...json, "content-encoding": encoding })
            .end("this is plain text, however long it is"),
      );
      await using other = createTestClient(garbage.url);
      expect(await outcome(other)).toMatchObject({ class: "decode" });
      expect(garbage.requests).toHaveLength(1);
    }
    await using odd = await createUpstream(
      (_, response) =>
        void response.writeHead(200, { ...json, "content-encoding": "compress" }).end("x"),
    );
    await using client = createTestClient(odd.url);
    expect(await outcome(client)).toMatchObject({ class: "decode" });
  });
});

describe("time", () => {
  const limits = { attemptMs: 500, callMs: 1_400 };

  it("bounds an upstream that accepts and never answers", async () => {
    await using upstream = await createRawUpstream(() => undefined);
    await using client = createTestClient(upstream.url, { limits });
    const found = await outcome(client);
    expect(found).toMatchObject({ class: "timeout", error: { code: "deadline" } });
    expect(found.tookMs).toBeLessThan(3_000);
    expect(client.reports.length).toBeGreaterThan(1);
    expect(client.reports[0]?.durationMs).toBeLessThan(1_200);
  });

  it("bounds an upstream that drips, in head and in body", async () => {
    for (const head of [
      "HTTP/1.1 200 OK\r\n",
      "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 90000\r\n\r\n[",
    ]) {
      await using upstream = await createRawUpstream((socket) => {
        socket.write(head);
        const timer = setInterval(() => {
          socket.write("1");
        }, 10);
        socket.on("close", () => clearInterval(timer));
      });
      await using client = createTestClient(upstream.url, {
        limits: { attemptMs: 500, callMs: 20_000 },
        retry: once,
      });
      const found = await outcome(client);
      expect(found).toMatchObject({ class: "timeout" });
      expect(found.tookMs).toBeLessThan(10_000);
    }
  });

  it("bounds a body and an error body that never end", async () => {
    for (const status of [200, 500]) {
      let written = 0;
      await using upstream = await createUpstream((_, response) => {
        response.writeHead(status, json);
        const piece = Buffer.alloc(16_384, "[");
        const more = (): void => {
          if (response.destroyed) return;
          written += piece.length;
          response.write(piece, () => setImmediate(more));
        };
        more();
      });
      await using client = createTestClient(upstream.url, {
        limits: { attemptMs: 10_000, callMs: 20_000, wireBytes: 65_536 },
        retry: once,
      });
      const found = await outcome(client, { ...get, read: "bytes" });
      expect(found).toMatchObject({ class: status === 200 ? "too_large" : "server" });
      expect(found.tookMs).toBeLessThan(10_000);
      // What the sockets of both sides hold is not ours to bound.
      expect(written).toBeLessThan(8_000_000);
    }
  });
});

describe("size", () => {
  it("is exact, on the wire and after decompression", async () => {
    for (const [length, fits] of [
      [1_000, true],
      [1_001, false],
    ] as const) {
      const body = `"${"x".repeat(length - 2)}"`;
      for (const chunked of [true, false]) {
        await using upstream = await createUpstream((_, response) => {
          response.writeHead(200, chunked ? json : { ...json, "content-length": String(length) });
          if (chunked) response.write(body.slice(0, 10));
          response.end(chunked ? body.slice(10) : body);
        });
        for (const limits of [{ wireBytes: 1_000 }, { bodyBytes: 1_000 }]) {
          await using client = createTestClient(upstream.url, { limits });
          expect((await outcome(client)).class).toBe(fits ? undefined : "too_large");
        }
      }
      await using upstream = await createUpstream(
        (_, response) =>
          void response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(gzipSync(body)),
      );
      await using client = createTestClient(upstream.url, {
        limits: { wireBytes: 100, bodyBytes: 1_000 },
      });
      expect((await outcome(client)).class).toBe(fits ? undefined : "too_large");
    }
  });

  it("that is declared beyond the limit is refused before the body is read", async () => {
    await using upstream = await createRawUpstream((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n["),
    );
    await using client = createTestClient(upstream.url);
    const found = await outcome(client);
    expect(found).toMatchObject({ class: "too_large" });
    expect(found.tookMs).toBeLessThan(1_000);
    await expect.poll(() => upstream.connections()).toBe(0);
  });

  it("is bounded for bombs, of which no more is unpacked than the limit and a little", async () => {
    const zeros = Buffer.alloc(64 * 2 ** 20, 0x20);
    for (const [encoding, bytes] of [
      ["gzip", gzipSync(zeros)],
      ["br", brotliCompressSync(zeros)],
      ["zstd", zstdCompressSync(zeros)],
    ] as const) {
      await using upstream = await createUpstream(
        (_, response) =>
          void response.writeHead(200, { ...json, "content-encoding": encoding }).end(bytes),
      );
      await using client = createTestClient(upstream.url, { limits: { wireBytes: 1_000_000 } });
      const before = process.memoryUsage().arrayBuffers;
      expect(await outcome(client)).toMatchObject({ class: "too_large" });
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
      expect(upstream.requests).toHaveLength(1);
    }
  });
});

describe("content", () => {
  it("that is HTML instead of JSON is a failure that says so, also with status 200", async () => {
    await using upstream = await createUpstream(
      (_, response) =>
        void response
          .writeHead(200, { "content-type": "text/html; charset=utf-8" })
          .end("<html>Log in"),
    );
    await using client = createTestClient(upstream.url);
    expect((await outcome(client)).error).toMatchObject({
      rule: "decode",
      message:
        "archive: things: the response is invalid (status 200): text/html instead of application/json",
      remedy: expect.any(String),
    });
    expect((await client.call({ ...get, read: "bytes" }, forever)).body.toString()).toBe(
      "<html>Log in",
    );
    expect(
      (
        await client.call(
          { ...get, accept: "application/hujson, text/html", read: "bytes" },
          forever,
        )
      ).status,
    ).toBe(200);
  });

  it("that calls itself JSON but is not, is too deep or too much is a failure", async () => {
    for (const [body, kind] of [
      ["<html>", "decode"],
      ['{"a":', "decode"],
      ["[1] [2]", "decode"],
      ["[".repeat(40), "too_large"],
      [`[${"1,".repeat(10_001)}1]`, "too_large"],
    ] as const) {
      await using upstream = await createUpstream(
        (_, response) => void response.writeHead(200, json).end(body),
      );
      await using client = createTestClient(upstream.url);
      expect(await outcome(client)).toMatchObject({ class: kind });
      expect(client.status()).toMatchObject([{ failures: 1, lastClass: kind, lastStatus: 200 }]);
    }
  });

  it("may be absent, of a JSON kind, or without a type", async () => {
    await using upstream = await createUpstream((request, response) => {
      if (request.url === "/none") response.writeHead(204).end();
      else if (request.url === "/problem")
        response.writeHead(200, { "content-type": "application/problem+json" }).end("[1]");
      else response.writeHead(200).end("[2]");
    });
    await using client = createTestClient(upstream.url);
    expect(await client.call({ ...get, path: "/none" }, forever)).toMatchObject({
      status: 204,
      value: undefined,
    });
    expect(await client.call({ ...get, path: "/problem" }, forever)).toMatchObject({ value: [1] });
    expect(await client.call({ ...get, path: "/untyped" }, forever)).toMatchObject({ value: [2] });
    expect(await client.call({ ...get, method: "HEAD" }, forever)).toMatchObject({
      status: 200,
      value: undefined,
    });
  });
});
