/**
 * Finds the key that the monitor itself uses: control planes show an identifying part of each key.
 */
import { receiveSecret, type SentSecret } from "../../kernel/threads/secrets.ts";
import type { HeadscaleOptions, TailscaleAuth, TailscaleOptions } from "../options.ts";
import type { Key } from "../providers/model.ts";

/** Hosted control plane: `tskey-api-<id>-<secret>`. */
const TAILSCALE_KEY = /^tskey-api-([A-Za-z0-9]+)-/;
/** Headscale masks keys as `hskey-api-<prefix>-***`; older keys show only their prefix. */
const MASKED = /^(.{8,}-)\*{3}$/;
const PREFIX = /^[A-Za-z0-9_-]{4,}$/;

/** Never true when the key cannot be identified. */
export function ownKeyOf(
  provider: TailscaleOptions | HeadscaleOptions,
): (key: Pick<Key, "id" | "type" | "description">) => boolean {
  if (provider.kind === "headscale")
    return ({ type, description }) => type === "api" && isShownAs(provider.apiKey, description);
  const { auth } = provider;
  const id = auth && idOf(auth);
  return (key) =>
    id !== undefined && key.id === id && (key.type === "api") === (auth?.method === "apikey");
}

function idOf(auth: TailscaleAuth): string | undefined {
  return auth.method === "apikey"
    ? receiveSecret(auth.key).use((key) => TAILSCALE_KEY.exec(key)?.[1])
    : auth.clientId;
}

function isShownAs(own: SentSecret, shown: string): boolean {
  const beginning = MASKED.exec(shown)?.[1] ?? (PREFIX.test(shown) ? `${shown}.` : undefined);
  return beginning !== undefined && receiveSecret(own).use((key) => key.startsWith(beginning));
}
