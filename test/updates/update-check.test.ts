import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { updateAvailable } from "../../src/kernel/telemetry/report/process-metrics.ts";
import {
  createUpdateCheck,
  reportUpdate,
  type UpdateOptions,
} from "../../src/updates/update-check.ts";
import { createManualClock } from "../kernel/supervisor/manual-clock.ts";

const HOUR = 3_600_000;
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Answer = { readonly status: number; readonly body: string } | "cut";
const release = (tag: unknown): Answer => ({
  status: 200,
  body: JSON.stringify({ tag_name: tag, name: "x" }),
});

async function setUp(
  answers: Answer[],
  options: Partial<UpdateOptions> = {},
  { version = "1.2.3", path = "/repos/o/n/releases/latest?a=1&a=2" } = {},
) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers["user-agent"]} ${request.url}`);
    const answer = answers.shift();
    if (answer === "cut" || answer === undefined) return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const clock = createManualClock();
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => void lines.push(line),
    now: () => clock.now(),
  });
  const check = createUpdateCheck(
    { clock, ids: systemIds, log, version },
    { enabled: true, url, cacheTtlMs: HOUR, timeoutMs: 10_000, ...options },
  );
  const settled = async (): Promise<void> => {
    while (clock.timers() !== 1 || check.status().lastCheckedAtMs !== clock.now())
      await setImmediate();
  };
  const next = async (): Promise<void> => {
    await clock.advance(HOUR);
    await settled();
  };
  const start = async (): Promise<void> => {
    await check.start(new AbortController().signal, () => undefined);
    await settled();
  };
  return { check, clock, asked, lines, start, next, settled, url };
}

describe("The look for newer releases", () => {
  it("tells of a newer one, how far it is ahead, and asks again when its time is over", async () => {
    const { check, asked, lines, start, next, clock, url } = await setUp([
      release("v1.4.0"),
      release("2.0.0-rc.1"),
      release("v1.2.3"),
    ]);
    expect(check.status()).toEqual({
      enabled: true,
      state: "checking",
      currentVersion: undefined,
      latestVersion: undefined,
      minorsBehind: 0,
      lastCheckedAtMs: undefined,
      lastErrorClass: undefined,
      releaseUrl: `${new URL(url).origin}/o/n/releases`,
    });
    await start();
    expect(asked).toEqual(["steward/1.2.3 /repos/o/n/releases/latest?a=1&a=2"]);
    expect(check.status()).toMatchObject({
      state: "available",
      currentVersion: "1.2.3",
      latestVersion: "1.4.0",
      minorsBehind: 2,
      lastCheckedAtMs: clock.now(),
      lastErrorClass: undefined,
    });
    expect(lines.join("")).toContain("a newer release of Steward is available");
    await next();
    expect(check.status()).toMatchObject({
      state: "available",
      latestVersion: "2.0.0-rc.1",
      minorsBehind: 0,
    });
    await next();
    expect(check.status()).toMatchObject({
      state: "current",
      currentVersion: "1.2.3",
      latestVersion: "1.2.3",
      minorsBehind: 0,
    });
    await check.stop(0);
    expect(clock.timers()).toBe(0);
  });

  it("asks the address as it is written, e.g. GitLab's of a project by name", async () => {
    const path = "/api/v4/projects/group%2Fname/releases/permalink/latest";
    const { asked, check, start } = await setUp([release("v1.4.0")], {}, { path });
    await start();
    expect(asked).toEqual([`steward/1.2.3 ${path}`]);
    expect(check.status()).toMatchObject({ state: "available", latestVersion: "1.4.0" });
  });

  it("is current where this Steward is newer than what was released", async () => {
    const { check, start } = await setUp([release("v1.0.0")]);
    await start();
    expect(check.status()).toMatchObject({
      state: "current",
      latestVersion: "1.0.0",
      minorsBehind: 0,
    });
    await check.stop(0);
  });

  it("tells a pre-release of its release, in an answer with notes of any usual length", async () => {
    const notes = { tag_name: "v1.2.3", body: "x".repeat(1_000_000) };
    const { check, start } = await setUp(
      [{ status: 200, body: JSON.stringify(notes) }],
      {},
      { version: "1.2.3-rc.1" },
    );
    await start();
    expect(check.status()).toMatchObject({
      state: "available",
      currentVersion: "1.2.3-rc.1",
      latestVersion: "1.2.3",
      minorsBehind: 0,
    });
    await check.stop(0);
  });

  it.each<[string, Answer, string]>([
    ["nobody answers", "cut", "network"],
    ["the answer is an error", { status: 503, body: "{}" }, "http_error"],
    ["there is nothing", { status: 404, body: "{}" }, "http_error"],
    ["the response is not JSON", { status: 200, body: "<html>" }, "parse_error"],
    ["it tells no tag", release(7), "parse_error"],
    ["the tag has no end", release("1".repeat(200)), "parse_error"],
    ["the answer is null", { status: 200, body: "null" }, "parse_error"],
    [
      "the answer is too large",
      { status: 200, body: JSON.stringify({ tag_name: "1.2.3", body: "x".repeat(1_048_576) }) },
      "parse_error",
    ],
  ])(
    "says that it failed when %s, and keeps the last good answer",
    async (_what, answer, errorClass) => {
      const { check, start, next, clock } = await setUp([answer, release("v1.3.0"), answer]);
      await start();
      expect(check.status()).toMatchObject({
        state: "error",
        lastErrorClass: errorClass,
        latestVersion: undefined,
        currentVersion: undefined,
        lastCheckedAtMs: clock.now(),
      });
      await next();
      expect(check.status()).toMatchObject({ state: "available", lastErrorClass: undefined });
      await next();
      expect(check.status()).toMatchObject({
        state: "available",
        latestVersion: "1.3.0",
        lastErrorClass: errorClass,
      });
      await check.stop(0);
    },
  );

  it.each([
    ["dev", "v1.0.0"],
    ["1.2.3", "nightly"],
  ])("says nothing of version %s beside release %s", async (version, tag) => {
    const { check, start } = await setUp([release(tag)], {}, { version });
    await start();
    expect(check.status()).toMatchObject({
      state: "unknown",
      latestVersion: undefined,
      currentVersion: undefined,
      lastErrorClass: undefined,
    });
    await check.stop(0);
  });

  it("asks nobody when it is off", async () => {
    const { check, asked, clock } = await setUp([release("v9.0.0")], { enabled: false });
    await check.start(new AbortController().signal, () => undefined);
    await clock.advance(10 * HOUR);
    expect([asked, check.status().state]).toEqual([[], "disabled"]);
    await check.stop(0);
    await check.stop(0);
  });

  it("leaves a question that a stop finds under way, without a word", async () => {
    const { check, lines, asked, clock } = await setUp([]);
    await check.start(new AbortController().signal, () => undefined);
    await check.stop(0);
    await setImmediate();
    expect([lines, asked.length <= 1, clock.timers(), check.status().state]).toEqual([
      [],
      true,
      0,
      "checking",
    ]);
  });

  it("is a metric at each snapshot while it can be told, and none otherwise", async () => {
    const { check, start, next } = await setUp([
      { status: 500, body: "" },
      release("v1.3.0"),
      release("v1.2.3"),
      release("nightly"),
    ]);
    const seen: (number | undefined)[] = [];
    const observed: (() => void)[] = [];
    using _report = reportUpdate(
      {
        observe: (collect) => {
          observed.push(collect);
          return { [Symbol.dispose]: () => undefined };
        },
        gauge: (row, value) => void (row.name === updateAvailable.name && seen.push(value)),
        end: () => {
          seen.push(undefined);
          return true;
        },
      },
      check,
    );
    const snapshot = (): void => observed.forEach((collect) => collect());
    snapshot();
    await start();
    snapshot();
    for (const _round of [1, 2, 3]) {
      await next();
      snapshot();
    }
    expect(seen).toEqual([undefined, undefined, 1, 0, undefined]);
    await check.stop(0);
  });
});
