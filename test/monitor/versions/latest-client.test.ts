import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createLatestClient } from "../../../src/monitor/versions/latest-client.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function setUp(answers: (string | undefined)[], devices = true) {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const answer = answers.shift();
    if (answer === undefined) response.writeHead(500).end();
    else response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const clock = createManualClock();
  const lines: string[] = [];
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => void lines.push(line),
    now: () => clock.now(),
  });
  const client = createLatestClient(
    { clock, ids: systemIds, log, version: "1.0.0" },
    {
      devices,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/stable/?mode=json`,
      cacheTtlMs: 3_600_000,
      timeoutMs: 10_000,
    },
  );
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await setImmediate();
  };
  return { clock, client, asked, lines, until };
}

describe("The latest client", () => {
  it("is what the package index says, asked again when its time is over", async () => {
    const { client, clock, asked, until } = await setUp([
      '{"Version":"v1.88.1","Tarballs":{}}',
      '{"Version":"1.90.0"}',
    ]);
    expect(client.latest()).toBeUndefined();
    await client.start(new AbortController().signal, () => undefined);
    await until(() => client.latest() === "1.88.1");
    expect(asked).toEqual(["/stable/?mode=json"]);
    await until(() => clock.timers() > 0);
    await clock.advance(3_600_000);
    await until(() => client.latest() === "1.90.0");
    await client.stop(0);
  });

  it("stays what it was when the index fails or tells nothing, and says so", async () => {
    const { client, clock, lines, until } = await setUp([
      '{"Version":"1.88.1"}',
      undefined,
      '{"Version":7}',
    ]);
    await client.start(new AbortController().signal, () => undefined);
    await until(() => client.latest() !== undefined && clock.timers() > 0);
    await clock.advance(3_600_000);
    await until(() => lines.length === 1 && clock.timers() > 0);
    expect(lines[0]).toContain("the check for the latest client version failed");
    await clock.advance(3_600_000);
    await until(() => lines.length === 2);
    expect(client.latest()).toBe("1.88.1");
    await client.stop(0);
  });

  it("is asked of nobody when the check is off, and stops while it waits", async () => {
    const off = await setUp(['{"Version":"1.88.1"}'], false);
    await off.client.start(new AbortController().signal, () => undefined);
    await off.clock.advance(10_000);
    expect(off.asked).toEqual([]);
    await off.client.stop(0);
    await off.client.stop(0);
  });
});
