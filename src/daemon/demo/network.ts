/**
 * The demo's network: a simulated control plane on loopback with the agents of some of its nodes,
 * and the options to collect it.
 */
import { startNodeAgents } from "../../demo/network/agents.ts";
import { createNetwork } from "../../demo/network/network.ts";
import { READ_SCOPES } from "../../demo/tailscale/operations.ts";
import { startTailscale } from "../../demo/tailscale/tailscale.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Config } from "../../kernel/config/config.ts";
import { sendSecret } from "../../kernel/threads/secrets.ts";
import { givenNetwork } from "../../monitor/config/network-options.ts";
import { auditlogsSection } from "../../monitor/collectors/log-sections.ts";
import { nodeMetricsSection, withTargets } from "../../monitor/collectors/nodemetrics/section.ts";
import type { NetworkOptions, NodeTargetOptions } from "../../monitor/options.ts";

const NAME = "demo";
const SEED = 1;
const DEVICES = 25;
/** Nodes with a metrics agent. */
const AGENTS = 6;
/**
 * Roster indexes of an offline server and of a laptop whose key expires soon. Neither node has an
 * agent.
 */
const OFFLINE = 14;
const EXPIRING = 12;
/** Missing from the OAuth client's scopes, so that the demo shows a failing collector. */
const MISSING_SCOPE = "account_settings:read";
/** How far back the demo reads configuration changes, so that there are some from the start. */
const AUDIT_LOOKBACK_MS = 86_400_000;
const FAILING_COLLECTOR = "contacts";

export interface DemoNetwork {
  readonly options: NetworkOptions;
  stop(): Promise<void>;
}

/** Starts the simulated network. Everything listens on loopback. */
export async function startDemoNetwork(
  deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Log },
  config: Config,
): Promise<DemoNetwork> {
  const estate = createNetwork({
    seed: SEED,
    devices: DEVICES,
    domain: NAME,
    conditions: { offline: [OFFLINE], expiring: [EXPIRING] },
  });
  const scopes = READ_SCOPES.filter((scope) => scope !== MISSING_SCOPE);
  const id = `k${deps.ids.base62(10)}CNTRL`;
  const plane = await startTailscale({
    ...deps,
    network: estate,
    clients: [{ id, secret: `tskey-client-${id}-${deps.ids.base62(32)}`, scopes }],
  });
  const agents = await startNodeAgents({ ...deps, network: plane.estate.network });
  const { clientId, clientSecret } = plane.credentials;
  const network = givenNetwork(config, NAME, {
    url: plane.url,
    auth: {
      method: "oauth",
      clientId,
      clientSecret: sendSecret(Secret.of(clientSecret, "demo")),
      scopes,
    },
  });
  const hostAt = (index: number): string => estate.roster[index]?.host ?? "";
  const nodes = plane.estate.network.devices.at(deps.clock.now()).slice(0, AGENTS);
  const targets = nodes.map(({ host }): NodeTargetOptions => ({
    url: agents.urlOf(host),
    instance: host,
    labels: {},
    headers: {},
    bearerToken: undefined,
    bearerTokenFile: "",
    tls: { caFile: "", certFile: "", keyFile: "", serverName: "", insecureSkipVerify: false },
  }));
  deps.log.info("some failures are simulated; the status page shows them like real ones", {
    failing_collector: FAILING_COLLECTOR,
    missing_scope: MISSING_SCOPE,
    offline_device: hostAt(OFFLINE),
    device_with_expiring_key: hostAt(EXPIRING),
  });
  const auditlogs = auditlogsSection.of(network);
  return {
    options: {
      ...network,
      simulated: true,
      collectors: {
        ...network.collectors,
        [nodeMetricsSection.name]: withTargets(config, targets),
        ...(auditlogs === undefined
          ? {}
          : {
              [auditlogsSection.name]: {
                ...auditlogs,
                initialLookbackMs: AUDIT_LOOKBACK_MS,
                maxWindowMs: AUDIT_LOOKBACK_MS,
              },
            }),
      },
    },
    stop: async () => {
      await Promise.all([plane.stop(), agents.stop()]);
    },
  };
}
