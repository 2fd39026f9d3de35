/** The calls that a provider does not implement. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { ProviderCalls } from "./provider.ts";
import { callNames } from "./tailscale/calls.ts";

/** Every call throws `unsupported`; a provider puts its own over them. */
export function unsupportedCalls(provider: string): ProviderCalls {
  const refuse = (): never => {
    throw new StewardError("unsupported", `${provider} does not provide this`, {
      rule: "provider",
      remedy: "switch the collector off for this network",
    });
  };
  return Object.fromEntries(callNames.map((name) => [name, refuse])) as unknown as ProviderCalls;
}
