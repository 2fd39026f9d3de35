import { createHmac } from "node:crypto";
import { afterAll, expect, it, vi } from "vitest";
import { removeTemporaryFolders, rest } from "./daemon.ts";
import { post, startReceiving } from "./receivers.ts";

afterAll(removeTemporaryFolders);

const listen = "127.0.0.1:0";
const TOKEN = "a-token-of-the-stream";

it("routes by network: a stream by its path, a webhook by the one network that its events name", async () => {
  await using receiving = await startReceiving(({ tailscale }) => {
    const oauth = {
      client_id: tailscale.credentials.clientId,
      client_secret: tailscale.credentials.clientSecret,
    };
    const network = (name: string) => ({ name, auth: { oauth } });
    return {
      vpn: { url: tailscale.url },
      networks: [network(tailscale.tailnet), network("other.test")],
      streaming: {
        enabled: true,
        listen,
        routes: [
          { network: tailscale.tailnet, path: "/corp", token: TOKEN },
          { network: "other.test", path: "/other", token: `${TOKEN}-2` },
        ],
      },
      webhook: {
        enabled: true,
        listen,
        routes: [
          { network: tailscale.tailnet, secret: "corp" },
          { network: "other.test", secret: "other" },
        ],
      },
    };
  });
  const record = '{"nodeId":"n","virtualTraffic":null}';
  const streamed = async (path: string, token: string): Promise<number> =>
    (
      await post(receiving.port("stream"), {
        path,
        headers: { authorization: `Splunk ${token}` },
        body: record,
      })
    ).status;
  expect(await streamed("/corp", TOKEN)).toBe(200);
  expect(await streamed("/other", TOKEN)).toBe(401);
  expect(await streamed("/other", `${TOKEN}-2`)).toBe(200);
  expect(await streamed("/services/collector/event", TOKEN)).toBe(404);

  const send = async (secret: string, ...tailnets: (string | undefined)[]): Promise<number> => {
    const body = JSON.stringify(
      tailnets.map((tailnet, at) => ({ type: "test", tailnet, message: `${secret} ${at}` })),
    );
    const t = Math.floor(Date.now() / 1000);
    const digest = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
    const headers = { "tailscale-webhook-signature": `t=${t},v1=${digest}` };
    return (await post(receiving.port("webhook"), { path: "/tailscale/webhook", headers, body }))
      .status;
  };
  const corp = receiving.estate.tailscale.tailnet;
  expect(await send("corp", corp)).toBe(200);
  expect(await send("other", "other.test", "other.test")).toBe(200);
  expect(await send("corp", "other.test")).toBe(401);
  expect(await send("corp", corp, "other.test")).toBe(401);
  expect(await send("corp", "unknown.test")).toBe(401);
  expect(await send("corp", undefined)).toBe(401);
  expect(await send("corp")).toBe(401);
  await vi.waitFor(
    () => {
      const of = (network: string): number =>
        receiving.sum("vpn.webhook.events", { "vpn.network": network });
      expect([of(corp), of("other.test")]).toEqual([1, 2]);
      // Only the delivery whose network is known and whose signature is another's is counted.
      expect(receiving.sum("vpn.webhook.rejected", { reason: "bad_signature" })).toBe(1);
      expect(receiving.sum("vpn.stream.records", { "vpn.network": "other.test" })).toBe(1);
    },
    { timeout: 60_000 },
  );
  const { json } = await rest(receiving.daemon, "GET", "/api/status.json");
  expect(json.dedup_sets.map(({ name }: { name: string }) => name)).toContain("other.test/flow");
});

it("counts a change that the audit log and a webhook both report once, when that is asked for", async () => {
  await using receiving = await startReceiving({
    streaming: { enabled: true, listen, token: TOKEN },
    webhook: { enabled: true, listen, secret: "corp", dedup_audit_events: true },
  });
  const timestamp = new Date(Math.floor(Date.now() / 1000) * 1000 - 5_000).toISOString();
  const body = JSON.stringify([
    { timestamp, type: "nodeCreated", tailnet: "corp.test", data: { nodeID: "n-cross" } },
  ]);
  const t = Math.floor(Date.now() / 1000);
  const digest = createHmac("sha256", "corp").update(`${t}.${body}`).digest("hex");
  const headers = { "tailscale-webhook-signature": `t=${t},v1=${digest}` };
  const audit = JSON.stringify({
    eventTime: timestamp,
    action: "CREATE",
    eventGroupID: "eg-cross",
    actor: { id: "u" },
    target: { id: "n-cross", type: "NODE" },
  });
  const authorization = `Splunk ${TOKEN}`;
  expect(
    (await post(receiving.port("stream"), { headers: { authorization }, body: audit })).status,
  ).toBe(200);
  expect(
    (await post(receiving.port("webhook"), { path: "/tailscale/webhook", headers, body })).status,
  ).toBe(200);
  await vi.waitFor(() => expect(receiving.sum("vpn.webhook.duplicates")).toBe(1), {
    timeout: 60_000,
  });
  expect(receiving.sum("vpn.webhook.events")).toBe(0);
  const { json } = await rest(receiving.daemon, "GET", "/api/status.json");
  expect(json.dedup_sets).toContainEqual({ name: "webhook_cross", len: 1, capacity: 4_096 });
});
