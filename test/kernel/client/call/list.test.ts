import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { failureOf } from "../../../../src/kernel/client/failure.ts";
import { byLink } from "../../../../src/kernel/client/call/list.ts";
import type { Client, ListRequest, NextPage, Page } from "../../../../src/kernel/client/types.ts";
import { createTestClient, createUpstream, forever, retry, sendJson } from "../upstream.ts";

/** The next page by its number, until `next` is null or missing. */
function byPageNumber({ beside, number }: Page): NextPage | undefined {
  const next = beside.get("next");
  return next === undefined || next === null ? undefined : { query: { page: number + 1 } };
}

const list: ListRequest = {
  operation: "documents",
  path: "/documents",
  query: { page_size: 2 },
  at: ["results"],
  next: byPageNumber,
  maxPages: 10,
};

async function all(client: Client, request: ListRequest = list): Promise<unknown[]> {
  const elements: unknown[] = [];
  for await (const batch of client.items(request, forever)) elements.push(...batch);
  return elements;
}

describe("a list", () => {
  it("is read page by page until there is no next one", async () => {
    await using upstream = await createUpstream((_, response, count) =>
      sendJson(response, {
        count: 5,
        next: count < 3 ? "http://elsewhere.invalid/?page=9" : null,
        results: count < 3 ? [count, -count] : [count],
      }),
    );
    await using client = createTestClient(upstream.url);
    expect(await all(client)).toEqual([1, -1, 2, -2, 3]);
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      "/documents?page_size=2",
      "/documents?page_size=2&page=2",
      "/documents?page_size=2&page=3",
    ]);
    expect(client.status()).toMatchObject([{ operation: "documents", requests: 3, failures: 0 }]);
  });

  it("follows links of the same origin, and no others", async () => {
    await using upstream = await createUpstream((_, response, count) =>
      sendJson(response, [count], {
        link: `<${upstream.url.href}x?page=1>; rel="prev", <${count === 1 ? upstream.url.href : "http://127.0.0.1:1/"}documents?page=${count + 1}>; rel="last next"`,
      }),
    );
    await using client = createTestClient(upstream.url);
    const seen: unknown[] = [];
    const error: unknown = await (async () => {
      for await (const batch of client.items({ ...list, at: [], next: byLink }, forever))
        seen.push(...batch);
    })().catch((thrown: unknown) => thrown);
    expect(seen).toEqual([1, 2]);
    expect(failureOf(error)).toMatchObject({ class: "redirect" });
    expect(upstream.requests.map(({ url }) => url)).toEqual([
      "/documents?page_size=2",
      "/documents?page=2",
    ]);
  });

  it("with more pages than allowed is an error, not a short list", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, { next: "more", results: [1] }),
    );
    await using client = createTestClient(upstream.url);
    await expect(all(client)).rejects.toMatchObject({
      rule: "too_large",
      message: expect.stringContaining("more than 10 pages"),
    });
    expect(upstream.requests).toHaveLength(10);
  });

  it("repeats a page that fails before its first batch, and none after it", async () => {
    await using early = await createUpstream((_, response, count) => {
      if (count === 2) sendJson(response, {}, {}, 503);
      else if (count === 3)
        response.writeHead(200, { "content-length": "999" }).write("{", () => response.destroy());
      else sendJson(response, { next: count === 1 ? "x" : null, results: [count] });
    });
    await using client = createTestClient(early.url);
    expect(await all(client)).toEqual([1, 4]);

    await using late = await createUpstream((_, response) => {
      response.writeHead(200, { "content-length": "999" });
      response.write('{"results":[1,', () => setTimeout(() => response.destroy(), 50));
    });
    await using other = createTestClient(late.url);
    const seen: unknown[] = [];
    await expect(
      (async () => {
        for await (const batch of other.items(list, forever)) seen.push(...batch);
      })(),
    ).rejects.toMatchObject({
      rule: "transport",
      message: expect.stringMatching(/^archive: documents: the connection failed/),
    });
    expect(seen).toEqual([1]);
    expect(late.requests).toHaveLength(1);
    expect(other.status()).toMatchObject([{ requests: 1, failures: 1, lastClass: "transport" }]);
  });

  it("never ends short: a body cut off in order, without a list, or with something else in its place is an error", async () => {
    for (const body of [
      '{"results":[1,2',
      '{"results":[1,2]',
      '{"count":2}',
      '{"results":{}}',
      "",
    ]) {
      await using upstream = await createUpstream(
        (_, response) =>
          void response.writeHead(200, { "content-type": "application/json" }).end(body),
      );
      await using client = createTestClient(upstream.url, { retry: { ...retry, retries: 0 } });
      await expect(all(client)).rejects.toMatchObject({ code: "upstream", rule: "decode" });
    }
  });

  it("larger than any limit of a whole body is never held whole", async () => {
    const piece = `${JSON.stringify({ text: "x".repeat(1_000) })},`.repeat(100);
    await using upstream = await createUpstream((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"results":[');
      let left = 200;
      const more = (): void => {
        if (left === 0) response.end('{}],"next":null}');
        else response.write(piece, more);
        left -= 1;
      };
      more();
    });
    const large = { wireBytes: 1e9, bodyBytes: 1e9 };
    await using client = createTestClient(upstream.url, {
      limits: { ...large, json: { bytes: 1e9, depth: 8, stringBytes: 10_000, elements: 1e6 } },
    });
    let count = 0;
    let largest = 0;
    for await (const batch of client.items(list, forever)) {
      count += batch.length;
      largest = Math.max(largest, batch.length);
    }
    expect(count).toBe(20_001);
    expect(largest).toBeLessThan(100);
  });

  it("gives its reader all the time it wants: only waiting for the upstream counts", async () => {
    await using upstream = await createUpstream((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"results":[1', () =>
        setTimeout(() => {
          response.write(",2", () => setTimeout(() => response.end("]}"), 20));
        }, 20),
      );
    });
    await using client = createTestClient(upstream.url, { limits: { attemptMs: 1_000 } });
    const seen: unknown[] = [];
    for await (const batch of client.items(list, forever)) {
      seen.push(...batch);
      await new Promise((resolve) => {
        setTimeout(resolve, 1_200);
      });
    }
    expect(seen).toEqual([1, 2]);
    expect(client.reports[0]?.durationMs).toBeLessThan(1_000);
  });

  it("bounds an upstream that stops in the middle, and ends at once when it is told to", async () => {
    const begun = Promise.withResolvers<void>();
    await using upstream = await createUpstream((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"results":[1,', () => begun.resolve());
    });
    await using client = createTestClient(upstream.url, { limits: { attemptMs: 150 } });
    await expect(all(client)).rejects.toMatchObject({ code: "deadline", rule: "timeout" });
    const stop = new AbortController();
    await using patient = createTestClient(upstream.url);
    const batches = patient.items(list, stop.signal)[Symbol.asyncIterator]();
    expect(await batches.next()).toEqual({ done: false, value: [1] });
    const waiting = batches.next();
    stop.abort(new StewardError("cancelled", "enough"));
    await expect(waiting).rejects.toMatchObject({ code: "cancelled", message: "enough" });
    expect(patient.reports).toMatchObject([{ class: "cancelled" }]);
  });

  it("that is left early gives its place and its connection back", async () => {
    await using upstream = await createUpstream((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"results":[1,');
    });
    await using client = createTestClient(upstream.url, {
      limits: { inFlight: 1, connections: 1 },
    });
    for (let turn = 0; turn < 3; turn++) {
      for await (const batch of client.items(list, forever)) {
        expect(batch).toEqual([1]);
        break;
      }
    }
    expect(client.reports.map((report) => report.class)).toEqual([undefined, undefined, undefined]);
  });
});

describe("byLink", () => {
  it.each([
    ['<http://a/2>; rel="next"', "http://a/2"],
    ["<http://a/2>; rel=next", "http://a/2"],
    ['<x>; rel="prev", </b?c=1,2>; title="t"; rel="next"', "/b?c=1,2"],
    ['<x>; rel="nextish"', undefined],
    ['<x>; rel="prev"', undefined],
    ["", undefined],
  ])("reads %j", (link, expected) => {
    const next = byLink({ number: 1, elements: 0, beside: new Map(), headers: { link } });
    expect(next).toEqual(expected === undefined ? undefined : { link: expected });
  });
});
