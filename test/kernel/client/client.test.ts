import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { basic, bearer, refreshing } from "../../../src/kernel/client/authorizers.ts";
import { failureOf } from "../../../src/kernel/client/failure.ts";
import { createTokenBucket } from "../../../src/kernel/client/call/token-bucket.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { pathOf } from "../../../src/kernel/client/http/url.ts";
import {
  createRawUpstream,
  createTestClient,
  createUpstream,
  forever,
  get,
  limits,
  post,
  retry,
  sendJson,
} from "./upstream.ts";

const token = Secret.of("canary-5f2a", "test");

describe("a call", () => {
  it("sends its credential, name, parameters and body, and reads the answer", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, { ok: [1, "é"] }, { "x-version": "3" }),
    );
    await using client = createTestClient(new URL("/prefix/", upstream.url), {
      auth: bearer(token, "Token"),
    });
    const reply = await client.call(
      {
        ...post,
        path: pathOf`/device/${"a b:c"}/x`,
        query: { page: 2, tag: ["x", "y"], none: undefined },
      },
      forever,
    );
    expect(reply).toMatchObject({
      status: 200,
      value: { ok: [1, "é"] },
      attempts: 1,
      headers: { "x-version": "3" },
    });
    expect(upstream.requests).toMatchObject([
      {
        method: "POST",
        url: "/prefix/device/a%20b%3Ac/x?page=2&tag=x&tag=y",
        body: '{"a":1}',
        headers: {
          authorization: "Token canary-5f2a",
          "user-agent": "steward/1.2.3",
          accept: "application/json",
          "accept-encoding": "gzip, br, zstd",
          "content-type": "application/json",
        },
      },
    ]);
  });

  it("sends user and password in their own form", async () => {
    await using upstream = await createUpstream((_, response) => sendJson(response, 1));
    await using client = createTestClient(upstream.url, {
      auth: basic("jo", Secret.of("pa:ß", "test")),
    });
    await client.call(get, forever);
    expect(upstream.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from("jo:pa:ß").toString("base64")}`,
    );
  });

  it("counts what became of each operation and how long it took", async () => {
    await using upstream = await createUpstream((_, response, count) =>
      sendJson(response, {}, {}, count === 1 ? 503 : count === 3 ? 404 : 200),
    );
    await using client = createTestClient(upstream.url);
    await client.call(get, forever);
    await expect(client.call({ ...get, operation: "others" }, forever)).rejects.toThrow();
    expect(client.reports).toMatchObject([
      { operation: "things", status: 503, class: "server", attempt: 1 },
      { status: 200, class: undefined, attempt: 2 },
      { operation: "others", status: 404, class: "not_found" },
    ]);
    expect(client.status()).toMatchObject([
      {
        operation: "things",
        requests: 2,
        failures: 1,
        retries: 1,
        rateLimited: 0,
        lastStatus: 200,
        lastClass: undefined,
        lastMessage: undefined,
        lastSuccessAtMs: expect.any(Number),
        lastFailureAtMs: expect.any(Number),
      },
      {
        operation: "others",
        requests: 1,
        failures: 1,
        lastStatus: 404,
        lastClass: "not_found",
        lastSuccessAtMs: undefined,
      },
    ]);
    expect(client.status()[0]?.recentMs).toHaveLength(2);
  });

  it("knows how far the upstream's clock is ahead", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, 1, { date: new Date(Date.now() + 300_000).toUTCString() }),
    );
    await using client = createTestClient(upstream.url);
    expect(client.skewMs()).toBe(0);
    await client.call(get, forever);
    expect(Math.abs(client.skewMs() - 300_000)).toBeLessThan(2_000);
  });

  it("does not count waiting for the bucket as its duration", async () => {
    await using upstream = await createUpstream((_, response) => sendJson(response, 1));
    await using client = createTestClient(upstream.url, {
      bucket: createTokenBucket({ capacity: 1, perSecond: 1, waiting: 10 }, systemClock),
    });
    await Promise.all([client.call(get, forever), client.call(get, forever)]);
    expect(client.reports[1]?.waitedMs).toBeGreaterThan(700);
    expect(client.reports[1]?.durationMs).toBeLessThan(700);
    expect(client.status()[0]?.waitedMs).toBeGreaterThan(700);
  });

  it("takes no more calls at once than it may", async () => {
    await using upstream = await createUpstream(() => undefined);
    await using client = createTestClient(upstream.url, { limits: { inFlight: 1 } });
    const first = client.call(get, forever);
    await expect(client.call(get, forever)).rejects.toMatchObject({ code: "exhausted" });
    await client.close();
    await expect(first).rejects.toMatchObject({
      code: "cancelled",
      message: "the client of archive is closed",
    });
    await expect(client.call(get, forever)).rejects.toMatchObject({ code: "cancelled" });
  });

  it.each([
    "/../admin",
    "/a/%2e%2e/b",
    "/a/..%2f",
    "x",
    "/a?b",
    "/a#b",
    "/a\\b",
    "/a\u0000b",
    "//host/a",
    "/a//b",
    "/a b",
  ])("refuses the path %j", async (path) => {
    await using client = createTestClient(new URL("http://127.0.0.1:1/"));
    await expect(client.call({ ...get, path }, forever)).rejects.toMatchObject({
      code: "invalid",
      rule: "path",
    });
  });

  it.each(["ftp://host/", "http://user:pw@host/", "http://host/?a=1", "http://host/#a"])(
    "refuses the base %s without showing it",
    (base) => {
      expect(() => createTestClient(new URL(base))).toThrow(
        expect.objectContaining({ code: "invalid", message: expect.not.stringContaining("pw") }),
      );
    },
  );

  it("gives the body of a refusal to who asks, and to nobody else", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, { message: "app suspended", more: "x".repeat(30_000) }, {}, 422),
    );
    await using client = createTestClient(upstream.url);
    const error: unknown = await client.call(get, forever).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "upstream",
      rule: "rejected",
      message: "archive: things: the request was refused (status 422)",
    });
    expect(failureOf(error)).toMatchObject({
      class: "rejected",
      status: 422,
      body: expect.stringContaining("app suspended"),
    });
    expect(failureOf(error)?.body).toHaveLength(16_384);
    expect(failureOf(new StewardError("upstream", "x"))).toBeUndefined();
  });
});

describe("a call that is stopped", () => {
  const stopped = new StewardError("cancelled", "enough");

  async function stopsWhen(
    client: ReturnType<typeof createTestClient>,
    begun: Promise<unknown>,
    request = get,
  ): Promise<void> {
    const stop = new AbortController();
    const call = client.call(request, stop.signal);
    const outcome = call.catch((error: unknown) => error);
    await begun;
    const atMs = performance.now();
    stop.abort(stopped);
    expect(await outcome).toBe(stopped);
    expect(performance.now() - atMs).toBeLessThan(limits.attemptMs / 4);
  }

  it("ends at once while the upstream is silent, and is no failure", async () => {
    const asked = Promise.withResolvers<void>();
    await using upstream = await createUpstream(() => asked.resolve());
    await using client = createTestClient(upstream.url);
    await stopsWhen(client, asked.promise);
    expect(client.reports).toMatchObject([{ class: "cancelled", status: 0 }]);
    expect(client.status()).toMatchObject([{ requests: 0, failures: 0 }]);
  });

  it("ends at once in the middle of a body, compressed or not", async () => {
    for (const encoding of ["identity", "gzip"]) {
      const asked = Promise.withResolvers<void>();
      await using upstream = await createUpstream((_, response) => {
        response.writeHead(200, {
          "content-type": "application/json",
          "content-encoding": encoding,
        });
        // Once it is sent, one turn of the loop lets the client read it.
        response.write("\x1f\x8b\x08", () => setImmediate(() => setImmediate(asked.resolve)));
      });
      await using client = createTestClient(upstream.url);
      await stopsWhen(client, asked.promise);
    }
  });

  it("ends at once while it waits to try again, for the bucket, or for a credential", async () => {
    const failedOnce = Promise.withResolvers<void>();
    await using upstream = await createUpstream((_, response) => sendJson(response, {}, {}, 503));
    await using waiting = createTestClient(upstream.url, {
      retry: { retries: 3, baseDelayMs: 9_000, maxDelayMs: 9_000 },
      observe: () => failedOnce.resolve(),
    });
    await stopsWhen(waiting, failedOnce.promise);

    const bucket = createTokenBucket({ capacity: 1, perSecond: 0.1, waiting: 5 }, systemClock);
    await bucket.take(forever);
    await using limited = createTestClient(upstream.url, { bucket });
    await stopsWhen(limited, Promise.resolve());

    const hanging = refreshing(
      { fetch: () => new Promise(() => undefined), earlyMs: 0, fetchMs: 5_000 },
      systemClock,
    );
    await using asking = createTestClient(upstream.url, { auth: hanging });
    await stopsWhen(asking, Promise.resolve());
  });
});

describe("secrets", () => {
  it("are in no error, whatever goes wrong", async () => {
    const sent: string[] = [];
    await using upstream = await createUpstream((request, response, count) => {
      sent.push(request.headers.authorization ?? "");
      if (count % 4 === 0) request.socket.destroy();
      else if (count % 4 === 1)
        sendJson(response, { echo: request.headers.authorization }, {}, 401);
      else if (count % 4 === 2)
        response.writeHead(302, { location: "http://elsewhere.invalid/canary-5f2a" }).end();
      else
        response
          .writeHead(200, { "content-type": "text/html" })
          .end(`<p>${request.headers.authorization}`);
    });
    await using client = createTestClient(upstream.url, {
      auth: bearer(token),
      retry: { ...retry, retries: 0 },
    });
    await using broken = createTestClient(upstream.url, {
      auth: bearer(Secret.of("canary-5f2a\nx: y", "test")),
      retry: { ...retry, retries: 0 },
    });
    await using gone = createTestClient(new URL("http://127.0.0.1:1"), {
      auth: bearer(token),
      retry: { ...retry, retries: 0 },
    });
    for (const asked of [client, client, client, client, broken, gone]) {
      const error: unknown = await asked.call(get, forever).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(StewardError);
      for (let link: unknown = error; link instanceof Error; link = link.cause) {
        expect(
          `${link.message} ${link.stack} ${JSON.stringify(Object.entries(link))}`,
        ).not.toContain("canary-5f2a");
      }
      expect(JSON.stringify(asked.status())).not.toContain("canary-5f2a");
    }
    expect(sent).toEqual(Array.from({ length: 4 }, () => "Bearer canary-5f2a"));
  });
});

describe("a renewed credential", () => {
  it("is fetched once for all who wait, used until shortly before its end, and again when it is refused", async () => {
    let fetched = 0;
    const auth = refreshing(
      {
        fetch: async () => {
          fetched += 1;
          return {
            token: Secret.of(`t${fetched}`, "test"),
            expiresAtMs: Date.now() + (fetched === 2 ? 5_000 : 60_000),
          };
        },
        earlyMs: 10_000,
        fetchMs: 1_000,
      },
      systemClock,
    );
    await using upstream = await createUpstream((request, response) =>
      sendJson(response, {}, {}, request.headers.authorization === "Bearer t1" ? 401 : 200),
    );
    await using client = createTestClient(upstream.url, { auth });
    const replies = await Promise.all([
      client.call(get, forever),
      client.call({ ...get }, forever),
    ]);
    expect(replies.map((reply) => reply.attempts)).toEqual([2, 2]);
    expect(fetched).toBeLessThanOrEqual(3);
    const before = fetched;
    await client.call(get, forever);
    expect(fetched - before).toBeLessThanOrEqual(1);
    expect(
      new Set(upstream.requests.map(({ headers }) => headers.authorization)).has("Bearer t1"),
    ).toBe(true);
  });

  it("is not asked for again and again when every one is refused, nor is a post repeated for it", async () => {
    let fetched = 0;
    const auth = refreshing(
      {
        fetch: async () => ({
          token: Secret.of(`t${(fetched += 1)}`, "test"),
          expiresAtMs: Date.now() + 60_000,
        }),
        earlyMs: 0,
        fetchMs: 1_000,
      },
      systemClock,
    );
    await using upstream = await createUpstream((_, response) => sendJson(response, {}, {}, 401));
    await using client = createTestClient(upstream.url, { auth });
    await expect(client.call(get, forever)).rejects.toMatchObject({ rule: "auth" });
    expect(upstream.requests).toHaveLength(2);
    await expect(client.call(post, forever)).rejects.toMatchObject({ rule: "auth" });
    expect(upstream.requests).toHaveLength(3);
    expect(fetched).toBe(3);
  });

  it("fails the call within its time when it does not come", async () => {
    const auth = refreshing(
      {
        fetch: () => Promise.reject(new Error("key canary-5f2a is wrong")),
        earlyMs: 0,
        fetchMs: 1_000,
      },
      systemClock,
    );
    await using client = createTestClient(new URL("http://127.0.0.1:1"), { auth });
    await expect(client.call(get, forever)).rejects.toMatchObject({
      rule: "auth",
      message: "archive: things: the credential was rejected: no credential is available",
    });
    const hanging = refreshing(
      { fetch: () => new Promise(() => undefined), earlyMs: 0, fetchMs: 50 },
      systemClock,
    );
    await using slow = createTestClient(new URL("http://127.0.0.1:1"), { auth: hanging });
    await expect(slow.call(get, forever)).rejects.toMatchObject({ rule: "auth" });
  });
});

describe("redirects", () => {
  it("are followed on the same origin with the credential", async () => {
    await using upstream = await createUpstream((request, response) => {
      if (request.url === "/things") response.writeHead(302, { location: "/moved?x=1" }).end();
      else sendJson(response, "there");
    });
    await using client = createTestClient(upstream.url, { auth: bearer(token) });
    expect((await client.call(get, forever)).value).toBe("there");
    expect(upstream.requests[1]).toMatchObject({
      url: "/moved?x=1",
      headers: { authorization: "Bearer canary-5f2a" },
    });
  });

  it("to anywhere else are refused, and nothing arrives there", async () => {
    await using elsewhere = await createUpstream((_, response) => sendJson(response, "stolen"));
    const targets = [
      elsewhere.url.href,
      `//127.0.0.1:${elsewhere.url.port}/x`,
      "https://127.0.0.1/",
      "ftp://127.0.0.1/",
    ];
    await using upstream = await createUpstream(
      (_, response, count) => void response.writeHead(307, { location: targets[count - 1] }).end(),
    );
    targets.push(upstream.url.href.replace("127", "user:pw@127"));
    await using client = createTestClient(upstream.url, { auth: bearer(token) });
    for (const _ of targets)
      await expect(client.call(get, forever)).rejects.toMatchObject({
        code: "upstream",
        rule: "redirect",
      });
    expect(elsewhere.requests).toEqual([]);
    expect(upstream.requests).toHaveLength(targets.length);
  });

  it("end after ten, are not followed when none are wanted, and never turn a post into something else", async () => {
    await using upstream = await createUpstream(
      (request, response) =>
        void response
          .writeHead(request.url === "/kept" ? 200 : Number(request.headers["x-status"] ?? 302), {
            location: String(request.headers["x-to"] ?? "/things"),
          })
          .end(),
    );
    await using client = createTestClient(upstream.url);
    await expect(client.call(get, forever)).rejects.toMatchObject({ rule: "redirect" });
    expect(upstream.requests).toHaveLength(11);
    await using strict = createTestClient(upstream.url, { redirects: "none" });
    await expect(strict.call(get, forever)).rejects.toMatchObject({ rule: "redirect" });
    const kept = { ...post, headers: { "x-to": "/kept" } };
    await expect(client.call(kept, forever)).rejects.toMatchObject({ rule: "redirect" });
    await expect(
      client.call({ ...kept, headers: { ...kept.headers, "x-status": "307" } }, forever),
    ).rejects.toMatchObject({ rule: "redirect" });
    expect(upstream.requests).toHaveLength(14);
    expect(
      (
        await client.call(
          { ...kept, idempotent: true, headers: { ...kept.headers, "x-status": "308" } },
          forever,
        )
      ).status,
    ).toBe(200);
    expect(upstream.requests.at(-1)).toMatchObject({ method: "POST", body: '{"a":1}' });
  });
});

