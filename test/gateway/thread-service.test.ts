import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { JOB_PROGRESS_ROUTE } from "../../src/dedup/api/jobs.ts";
import type { BoundService } from "../../src/kernel/service.ts";
import { plainRows } from "../../src/kernel/threads/calls/answers.ts";
import { createServiceHost } from "../../src/kernel/threads/host/service-host.ts";
import type { Placement } from "../../src/kernel/threads/hosted-service.ts";
import { DedupSampleService } from "../gen/steward/test/v1/dedup_sample_pb.ts";
import { sampleModule } from "../kernel/threads/fixtures/module.ts";
import { otherServices } from "./sample-services.ts";
import { startGateway } from "./start-gateway.ts";

async function sampleOn(on: Placement): Promise<readonly BoundService[]> {
  const log = createLog({ level: "error", format: "json", write: () => undefined, now: () => 0 });
  const host = createServiceHost({ clock: systemClock, ids: systemIds, log }, sampleModule, {
    on,
    options: { greeting: "hello" },
  });
  onTestFinished(() => host.stop(5000));
  await host.start(new AbortController().signal, () => undefined);
  return host.service().rpc;
}

async function ask(url: string, line: string, body?: string): Promise<unknown[]> {
  const [method = "GET", path = "/"] = line.split(" ");
  const answer = await fetch(`${url}${path}`, {
    method,
    ...(body === undefined ? {} : { body }),
    headers: { "x-request-id": "r-1" },
  });
  return [
    answer.status,
    answer.headers.get("content-type"),
    answer.headers.get("content-length"),
    await answer.text(),
  ];
}

describe("a service in a thread of its own", () => {
  it("answers REST with the very bytes that it would answer with on the main thread", async () => {
    const urls = await Promise.all(
      (["main", "thread"] as const).map(
        async (on) => (await startGateway({ services: await sampleOn(on) })).url,
      ),
    );
    const lines: [string, string?][] = [
      ["GET /api/v1/shelves/ü/samples?limit=7"],
      ["GET /api/v1/samples/stats"],
      ["GET /api/v1/samples/9"],
      ["POST /api/v1/samples", '{"name":"n","kind":"plain"}'],
      ["POST /api/v1/samples", "{}"],
      ["GET /api/v1/export/sample.json"],
    ];
    for (const [line, body] of lines) {
      const [main, thread] = await Promise.all(urls.map((url) => ask(url, line, body)));
      expect(thread).toEqual(main);
    }
    expect((await ask(urls[1] ?? "", "GET /api/v1/export/sample.json"))[3]).toBe(
      '{\n  "version": "r-1"\n}',
    );
  });

  it("writes the JSON there, but for streams, which have no REST route", async () => {
    const [service] = await sampleOn("thread");
    expect(service?.json?.(DedupSampleService.method.getSample)).toBeTypeOf("function");
    expect(service?.json?.(DedupSampleService.method.watchSample)).toBeUndefined();
  });
});

it("the routes of a service in a thread keep their description, limits and lifetime", () => {
  const row = { ...JOB_PROGRESS_ROUTE, limits: { bodyBytes: 1 } };
  expect(
    plainRows({
      name: "dedup",
      rpc: [],
      plain: [{ ...row, handle: () => Promise.reject(new Error("not asked")) }],
    }),
  ).toEqual([row]);
});

describe("JSON that a service has written itself", () => {
  it("goes out as it is, in the envelope of its surface", async () => {
    const written = (service: BoundService): BoundService => ({
      ...service,
      json: () => () => Promise.resolve(Buffer.from('{"as":"written","n":1.10}')),
    });
    const { url } = await startGateway({ services: otherServices().map(written) });
    expect((await ask(url, "GET /api/sample.json"))[3]).toBe('{"as":"written","n":1.10}\n');
    expect((await ask(url, "POST /api/sample/purge"))[3]).toBe('{"as":"written","n":1.10}');
    expect((await ask(url, "GET /v1/sample/x"))[3]).toContain(
      '"data":{"as":"written","n":1.10},"wrap_info"',
    );
    expect((await ask(url, "DELETE /v1/sample/x")).slice(0, 1)).toEqual([204]);
  });
});
