/**
 * What the simulated network has none of by itself: everything that a metric counts as wrong, and
 * text that the exposition has to escape.
 */
import type { Estate } from "../monitor-estate.ts";

type Body = Readonly<Record<string, unknown>>;

const MINUTE_MS = 60_000;
/** Has a quote, a backslash and a line break. */
const UGLY = 'provisioning "west" \\ east\nsecond line';

/** Arranges all of it in the hosted control plane and in the bucket. */
export function arrangeTroubles(estate: Estate): void {
  arrangeDevices(estate);
  arrangeAnswers(estate);
  arrangeRecords(estate);
}

/** By host name, so that the order of the list does not matter. */
const deviceChanges: Readonly<Record<string, Body>> = {
  "exit-fra": { tailnetLockError: 'the signature is "unknown"' },
  "gw-02": { multipleConnections: true, advertisedRoutes: ["10.20.0.0/16", "10.30.0.0/24"] },
  "bob-laptop-07": { blocksIncomingConnections: true, isEphemeral: true, clientVersion: "dev", sshEnabled: true },
};

function arrangeDevices({ tailscale: { estate } }: Estate): void {
  estate.change("devices", (body) => {
    const { devices } = body as { readonly devices: readonly Body[] };
    return { devices: devices.map((device) => ({ ...device, ...deviceChanges[String(device["hostname"])] })) };
  });
}

function arrangeAnswers({ tailscale: { estate, faults } }: Estate): void {
  // The first device of the first run.
  faults.next("attributes", { kind: "status", status: 403 }, 1);
  estate.change("acl_validate", () => ({
    message: "test(s) failed",
    data: [{ user: "ada@corp.test", errors: ["address \"db:5432\": want: Accept, got: Drop"], warnings: ["unused group"] }],
  }));
  estate.change("keys", (body) => {
    const { keys } = body as { readonly keys: readonly Body[] };
    const changed = (key: Body, index: number): Body => ({ ...key, ...(index === 0 ? { description: UGLY } : {}), ...(key["keyType"] === "client" ? { userId: "uOwner" } : {}) });
    return { keys: keys.map(changed) };
  });
  estate.change("webhooks", (body) => {
    const { webhooks } = body as { readonly webhooks: readonly Body[] };
    return { webhooks: webhooks.map((each, index) => (index === 0 ? { ...each, subscriptions: [...(each["subscriptions"] as string[]), "newEvent"] } : each)) };
  });
}

/** Flows and events that are refused or say something new. */
function arrangeRecords({ clock, tailscale: { estate }, bucket: { objects } }: Estate): void {
  const nowMs = clock.now();
  const at = (ms: number): string => new Date(ms).toISOString();
  const [gateway, other] = estate.network.devices.at(nowMs).filter(({ host }) => host.startsWith("gw-"));
  const record = { logged: at(nowMs - 54_000), nodeId: gateway?.nodeId ?? "", start: at(nowMs - MINUTE_MS), end: at(nowMs - 55_000) };
  const counters = { txPkts: 3, txBytes: 300, rxPkts: 2, rxBytes: 200 };
  const flows = [
    // Through relay region 14, then a ping, a protocol without a name, and one that a service is
    // known for.
    { ...record, physicalTraffic: [{ ...counters, src: "100.80.0.12:0", dst: "127.3.3.40:14" }] },
    { ...record, virtualTraffic: [{ ...counters, proto: 1, src: "100.80.0.12:0", dst: "100.80.0.15:0" }, { ...counters, proto: 200, src: "100.80.0.12:0", dst: "[fd7a:115c:a1e0::5a01:f]:0" }] },
    { ...record, virtualTraffic: [{ ...counters, proto: 6, src: "100.80.0.12:40000", dst: "100.80.0.15:9100" }], srcNode: { nodeId: other?.nodeId ?? "", name: "gw-02.tail6709a6.ts.net", addresses: ["100.80.0.13"] } },
    { ...record, start: at(nowMs - 50_000), virtualTraffic: [{ ...counters, proto: 6, src: "100.80.0.12:1", dst: "100.80.0.15:2" }] },
    { ...record, virtualTraffic: [{ ...counters, proto: 6, src: "nowhere", dst: "100.80.0.15:2" }] },
    { ...record, virtualTraffic: [{ ...counters, proto: 300, src: "100.80.0.12:1", dst: "100.80.0.15:2" }] },
  ];
  for (const flow of flows) estate.flow(flow, { startMs: nowMs - MINUTE_MS });
  const actor = { id: "uEBZzc5np9ZCNTRL", type: "USER", loginName: "ada@corp.test", displayName: "Ada Lovelace" };
  const target = { id: "nNew", name: "new", type: "NODE" };
  estate.audit({ atMs: nowMs + MINUTE_MS, groupId: "refused", origin: "ADMIN_CONSOLE", actor, target, action: "DELETE", error: "permission denied" });
  estate.audit({ atMs: nowMs + MINUTE_MS, groupId: "new", origin: "TELEPATHY", actor, target, action: "ENCHANT" });
  // An object whose only record makes no sense is tried again, run after run.
  const [flowKey = ""] = [...objects.keys()].filter((key) => /^flow\/.*\d\.ndjson$/.test(key));
  objects.set(flowKey.replace(".ndjson", "c.ndjson"), Buffer.from(`${JSON.stringify(flows.at(-1))}\n`));
  const [eventKey = ""] = [...objects.keys()].filter((key) => key.endsWith(".event"));
  objects.set(eventKey, Buffer.concat([objects.get(eventKey) ?? Buffer.alloc(0), Buffer.from(`${JSON.stringify({ type: "Kubernetes API Daydream", id: "2", timestamp: at(nowMs) })}\n`)]));
}
