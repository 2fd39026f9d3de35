import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { healthcheck } from "../../src/commands/healthcheck.ts";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serving(status: number, body: string | undefined): Promise<string> {
  server = createServer((request, response) => {
    if (body !== undefined) response.writeHead(request.url === "/readyz" ? status : 500).end(body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server?.once("listening", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function run(
  listen: string,
  timeoutMs = 5_000,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const seen = { stdout: "", stderr: "" };
  const output = {
    stdout: (text: string) => void (seen.stdout += text),
    stderr: (text: string) => void (seen.stderr += text),
  };
  const code = await healthcheck(
    { config: undefined, demo: false, timeoutMs },
    { HOME: "/", STEWARD_GATEWAY__LISTEN: listen, ...environment },
    output,
  );
  return { code, ...seen };
}

describe("-healthcheck", () => {
  it("ends 0 when the daemon is ready", async () => {
    const listen = await serving(200, "ok\n");
    expect(await run(listen)).toEqual({
      code: 0,
      stdout: `healthcheck: ready (http://${listen}/readyz -> 200)\n`,
      stderr: "",
    });
  });

  it("ends 1 with the reason when it is not, without what a terminal would obey", async () => {
    const listen = await serving(503, "starting\u001b[2J");
    const result = await run(listen);
    expect([result.code, result.stdout]).toEqual([1, ""]);
    expect(result.stderr).toMatch(/^healthcheck: not ready \(.* -> 503\): starting/);
    expect(result.stderr).not.toContain("\u001b");
  });

  it("reads no more than 4 KiB of what is said", async () => {
    expect((await run(await serving(503, "x".repeat(100_000)))).stderr.length).toBeLessThan(4_300);
  });

  it.each([
    ["127.0.0.1:1", /ECONNREFUSED/],
    ["127.0.0.1:0", /port 0/],
    ["nonsense", /config invalid/],
  ])("ends 2 when %s cannot be asked", async (listen, reason) => {
    const result = await run(listen);
    expect([result.code, result.stdout]).toEqual([2, ""]);
    expect(result.stderr).toMatch(reason);
  });

  it("asks the admin listener where there is one, and the gateway where that is switched off", async () => {
    const listen = await serving(200, "ok\n");
    const admin = { STEWARD_ADMIN__LISTEN: listen };
    expect(await run("127.0.0.1:1", 5_000, admin)).toEqual({
      code: 0,
      stdout: `healthcheck: ready (http://${listen}/readyz -> 200)\n`,
      stderr: "",
    });
    expect(
      await run("127.0.0.1:1", 5_000, { ...admin, STEWARD_ADMIN__ENABLED: "false" }),
    ).toMatchObject({ code: 2, stderr: expect.stringContaining("127.0.0.1:1/readyz") as string });
    expect(await run("127.0.0.1:1", 5_000, { STEWARD_ADMIN__LISTEN: "127.0.0.1:0" })).toMatchObject(
      { code: 2, stderr: expect.stringContaining("admin.listen has port 0") as string },
    );
  });

  it("asks this machine where the listener has every address", async () => {
    const listen = await serving(200, "ok\n");
    expect(
      await run(`0.0.0.0:${listen.split(":")[1]}`, 5_000, {
        STEWARD_AUTH__TOKEN: "a-token-of-twenty-characters",
      }),
    ).toMatchObject({ code: 0, stdout: `healthcheck: ready (http://${listen}/readyz -> 200)\n` });
  });

  it("ends 2 when nobody answers in time", async () => {
    expect(await run(await serving(200, undefined), 50)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no answer within 50 ms") as string,
    });
  });
});
