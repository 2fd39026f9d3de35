/** Makes the provider of a network from its options. */
import type { HeadscaleOptions, TailscaleOptions } from "../options.ts";
import type { ProviderDeps } from "./deps.ts";
import { createHeadscale } from "./headscale/provider.ts";
import type { Provider } from "./provider.ts";
import { createTailscale } from "./tailscale/provider.ts";

/**
 * A control plane with its credential. Asks nothing yet. Throws `invalid` for an address that
 * cannot be one.
 */
export function createProvider(
  options: TailscaleOptions | HeadscaleOptions,
  deps: ProviderDeps,
): Provider {
  return options.kind === "tailscale"
    ? createTailscale(options, deps)
    : createHeadscale(options, deps);
}
