/**
 * Deletes expired secret ids, every hour and on request: those that are not used again would fill
 * the storage that all mounts share.
 */
import type { SecretIdRow } from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { StewardError, toStewardError } from "../../../../kernel/base/errors.ts";
import type { ExpiryClock } from "../../expiry/expiry-clock.ts";
import type { ApproleContext } from "./context.ts";

/** After the mount was opened, so that a process that does not live for an hour tidies, too. */
const FIRST_MS = 5 * 60_000;
const EVERY_MS = 3_600_000;

/** Whether it can never be of use again and may be removed. */
export function isSpent(row: SecretIdRow, expiry: ExpiryClock): boolean {
  return row.expiresAtMs !== undefined && expiry.now() >= row.expiresAtMs;
}

/** The number of deleted secret ids. Logins go on meanwhile. Throws the signal's reason. */
export async function tidySecretIds(
  { storage, expiry, lock }: ApproleContext,
  signal: AbortSignal,
): Promise<number> {
  let gone = 0;
  for (const name of await storage.roleNames()) {
    for await (const page of storage.secretIds(name)) {
      signal.throwIfAborted();
      const spent = page.filter(({ row }) => isSpent(row, expiry));
      if (spent.length === 0) continue;
      // Read again under the lock: one of a given value may have been made anew meanwhile.
      const deleted = await lock(name, () =>
        Promise.all(
          spent.map(async ({ key }) => {
            const stored = await storage.byKey(name, key);
            if (stored === undefined || !isSpent(stored.row, expiry)) return false;
            await storage.deleteSecretId(name, stored);
            return true;
          }),
        ),
      );
      gone += deleted.filter(Boolean).length;
    }
  }
  return gone;
}

/** Tidies until it is closed. `close` resolves when nothing is deleted any more. */
export function startTidying(context: ApproleContext): { close(): Promise<void> } {
  const { clock, host } = context;
  const closing = new AbortController();
  let timer: Disposable | undefined;
  let running = Promise.resolve();
  const tidyIn = (ms: number): void => {
    timer = clock.timer(clock.monotonic() + ms, () => {
      running = tidy();
    });
  };
  const tidy = async (): Promise<void> => {
    try {
      const gone = await tidySecretIds(context, closing.signal);
      if (gone > 0) host.log.info("deleted expired secret ids", { secret_ids: gone });
    } catch (thrown) {
      if (closing.signal.aborted) return;
      host.log.warn("deleting expired secret ids failed; they stay until the next hour", {
        error: toStewardError(thrown),
      });
    }
    if (!closing.signal.aborted) tidyIn(EVERY_MS);
  };
  tidyIn(FIRST_MS);
  return {
    async close() {
      closing.abort(new StewardError("cancelled", "the mount closes"));
      timer?.[Symbol.dispose]();
      await running;
    },
  };
}
