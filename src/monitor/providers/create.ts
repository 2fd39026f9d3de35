/** Creates a network's provider from its options. */
import type { HeadscaleOptions, TailscaleOptions } from "../options.ts";
import type { ProviderDeps } from "./deps.ts";
import { createHeadscale } from "./headscale/provider.ts";
import type { Provider } from "./provider.ts";
import { createTailscale } from "./tailscale/provider.ts";

/** Makes no request yet. Throws `invalid` for an unusable address. */
export function createProvider(
  options: TailscaleOptions | HeadscaleOptions,
  deps: ProviderDeps,
): Provider {
  return options.kind === "tailscale"
    ? createTailscale(options, deps)
    : createHeadscale(options, deps);
}