/**
 * A certificate for 127.0.0.1 that nobody signed but itself; undefined where there is no openssl.
 */
function selfSigned(): { key: string; cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "steward-client-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-subj",
        "/CN=test",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-days",
        "1",
        "-keyout",
        key,
        "-out",
        cert,
      ],
      { stdio: "ignore" },
    );
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const certificate = selfSigned();

describe.skipIf(certificate === undefined)("an upstream with a certificate of its own", () => {
  it("is refused before anything is sent, unless its authority is configured", async () => {
    const seen: unknown[] = [];
    const server = createServer(certificate ?? {}, (request, response) => {
      seen.push(request.headers.authorization);
      sendJson(response, "safe");
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await using wary = createTestClient(url, {
      auth: bearer(token),
      retry: { ...retry, retries: 0 },
    });
    await expect(wary.call(get, forever)).rejects.toMatchObject({
      rule: "transport",
      message: expect.stringContaining("DEPTH_ZERO_SELF_SIGNED_CERT"),
    });
    expect(seen).toEqual([]);
    await using trusting = createTestClient(url, {
      auth: bearer(token),
      trust: { ca: certificate?.cert ?? "" },
    });
    expect((await trusting.call(get, forever)).value).toBe("safe");
    expect(seen).toEqual(["Bearer canary-5f2a"]);
    await trusting.close();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
});

describe("a connection", () => {
  it("is given up when an answer is left unread", async () => {
    await using upstream = await createRawUpstream((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100\r\n\r\n<p>"),
    );
    await using client = createTestClient(upstream.url);
    await expect(client.call(get, forever)).rejects.toMatchObject({ rule: "decode" });
    await expect.poll(() => upstream.connections()).toBe(0);
  });
});
