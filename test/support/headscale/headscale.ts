/**
 * A control plane of Headscale's kind over real HTTP on loopback, in the flavour of the newest
 * release or of the coming one: what was measured on both, down to the order of members, the text
 * of times and the bodies of errors. Its network is the one that the Tailscale simulator shows,
 * with what restarts, expiries and log-outs do on top.
 */
import { startControlPlane } from "../../../src/demo/control-plane/server.ts";
import { createNetwork, type Network } from "../../../src/demo/network/network.ts";
import { createAnswers } from "./answers.ts";
import { ROUTES, type Operation } from "./operations.ts";
import { newApiKey } from "./people.ts";
import { perform, type Server } from "./perform.ts";
import { createNodes, NOTICED_AFTER_MS } from "./state.ts";
import { createTimes } from "./times.ts";
import type { Headscale, HeadscaleEstate, HeadscaleOptions } from "./types.ts";

const DEFAULT_SEED = 1;
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": "frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

/**
 * Listens on loopback when it resolves. Throws what the listener throws, and a RangeError for a
 * number of devices that is none.
 */
export async function startHeadscale(options: HeadscaleOptions): Promise<Headscale> {
  const { clock, ids, log, flavour } = options;
  const network =
    options.network ??
    createNetwork({
      seed: options.seed ?? DEFAULT_SEED,
      ...(options.devices === undefined ? {} : { devices: options.devices }),
    });
  const server: Server = {
    wire: { network, times: createTimes(flavour, options.zoneMinutes ?? 0), flavour },
    nodes: createNodes(network),
    answers: createAnswers(flavour),
    ids,
    keys: [
      ...(options.apiKeys ?? [
        { key: newApiKey(flavour, ids), expiresAtMs: clock.now() + 90 * 86_400_000 },
      ]),
    ],
    tokens: new Map(),
    changes: new Map(),
    mode: options.policy ?? "database",
    policy: undefined,
  };
  const apiKey = server.keys[0]?.key ?? "";
  const plane = await startControlPlane<Operation>(
    {
      name: "demo Headscale",
      routes: ROUTES,
      elsewhere: "unknown",
      headers: HEADERS,
      gzip: false,
      answer: (call) => perform(call, server),
      refuse: (status, message) => server.answers.trouble({ status, detail: message }),
      ...(options.port === undefined ? {} : { port: options.port }),
    },
    { clock, ids, log },
  );
  plane.latencyMs = options.costMs ?? 0;
  return Object.assign(plane, {
    flavour,
    apiKey,
    estate: estateOf(network, server, () => clock.now()),
  });
}

function estateOf(network: Network, server: Server, now: () => number): HeadscaleEstate {
  const { nodes } = server;
  const isEphemeral = (id: string): boolean =>
    nodes.at(now()).find((node) => node.id === id)?.device.machine.kind === "ephemeral";
  return {
    network,
    restart: () => nodes.restart(now()),
    expire: (id) => nodes.change(id, now(), { expiryMs: now() }),
    disconnect: (id) => nodes.change(id, now(), { offlineAtMs: now() + NOTICED_AFTER_MS }),
    logOut: (id) =>
      nodes.change(
        id,
        now(),
        isEphemeral(id)
          ? { gone: true }
          : { expiryMs: now(), offlineAtMs: now() + NOTICED_AFTER_MS },
      ),
    remove: (id) => nodes.change(id, now(), { gone: true }),
    rename: (id, givenName) => nodes.change(id, now(), { givenName }),
    tag: (id, tags) => nodes.change(id, now(), { tags }),
    approveRoutes: (id, approved) => nodes.change(id, now(), { approved: withBothExits(approved) }),
    advertiseRoutes: (id, available) => nodes.change(id, now(), { available }),
    policy: (text) => void (server.policy = { text, changedMs: now() }),
    policyMode: (mode) => void (server.mode = mode),
    revokeKeys: () => void server.keys.splice(0),
    change(operation, change) {
      if (change === undefined) server.changes.delete(operation);
      else server.changes.set(operation, change);
    },
  };
}

// Everything of one family brings that of the other with it.
function withBothExits(routes: readonly string[]): readonly string[] {
  const exits = ["0.0.0.0/0", "::/0"];
  return routes.some((route) => exits.includes(route))
    ? [...new Set([...routes, ...exits])]
    : routes;
}
