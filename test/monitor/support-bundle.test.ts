import { unzipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { supportBundleRoute, type SupportBundleDeps } from "../../src/monitor/support-bundle.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { createCall, type PlainRequest } from "../../src/kernel/service.ts";
import { run } from "../../workers/bundle/bundle.ts";
import type { BundleInput } from "../../workers/bundle/tasks.ts";
import { createManualClock } from "../kernel/supervisor/manual-clock.ts";

const status = {
  service: {},
  update: {},
  config: {},
  components: [],
  api: {},
  delivery: [],
  collectors: [],
  advisories: [],
  flow_store: {},
  metrics: [],
  log_events: [],
  devices: [{ name: "d" }],
  health: "healthy",
  capability_matrix: [],
  cardinality: {},
};
const call = createCall({ signal: new AbortController().signal, requestId: "r" });

function route(call: SupportBundleDeps["monitor"]["component"]["call"]) {
  const pool = {
    run: (_task: unknown, input: unknown) =>
      Promise.resolve(
        run(input as BundleInput, {
          cancelled: () => false,
          step: () => undefined,
          transfer: () => undefined,
        }),
      ),
  } as unknown as SupportBundleDeps["pool"];
  return supportBundleRoute({
    monitor: { component: { call } },
    pool,
    clock: createManualClock(),
    version: "1.2.3",
  });
}

const request = (query: string): PlainRequest =>
  ({ query: new URLSearchParams(query) }) as PlainRequest;

describe("/api/support-bundle.zip", () => {
  it("asks the monitor for its status, and names the archive by version and time", async () => {
    const asked: unknown[] = [];
    const bundle = route((method, _body, { encoding }) => {
      asked.push([method, encoding]);
      return Promise.resolve({
        meta: {},
        body: new TextEncoder().encode(JSON.stringify(status)),
        chunks: undefined,
      });
    });
    const { status: code, headers, body } = await bundle.handle(request(""), call);
    expect([code, asked]).toEqual([200, [["steward.monitor.v1.StatusService/GetStatus", "json"]]]);
    expect(headers).toEqual({
      "content-type": "application/zip",
      "content-disposition": 'attachment; filename="steward-support-1.2.3-20231114T221321Z.zip"',
    });
    expect(Object.keys(unzipSync(body as Uint8Array))).not.toContain("devices.json");
    for (const [query, has] of [
      ["include_devices=1", true],
      ["include_devices=true", false],
      ["include_devices=01", false],
    ] as const) {
      expect([
        query,
        Object.keys(
          unzipSync((await bundle.handle(request(query), call)).body as Uint8Array),
        ).includes("devices.json"),
      ]).toEqual([query, has]);
    }
  });

  it("takes a status in pieces", async () => {
    const text = Buffer.from(JSON.stringify(status));
    const pieces = [text.subarray(0, 9), text.subarray(9)].map((part) => {
      const piece = new Uint8Array(new SharedArrayBuffer(part.length));
      piece.set(part);
      return piece;
    });
    const { body } = await route(() =>
      Promise.resolve({ meta: {}, body: new Uint8Array(), pieces, chunks: undefined }),
    ).handle(request("include_devices=1"), call);
    expect(
      JSON.parse(Buffer.from(unzipSync(body as Uint8Array)["devices.json"] ?? []).toString()),
    ).toMatchObject([{ name: "d" }]);
  });

  it("is not there while the monitor does not run", async () => {
    await expect(
      route(() => Promise.reject(new StewardError("not_ready", "monitor is not running"))).handle(
        request(""),
        call,
      ),
    ).rejects.toMatchObject({ code: "not_ready" });
  });
});
