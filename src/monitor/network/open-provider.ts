/** Creates a network's provider from its options. */
import type { ThreadContext } from "../../kernel/threads/hosted-service.ts";
import type { HeadscaleOptions, MonitorOptions, TailscaleOptions } from "../options.ts";
import type { ProviderDeps } from "../providers/deps.ts";
import { createHeadscale } from "../providers/headscale/provider.ts";
import type { Provider } from "../providers/provider.ts";
import { createTailscale } from "../providers/tailscale/provider.ts";
import type { OpenProvider } from "./network.ts";

export function openProvider(
  { clock, ids }: Pick<ThreadContext, "clock" | "ids">,
  { version }: Pick<MonitorOptions, "version">,
): OpenProvider {
  return ({ provider }, { log, observe }) =>
    createProvider(provider, { clock, ids, version, log, observe });
}

/** Makes no request yet. Throws `invalid` for an unusable address. */
export function createProvider(
  options: TailscaleOptions | HeadscaleOptions,
  deps: ProviderDeps,
): Provider {
  return options.kind === "tailscale"
    ? createTailscale(options, deps)
    : createHeadscale(options, deps);
}
