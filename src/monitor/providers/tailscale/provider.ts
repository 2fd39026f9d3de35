/** Provider of the hosted control plane. */
import { pathOf } from "../../../kernel/client/http/url.ts";
import type { TailscaleOptions } from "../../options.ts";
import { baseOf, bucketOf, connect } from "../connection.ts";
import type { ProviderDeps } from "../deps.ts";
import type { Provider } from "../provider.ts";
import { createCredential } from "./auth.ts";
import { bindCalls } from "./calls.ts";
import type { ControlPlane } from "./control-plane.ts";
import { readNetworkName } from "./logs.ts";

const NAME = "tailscale";

/** Makes no request yet. Throws `invalid` for an unusable address. */
export function createTailscale(options: TailscaleOptions, deps: ProviderDeps): Provider {
  const base = baseOf(options.url, NAME);
  const bucket = bucketOf(options.http, deps);
  const credential = createCredential(options, base, deps);
  const shared = { name: NAME, base, auth: credential.auth, http: options.http, bucket };
  const client = connect(
    { ...shared, bodyBytes: options.maxResponseBytes, bodyKey: "vpn.max_response_bytes" },
    deps,
  );
  const logs = connect(
    { ...shared, bodyBytes: options.maxLogResponseBytes, bodyKey: "vpn.max_log_response_bytes" },
    deps,
  );
  const path = (rest: string): string => pathOf`/api/v2/tailnet/${options.network}/` + rest;
  const { clock, log } = deps;
  const plane: ControlPlane = { name: NAME, clock, client, logs, log, path };
  return {
    kind: "tailscale",
    granted: credential.granted,
    supports: () => true,
    ...bindCalls(plane),
    networkName: (signal) => readNetworkName(plane, clock, signal),
    status: () => [...client.status(), ...logs.status(), ...credential.status()],
    async close() {
      await Promise.all([client.close(), logs.close(), credential.close()]);
    },
  };
}
