/** Opens the store of the ingress log in a folder that no other process uses. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import { lockStateDirectory } from "../../kernel/state/folder/directory-lock.ts";
import { RESERVE_BYTES } from "../../kernel/state/folder/reserve.ts";
import { createStateFactory } from "../../kernel/state/state-factory.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { IngressOptions } from "./options.ts";
import { ingressStore } from "./tables.ts";

/**
 * Throws `conflict` when another process has the folder, and what opening a store throws: a damaged
 * one is refused, since what it holds was acknowledged.
 */
export async function openIngressStore(
  { clock, log, version }: { readonly clock: Clock; readonly log: Log; readonly version: string },
  { directory, maxBytes }: IngressOptions,
  signal: AbortSignal,
): Promise<{ readonly env: Env; readonly release: () => void }> {
  const lock = lockStateDirectory(directory, "ingress_wal.directory");
  try {
    const factory = createStateFactory({
      directory,
      clock,
      log,
      version,
      reserveBytes: RESERVE_BYTES,
      remembers: true,
    });
    return {
      env: await factory.open(ingressStore(maxBytes), signal),
      release: () => lock.release(),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
