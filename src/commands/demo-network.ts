/** The demo's network: a simulated control plane on loopback with the agents of some of its nodes, and the options to collect it. */
import { startNodeAgents } from "../demo/network/agents.ts";
import { startTailscale } from "../demo/tailscale/tailscale.ts";
import type { Clock } from "../kernel/base/clock.ts";
import type { Ids } from "../kernel/base/ids.ts";
import type { Log } from "../kernel/base/log.ts";
import { Secret } from "../kernel/base/secret.ts";
import type { Config } from "../kernel/config/config.ts";
import { sendSecret } from "../kernel/threads/secrets.ts";
import { givenNetwork } from "../monitor/config/network-options.ts";
import { readNodeMetrics } from "../monitor/config/collector-options.ts";
import type { NetworkOptions, NodeTargetOptions } from "../monitor/options.ts";

const NAME = "demo";
const SEED = 1;
const DEVICES = 25;
/** Nodes whose agents are asked. */
const AGENTS = 6;

/** The running network. */
export interface DemoNetwork {
  readonly options: NetworkOptions;
  stop(): Promise<void>;
}

/** Starts it; everything listens on loopback. */
export async function startDemoNetwork(deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Log }, config: Config): Promise<DemoNetwork> {
  const plane = await startTailscale({ ...deps, seed: SEED, devices: DEVICES, tailnet: NAME });
  const agents = await startNodeAgents({ ...deps, network: plane.estate.network });
  const { clientId, clientSecret } = plane.credentials;
  const network = givenNetwork(config, NAME, { url: plane.url, auth: { method: "oauth", clientId, clientSecret: sendSecret(Secret.of(clientSecret, "demo")), scopes: ["all:read"] } });
  const nodes = plane.estate.network.devices.at(deps.clock.now()).slice(0, AGENTS);
  const targets = nodes.map(({ host }): NodeTargetOptions => ({
    url: agents.urlOf(host), instance: host, labels: {}, headers: {}, bearerToken: undefined, bearerTokenFile: "", tls: { caFile: "", certFile: "", keyFile: "", serverName: "", insecureSkipVerify: false },
  }));
  return {
    options: { ...network, collectors: { ...network.collectors, nodeMetrics: { ...readNodeMetrics(config), targets, discovery: undefined } } },
    stop: async () => {
      await Promise.all([plane.stop(), agents.stop()]);
    },
  };
}
