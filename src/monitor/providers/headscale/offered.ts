/** Which calls Headscale has; also the configuration's check reads it. */
import type { CallName } from "../provider.ts";

export const headscaleOffers = ["devices", "users", "keys", "policy"] as const;

export function offersCall(call: CallName): call is (typeof headscaleOffers)[number] {
  return (headscaleOffers as readonly CallName[]).includes(call);
}
