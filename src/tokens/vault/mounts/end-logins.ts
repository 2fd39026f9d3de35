/** Who logged in through an auth mount is logged out when the mount is disabled: its tokens end, with their children and leases. */
import type { Env } from "../../../kernel/state/types.ts";
import { tokenRows } from "../token-store/tables.ts";
import type { Tokens } from "../types.ts";

const SLICE_MS = 2;
/** Tokens that end side by side, so that they share the disk's flushes. */
const TOGETHER = 32;

/** Ends the service tokens that were made below a mount, e.g. `auth/approle/`; batch tokens are on no list and end at their times. */
export async function endLogins({ env, tokens }: { readonly env: Env; readonly tokens: Tokens }, point: string): Promise<void> {
  const keys: string[] = [];
  await env.scan(tokenRows, (batch) => {
    for (const [key, row] of batch) if (row.path.startsWith(point)) keys.push(key);
  }, { sliceMs: SLICE_MS, signal: new AbortController().signal });
  for (let from = 0; from < keys.length; from += TOGETHER) await Promise.all(keys.slice(from, from + TOGETHER).map((key) => tokens.revoke(key)));
}
