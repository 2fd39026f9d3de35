/** `/api/presence.json` of a running daemon, over REST, Connect and gRPC, and over a restart. */
import { afterAll, expect, it, vi } from "vitest";
import { PresenceService } from "../../src/gen/steward/monitor/v1/presence_service_pb.ts";
import {
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { auditedConfiguration, startAudited } from "./audited-network.ts";
import { rawRequest } from "./raw-request.ts";
import { grpcUnary } from "./rpc.ts";

afterAll(removeTemporaryFolders);

const SOON = { timeout: 60_000, interval: 100 };
const PRESENCE_RPC = "/steward.monitor.v1.PresenceService/GetPresence";
const connect = { "content-type": "application/json", "connect-protocol-version": "1" };

async function presence(daemon: Daemon, query = ""): Promise<Record<string, any>> {
  const { status, json } = await rest(daemon, "GET", `/api/presence.json${query}`);
  expect(status).toBe(200);
  return json;
}

it("has every device of the network, selects, and survives a restart", async () => {
  const tailscale = await startAudited();
  const config = auditedConfiguration(tailscale, 100);
  const env = { STEWARD_STATE__DIRECTORY: temporaryFolder() };
  let daemon = await startDaemon({ config, env });
  await vi.waitFor(
    async () => expect((await presence(daemon)).networks[0]?.devices.length).toBeGreaterThan(5),
    SOON,
  );
  const { devices } = (await rest(daemon, "GET", "/api/status.json")).json;
  const report = await presence(daemon);
  expect(report).toMatchObject({ schema_version: 1, retention_days: 30 });
  expect(Date.parse(report["generated_at"]) - Date.parse(report["start"])).toBe(86_400_000);
  const [network] = report["networks"];
  expect(network.truncated).toBe(false);
  expect(network.observed).toHaveLength(1);
  expect(network.days).toHaveLength(1);
  // The list is a moment older than the report, and devices come and go.
  const names = (of: readonly { name: string }[]): string[] => of.map(({ name }) => name);
  expect(network.days[0].devices).toBeGreaterThanOrEqual(devices.length);
  expect(names(network.devices)).toEqual(expect.arrayContaining(names(devices)));
  for (const { state, changes } of network.devices)
    expect(changes.at(-1)).toEqual({ at: expect.stringMatching(/Z$/), state });

  const [one] = network.devices;
  const selected = await presence(daemon, `?device=${encodeURIComponent(one.name)}&window=30d`);
  expect(selected["networks"][0].devices).toEqual([one]);
  expect((await presence(daemon, "?window=nonsense"))["networks"]).toHaveLength(1);
  const unknown = await rest(daemon, "GET", "/api/presence.json?network=nowhere");
  expect([unknown.status, unknown.text]).toEqual([404, expect.stringContaining("network")]);
  const long = await rest(daemon, "GET", `/api/presence.json?device=${"x".repeat(254)}`);
  expect(long.status).toBe(400);

  const overConnect = await rawRequest(
    daemon.url,
    "POST",
    PRESENCE_RPC,
    connect,
    JSON.stringify({ device: one.id }),
  );
  expect(overConnect.status).toBe(200);
  expect(overConnect.text).toContain(one.id);
  const overGrpc = await grpcUnary(new URL(daemon.url).host, PresenceService.method.getPresence, {
    device: one.id,
  });
  expect(
    JSON.stringify(overGrpc, (_, value) => (typeof value === "bigint" ? String(value) : value)),
  ).toContain(one.id);

  const page = await rest(daemon, "GET", "/devices");
  expect(page.text.includes(`aria-label="last 24 hours: online`)).toBe(true);

  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  daemon = await startDaemon({ config, env });
  await vi.waitFor(async () => expect((await presence(daemon)).networks).toHaveLength(1), SOON);
  const again = (await presence(daemon))["networks"][0];
  expect(again.devices.find(({ id }: { id: string }) => id === one.id).changes[0]).toEqual(
    one.changes[0],
  );
  expect(again.observed[0].from).toBe(network.observed[0].from);
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  await tailscale.stop();
});

it("has the counts of the services, of what is on, and keeps them over a restart", async () => {
  const env = {
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    STEWARD_STATE__DIRECTORY: temporaryFolder(),
    STEWARD_SERVICES__TOKENS: "false",
  };
  const counted = async (daemon: Daemon): Promise<Record<string, unknown>[]> =>
    (await presence(daemon)).services.hours;
  let daemon = await startDaemon({ env });
  await vi.waitFor(async () => expect(await counted(daemon)).toHaveLength(1), SOON);
  const [hour] = await counted(daemon);
  expect(hour).toEqual({ at: expect.stringMatching(/:00:00Z$/), documents: 0, groups: 0 });
  expect((await presence(daemon)).networks).toEqual([]);
  await daemon.stop();
  daemon = await startDaemon({ env });
  expect((await counted(daemon))[0]).toEqual(hour);
  await daemon.stop();
});
