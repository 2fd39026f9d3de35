/** A simulated network whose audit log a test writes, and a daemon's configuration that reads it. */
import type { AuditEvent } from "../../src/demo/network/audit.ts";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import type { Tailscale } from "../../src/demo/tailscale/types.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { temporaryFolder } from "./daemon.ts";

export const ada = {
  id: "u-ada",
  type: "USER",
  loginName: "probe-Ada@corp.test",
  displayName: "Ada L",
};

export async function startAudited(): Promise<Tailscale> {
  return await startTailscale({
    clock: systemClock,
    ids: systemIds,
    log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
  });
}

/** A change of now; `number` tells it from others. */
export function changeIn(number: number, given: Partial<AuditEvent> = {}): AuditEvent {
  return {
    atMs: Date.now(),
    groupId: `probe-${number}`,
    origin: "ADMIN_CONSOLE",
    actor: ada,
    target: { id: "n-probe", name: "Probe-web", type: "NODE", property: "ACL_TAGS" },
    action: "UPDATE",
    ...given,
  };
}

/** Reads the audit log every second; nothing of a person is exported. */
export function auditedConfiguration(
  tailscale: Tailscale,
  capacity: number,
  more: Readonly<Record<string, unknown>> = {},
): string {
  const { clientId, clientSecret } = tailscale.credentials;
  const off = { enabled: false };
  return JSON.stringify({
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: temporaryFolder() },
    services: { dedup: false, tokens: false },
    vpn: {
      url: tailscale.url,
      network: tailscale.tailnet,
      auth: { oauth: { client_id: clientId, client_secret: clientSecret } },
    },
    collectors: {
      auditlogs: { interval: "1s", lag: "0s", initial_lookback: "1m" },
      flowlogs: off,
      acl: off,
      dns: off,
    },
    // Everything is hidden from exports, and nothing from the administrator.
    pii_filter: { emails: false, user_display_names: false, user_ids: false, hostnames: false },
    events: { max_events: capacity },
    version_checks: { devices: off, self: off },
    ...more,
  });
}
