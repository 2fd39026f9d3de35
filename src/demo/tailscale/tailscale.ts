/**
 * A control plane of Tailscale's kind over real HTTP on loopback: the endpoints that the monitor
 * reads, with the vendor's scopes, errors and windows, in front of a simulated network. It powers
 * the demo and the monitor's tests, which inject faults.
 */
import type { Ids } from "../../kernel/base/ids.ts";
import { startControlPlane } from "../control-plane/server.ts";
import { createNetwork } from "../network/network.ts";
import { refuse } from "./answers.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { createDeviceList } from "./device-list.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import { ROUTES, type Operation } from "./operations.ts";
import { addBounded, createOverlay, type Overlay } from "./overlay.ts";
import { perform, type Parts } from "./perform.ts";
import type { Estate, Tailscale, TailscaleOptions } from "./types.ts";

const DEFAULT_SEED = 1;
const HOUR_MS = 3_600_000;
const HEADERS: Readonly<Record<string, string>> = {
  server: "demo",
  "x-content-type-options": "nosniff",
};

/**
 * Listens on loopback when it resolves. Throws what the listener throws, and a RangeError for a
 * number of devices that is none.
 */
export async function startTailscale(options: TailscaleOptions): Promise<Tailscale> {
  const { clock, ids, log } = options;
  const network =
    options.network ??
    createNetwork({
      seed: options.seed ?? DEFAULT_SEED,
      ...(options.devices === undefined ? {} : { devices: options.devices }),
      ...(options.tailnet === undefined ? {} : { domain: options.tailnet }),
      ...(options.talkers === undefined ? {} : { talkers: options.talkers }),
    });
  const known = withDefaults(options, ids);
  const credentials = createCredentials(ids, {
    ...known,
    tokenLifetimeMs: options.tokenLifetimeMs ?? HOUR_MS,
  });
  const overlay = createOverlay(options.absent ?? [], options.streams ?? ["configuration"]);
  const limiter = createLimiter(options.limit);
  const parts: Parts = {
    network,
    deviceList: createDeviceList(network),
    credentials,
    limiter,
    overlay,
    embedNodes: options.embedNodes ?? true,
    inviteIdsAsText: options.inviteIdsAsText ?? false,
  };
  const plane = await startControlPlane<Operation>(
    {
      name: "demo control plane",
      routes: ROUTES,
      elsewhere: "unknown",
      headers: HEADERS,
      gzip: options.gzip ?? true,
      answer: (call) => perform(call, parts),
      refuse,
      ...(options.port === undefined ? {} : { port: options.port }),
    },
    { clock, ids, log },
  );
  const [client, key, federated] = [known.clients[0], known.apiKeys[0], known.federated[0]];
  return Object.assign(plane, {
    estate: estateOf(parts.network, { overlay, credentials, limiter }, () => clock.now()),
    tailnet: network.domain,
    credentials: {
      clientId: client?.id ?? "",
      clientSecret: client?.secret ?? "",
      apiKey: key?.key ?? "",
      federatedClientId: federated?.id ?? "",
    },
  });
}

function withDefaults(
  { clients, apiKeys, federated }: TailscaleOptions,
  ids: Ids,
): Required<Pick<TailscaleOptions, "clients" | "apiKeys" | "federated">> {
  const id = `k${ids.base62(10)}CNTRL`;
  return {
    clients: clients ?? [{ id, secret: `tskey-client-${id}-${ids.base62(32)}` }],
    apiKeys: apiKeys ?? [{ key: `tskey-api-k${ids.base62(10)}CNTRL-${ids.base62(32)}` }],
    federated: federated ?? [{ id: `k${ids.base62(10)}CNTRL` }],
  };
}

function estateOf(
  network: Parts["network"],
  {
    overlay,
    credentials,
    limiter,
  }: { readonly overlay: Overlay; readonly credentials: Credentials; readonly limiter: Limiter },
  nowMs: () => number,
): Estate {
  return {
    network,
    change(operation, change) {
      if (change === undefined) overlay.changes.delete(operation);
      else overlay.changes.set(operation, change);
    },
    policy: (text) => void (overlay.policy = text),
    audit: (event) => addBounded(overlay.events, event),
    flow: (record, { startMs, loggedMs = nowMs() }) =>
      addBounded(overlay.flows, { record, startMs, loggedMs }),
    absent: (features) => void (overlay.absent = new Set(features)),
    limit: (limit) => limiter.set(limit),
    revokeTokens: () => credentials.revoke(),
    client: (client) => credentials.client(client),
    removeClient: (id) => credentials.removeClient(id),
  };
}
