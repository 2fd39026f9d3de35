import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { startReceiver } from "../support/otlp/receiver.ts";
import { removeTemporaryFolders, rest, scrape, startDaemon, temporaryFolder } from "./daemon.ts";

afterAll(removeTemporaryFolders);

const MAX_BYTES = 1_024;
const LONG = "x".repeat(440_000);
const SOON = { timeout: 60_000, interval: 100 };

/** A node of Headscale whose texts are all as long as the answer's limit allows. */
function node(id: number, end: string): object {
  const name = `${LONG}${end}`;
  return {
    id: String(id),
    machineKey: "mkey:0",
    nodeKey: "nodekey:0",
    discoKey: "discokey:0",
    ipAddresses: [`100.64.0.${id}`],
    name,
    givenName: name,
    user: { id: "1", name: `${LONG}u`, createdAt: "2026-01-02T03:04:05Z" },
    lastSeen: "2026-01-02T03:04:05Z",
    expiry: null,
    preAuthKey: null,
    createdAt: "2026-01-02T03:04:05Z",
    registerMethod: "REGISTER_METHOD_CLI",
    online: true,
    approvedRoutes: [],
    availableRoutes: [],
    subnetRoutes: [],
    tags: [],
  };
}

/** A control plane that answers with them. */
async function startHostileHeadscale(): Promise<string> {
  const users = [
    {
      id: "1",
      name: `${LONG}u`,
      displayName: `half a pair \ud83d`,
      createdAt: "2026-01-02T03:04:05Z",
    },
  ];
  const answers: Readonly<Record<string, object>> = {
    node: { nodes: [node(1, "1"), node(2, "2"), node(3, "\ud800")] },
    user: { users },
    preauthkey: { preAuthKeys: [] },
    apikey: { apiKeys: [] },
    policy: { policy: "{}", updatedAt: null },
  };
  const server: Server = createServer((request, response) => {
    const answer = answers[/^\/api\/v1\/(\w+)/.exec(request.url ?? "")?.[1] ?? ""];
    response
      .writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Whether a name is in it that nobody cut. */
function holdsLongName(text: string): boolean {
  return text.includes("x".repeat(MAX_BYTES + 1));
}

it("a control plane with names of half a megabyte makes small scrapes, exports and documents, in which its devices stay apart", async () => {
  const url = await startHostileHeadscale();
  const receiver = await startReceiver({ protocol: "http" });
  onTestFinished(() => receiver.close());
  const daemon = await startDaemon({
    config: JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory: temporaryFolder() },
      services: { dedup: false, tokens: false },
      scrape: { enabled: true, listen: "127.0.0.1:0", timeout: "60s" },
      otlp: { endpoint: receiver.endpoint, metric_interval: "300ms" },
      provider: "headscale",
      headscale: { url, api_key: "hskey-0123456789" },
      collectors: { devices: { interval: "1s" }, users: { interval: "1s" } },
    }),
  });
  onTestFinished(async () => void (await daemon.stop()));
  const online = (text: string): string[] =>
    text.split("\n").filter((line) => line.startsWith("vpn_device_online_ratio{"));
  await vi.waitFor(async () => expect(online(await scrape(daemon))).toHaveLength(3), SOON);
  const text = await scrape(daemon);
  const names = online(text).map((line) => /host_name="([^"]*)"/.exec(line)?.[1] ?? "");
  expect(new Set(names).size).toBe(3);
  for (const name of names) {
    expect(name).toMatch(/^x+…~[0-9a-f]{16}$/);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(MAX_BYTES);
  }
  const labels = [...text.matchAll(/[a-z_]="((?:[^"\\]|\\.)*)"/g)].map(([, value]) =>
    Buffer.byteLength(value ?? ""),
  );
  expect(Math.max(...labels)).toBeLessThanOrEqual(MAX_BYTES);
  expect(text.length).toBeLessThan(1_000_000);
  await vi.waitFor(
    () =>
      expect(
        receiver.points().filter(({ metric }) => metric === "vpn.device.online").length,
      ).toBeGreaterThan(2),
    SOON,
  );
  expect(holdsLongName(JSON.stringify([receiver.points(), receiver.logs()]))).toBe(false);
  for (const path of ["status", "config", "cardinality"]) {
    const document = await rest(daemon, "GET", `/api/${path}.json`);
    expect([path, document.status, holdsLongName(document.text)]).toEqual([path, 200, false]);
  }
  expect(holdsLongName(daemon.stderr.join("\n"))).toBe(false);
  // The thread of the monitor reports its state once a second.
  await expect.poll(async () => (await rest(daemon, "GET", "/readyz")).status).toBe(200);
});
