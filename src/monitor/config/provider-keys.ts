/** Kind, address and HTTP settings of the control plane: `provider`, `vpn`, `headscale`. */
import type { Secret } from "../../kernel/base/secret.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import { defineKeyGroup, keysOf, type KeyField } from "../../kernel/config/key-group.ts";
import { defineKey, type Key, type Schema } from "../../kernel/config/key.ts";
import { baseUrl, isReadableByOthers, optionally } from "../../kernel/config/checks/rules.ts";
import { byteCount, oneOf, secret, text, type KeyType } from "../../kernel/config/values/types.ts";
import { vpnAuthKeys } from "./auth-fields.ts";
import { defineHttpKeys } from "./http-fields.ts";

export type ProviderKind = "tailscale" | "headscale";

export const providerType: KeyType<ProviderKind> = oneOf<ProviderKind>(["tailscale", "headscale"]);

export const provider: Key<ProviderKind> = defineKey({
  path: "provider",
  type: providerType,
  default: "tailscale",
  help: "The control plane: tailscale, configured below vpn, or headscale, configured below headscale.",
});

const MIB = 2 ** 20;
const LARGE_BUDGET = 64 * MIB;

interface VpnSection {
  readonly url: string;
  readonly network: string;
  readonly maxResponseBytes: number;
  readonly maxLogResponseBytes: number;
}
interface HeadscaleSection {
  readonly url: string;
  readonly apiKey: Secret | undefined;
  readonly maxResponseBytes: number;
}

const budget = (megabytes: number, what: string): KeyField<number> => ({
  type: byteCount(1, 2 ** 30),
  default: megabytes * MIB,
  help: `Maximum decompressed size of ${what}.`,
  warn: (bytes) =>
    bytes > LARGE_BUDGET
      ? {
          rule: "is more than 64MiB, and several responses may be in memory at once",
          remedy: "write 64MiB or less.",
        }
      : undefined,
});

export const vpn = defineKeyGroup<VpnSection>("vpn", {
  url: {
    type: text,
    default: "https://api.tailscale.com",
    rule: baseUrl,
    warn: clearText,
    help: "Base URL of the hosted control plane.",
  },
  network: {
    type: text,
    default: "-",
    rule: notBlank,
    help: "Name of the network; - is the network that the credential belongs to.",
  },
  maxResponseBytes: budget(4, "a response"),
  maxLogResponseBytes: budget(32, "a flow or audit log response"),
});

export const vpnHttp = defineHttpKeys("vpn");

export const headscale = defineKeyGroup<HeadscaleSection>("headscale", {
  url: {
    type: text,
    default: "",
    rule: optionally(baseUrl),
    warn: clearText,
    help: "Base URL of Headscale, e.g. https://headscale.example.org.",
  },
  apiKey: { type: secret, optional: true, secret: true, help: "API key of Headscale." },
  maxResponseBytes: budget(4, "a response"),
});

export const headscaleHttp = defineHttpKeys("headscale");

export const providerKeys: Schema = [
  provider,
  ...keysOf(
    vpn,
    vpnAuthKeys.method,
    vpnAuthKeys.oauth,
    vpnAuthKeys.workloadIdentity,
    vpnHttp.call,
    vpnHttp.retry,
  ),
  ...keysOf(headscale, headscaleHttp.call, headscaleHttp.retry),
];

/** Warns about plain HTTP: the credential is sent with each call. */
export function clearText(url: string): Complaint | undefined {
  return isReadableByOthers(url)
    ? { rule: "is plain HTTP: others on the network can read the credential", remedy: "use https." }
    : undefined;
}

function notBlank(name: string): Complaint | undefined {
  return name.trim() === ""
    ? {
        rule: "must not be empty",
        remedy: "write the network's name, or - for the credential's own.",
      }
    : undefined;
}
