import { describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { createTokenBucket } from "../../../../src/kernel/client/call/token-bucket.ts";
import type { CallReport, ClientSpec } from "../../../../src/kernel/client/types.ts";
import { createTestClient, createUpstream, forever, get, retry, sendJson } from "../upstream.ts";

function counted(url: URL, spec: Partial<Omit<ClientSpec, "limits">> = {}) {
  const calls: CallReport[] = [];
  const client = createTestClient(url, { ...spec, observeCall: (report) => calls.push(report) });
  return { client, calls, [Symbol.asyncDispose]: () => client.close() };
}

describe("the report of a call", () => {
  it("is one for all attempts, with the waits between them", async () => {
    await using upstream = await createUpstream((_, response, count) =>
      sendJson(response, {}, { "retry-after": "1" }, count < 3 ? 503 : 200),
    );
    await using given = counted(upstream.url, {
      retry: { retries: 3, baseDelayMs: 1, maxDelayMs: 25 },
    });
    await given.client.call(get, forever);
    expect(given.calls).toMatchObject([
      { operation: "things", status: 200, class: undefined, attempts: 3, waitedMs: 0 },
    ]);
    expect(given.calls[0]?.durationMs).toBeGreaterThanOrEqual(50);
  });

  it("tells the last failure of a call in vain, and of one that was not even tried", async () => {
    await using upstream = await createUpstream((_, response) => sendJson(response, {}, {}, 503));
    await using given = counted(upstream.url, {
      breaker: { failures: 2, coolMs: 60_000 },
      retry: { ...retry, retries: 1 },
    });
    await expect(given.client.call(get, forever)).rejects.toThrow();
    await expect(given.client.call(get, forever)).rejects.toMatchObject({ rule: "unavailable" });
    expect(given.calls).toMatchObject([
      { status: 503, class: "server", attempts: 2 },
      { status: 0, class: "unavailable", attempts: 0, durationMs: 0 },
    ]);
  });

  it("comes for a list when the list was read, or broke off, or was left", async () => {
    const long = JSON.stringify({
      things: Array.from({ length: 9_000 }, (_, index) => `${index}`),
    });
    await using upstream = await createUpstream((_, response, count) => {
      response.writeHead(200, { "content-type": "application/json" });
      if (count === 2)
        response.write(long.slice(0, -10), () => setImmediate(() => response.destroy()));
      else response.end(long);
    });
    await using given = counted(upstream.url);
    const list = { operation: "things", path: "/things", at: ["things"], maxPages: 1 } as const;
    const read = async (): Promise<void> => {
      const before = given.calls.length;
      for await (const _ of given.client.items(list, forever))
        expect(given.calls).toHaveLength(before);
    };
    await read();
    await expect(read()).rejects.toThrow();
    for await (const _ of given.client.items(list, forever)) break;
    expect(given.calls.map(({ class: kind, attempts }) => [kind, attempts])).toEqual([
      [undefined, 1],
      ["transport", 1],
      [undefined, 1],
    ]);
  });

  it("says cancelled when the caller left while it waited", async () => {
    await using upstream = await createUpstream((_, response) => sendJson(response, {}, {}, 503));
    await using given = counted(upstream.url, {
      retry: { retries: 3, baseDelayMs: 8_000, maxDelayMs: 8_000 },
    });
    const leaving = new AbortController();
    const call = given.client.call(get, leaving.signal);
    while (given.client.reports.length === 0)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    leaving.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(given.calls).toMatchObject([{ status: 503, class: "cancelled", attempts: 1 }]);
  });

  it("keeps waiting for the bucket apart", async () => {
    await using upstream = await createUpstream((_, response) => sendJson(response, 1));
    await using given = counted(upstream.url, {
      bucket: createTokenBucket({ capacity: 1, perSecond: 1, waiting: 10 }, systemClock),
    });
    await Promise.all([given.client.call(get, forever), given.client.call(get, forever)]);
    expect(given.calls[0]?.waitedMs).toBeLessThan(400);
    expect(given.calls[1]?.waitedMs).toBeGreaterThan(500);
    expect(given.calls[1]?.durationMs).toBeLessThan(given.calls[1]?.waitedMs ?? 0);
  });
});

describe("what a client may be told about repeating", () => {
  it("repeats as often as the rule says when calls need not share", async () => {
    await using upstream = await createUpstream((_, response) => sendJson(response, {}, {}, 500));
    await using given = counted(upstream.url, {
      breaker: "none",
      retry: { retries: 6, baseDelayMs: 1, maxDelayMs: 1, budget: "none" },
    });
    for (let call = 0; call < 5; call++)
      await expect(given.client.call(get, forever)).rejects.toThrow("status 500");
    expect(upstream.requests).toHaveLength(35);
  });

  it("does not repeat what its caller calls settled", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, { message: "there is none" }, {}, 500),
    );
    await using given = counted(upstream.url);
    await expect(
      given.client.call(
        { ...get, settled: ({ body }) => body?.includes("there is none") === true },
        forever,
      ),
    ).rejects.toThrow("status 500");
    expect(upstream.requests).toHaveLength(1);
  });

  it("names the key of the limit that an answer broke", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, "x".repeat(500_000)),
    );
    await using client = createTestClient(upstream.url, {
      limits: { bodyKey: "archive.max_bytes" },
    });
    await expect(client.call(get, forever)).rejects.toThrow("the limit is archive.max_bytes");
  });
});
