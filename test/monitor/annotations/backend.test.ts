import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import {
  createAnnotationBackend,
  writeFailureOf,
} from "../../../src/monitor/annotations/backend.ts";
import { markOf, rollUp } from "../../../src/monitor/annotations/rollup.ts";
import type { AnnotationOptions } from "../../../src/monitor/options.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(
  status: number,
): Promise<{ url: string; requests: { head: IncomingMessage; body: unknown }[] }> {
  const requests: { head: IncomingMessage; body: unknown }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      requests.push({ head: request, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) });
      response
        .writeHead(status, { "content-type": "application/json" })
        .end('{"message":"Annotation added","id":1}');
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function backend(url: string, changes: Partial<AnnotationOptions> = {}) {
  return createAnnotationBackend(
    { clock: systemClock, ids: systemIds, version: "1.2.3" },
    {
      url,
      token: { sentSecret: "glsa_x", origin: "test" },
      dashboardUid: "",
      timeoutMs: 60_000,
      maxPerMinute: 60,
      queueSize: 4,
      rollupIntervalMs: 0,
      dedupeRetentionMs: 1,
      extraTags: ["home"],
      categories: {
        config_change: { enabled: true, rollup: true },
        expiry: { enabled: true, rollup: true },
      },
      ...changes,
    },
  );
}

const mark = markOf({
  category: "expiry",
  timeMs: 1_700_000_000_000,
  text: "the key ci expires",
  tags: ["key", "home"],
  identity: "x",
});
const never = new AbortController().signal;

describe("The annotation API", () => {
  it("gets time, text, tags and dashboard with the token", async () => {
    const { url, requests } = await serve(200);
    const api = backend(`${url}/grafana`, { dashboardUid: "abc" });
    await api.write(mark, never);
    await api.close();
    expect(requests[0]?.head.url).toBe("/grafana/api/annotations");
    expect(requests[0]?.head.headers).toMatchObject({
      authorization: "Bearer glsa_x",
      "user-agent": "steward/1.2.3",
      "content-type": "application/json",
    });
    expect(requests[0]?.body).toEqual({
      dashboardUID: "abc",
      time: 1_700_000_000_000,
      text: "the key ci expires",
      tags: ["steward", "expiry", "key", "home"],
    });
  });

  it("shows a rolled-up mark as a region", async () => {
    const { url, requests } = await serve(200);
    const api = backend(url);
    await api.write(
      rollUp([
        { category: "expiry", timeMs: 5, text: "b", tags: [], identity: "b" },
        { category: "expiry", timeMs: 3, text: "a", tags: [], identity: "a" },
      ]),
      never,
    );
    await api.close();
    expect(requests[0]?.body).toMatchObject({ time: 3, timeEnd: 5, text: "2 events\n- a\n- b" });
  });

  it.each([
    [401, "unauthorized"],
    [403, "unauthorized"],
    [400, "rejected"],
    [404, "rejected"],
  ] as const)("says of %s that it is %s", async (status, reason) => {
    const { url } = await serve(status);
    const api = backend(url);
    const error: unknown = await api.write(mark, never).catch((thrown: unknown) => thrown);
    await api.close();
    expect(writeFailureOf(error)).toBe(reason);
    expect(String(error)).not.toContain("glsa_x");
  });

  it("says of a server that is not there that it is unavailable", async () => {
    const api = backend("http://127.0.0.1:1");
    const error: unknown = await api.write(mark, never).catch((thrown: unknown) => thrown);
    await api.close();
    expect(writeFailureOf(error)).toBe("unavailable");
  });
});
