/** `steward leases`: what was minted and lives, and its end. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { CommandContext } from "../command.ts";
import { counted } from "../report/text.ts";
import type { RemoteArguments } from "./options.ts";
import { ifFound, runRemote, type RemoteSession } from "./run.ts";
import { formatWhen, tableLines } from "./table.ts";
import { encodedPath } from "./vault-path.ts";
import { vaultHeaders } from "./vault-token.ts";

export type LeasesArguments = RemoteArguments &
  (
    | { readonly action: "list"; readonly prefix: string; readonly limit: number }
    | { readonly action: "revoke"; readonly id: string }
    | { readonly action: "revoke_prefix"; readonly prefix: string }
  );

interface Lease {
  readonly id: string;
  readonly issue_time: string;
  readonly expire_time: string | null;
}

/** A session with the headers of a Vault request. */
interface VaultSession extends RemoteSession {
  readonly headers: Readonly<Record<string, string>>;
}

export function leases(options: LeasesArguments, context: CommandContext): Promise<number> {
  const headers = vaultHeaders(context.environment);
  return runRemote(options, context, async (remote) => {
    const session = { ...remote, headers };
    if (options.action === "list") return await list(options, session);
    return await revoke(options, session);
  });
}

async function list(
  { prefix, limit }: Extract<LeasesArguments, { action: "list" }>,
  session: VaultSession,
): Promise<number> {
  const ids = await idsBelow(prefix, limit, session);
  const found: Lease[] = [];
  for (const id of ids.slice(0, limit)) {
    const lease = await lookup(id, session);
    if (lease !== undefined) found.push(lease);
  }
  if (session.printJson(found)) return 0;
  if (found.length > 0)
    for (const line of tableLines(
      [{ head: "ISSUED" }, { head: "EXPIRES" }, { head: "LEASE" }],
      found.map(({ id, issue_time: issued, expire_time: expires }) => [
        formatWhen(issued, session.nowMs),
        formatWhen(expires, session.nowMs),
        id,
      ]),
    ))
      session.print(line);
  session.print(
    session.style.quiet(
      found.length === 0
        ? "no leases"
        : `${counted(found.length, "lease")}${ids.length > limit ? "; there are more: name a PREFIX, or raise --limit" : ""}`,
    ),
  );
  return 0;
}

/** Ids below a prefix, depth first; one more than `limit` when there are more. */
async function idsBelow(prefix: string, limit: number, session: VaultSession): Promise<string[]> {
  const waiting = [prefix];
  const ids: string[] = [];
  for (let next = waiting.pop(); next !== undefined && ids.length <= limit; next = waiting.pop()) {
    const below = next;
    const answer = await ifFound(
      session.daemon.json<{ readonly data: { readonly keys: readonly string[] } } | undefined>(
        {
          path: `/v1/sys/leases/lookup/${encodedPath(below)}`,
          query: { list: "true" },
          headers: session.headers,
        },
        session.signal,
      ),
    );
    for (const key of answer?.data.keys ?? [])
      if (key.endsWith("/")) waiting.push(below + key);
      else if (ids.length <= limit) ids.push(below + key);
  }
  return ids;
}

/** Undefined for one that ended meanwhile. */
async function lookup(
  id: string,
  { daemon, headers, signal }: VaultSession,
): Promise<Lease | undefined> {
  try {
    const { data } = await daemon.json<{ readonly data: Lease }>(
      { method: "PUT", path: "/v1/sys/leases/lookup", headers, body: { lease_id: id } },
      signal,
    );
    return data;
  } catch (error) {
    if (error instanceof StewardError && error.code === "invalid") return undefined;
    throw error;
  }
}

async function revoke(
  options: Exclude<LeasesArguments, { action: "list" }>,
  session: VaultSession,
): Promise<number> {
  const { daemon, headers, signal, print, printJson } = session;
  const isOne = options.action === "revoke";
  if (isOne) await assertLease(options.id, session);
  await daemon.bytes(
    isOne
      ? {
          method: "PUT",
          path: "/v1/sys/leases/revoke",
          headers,
          body: { lease_id: options.id, sync: true },
        }
      : {
          method: "PUT",
          path: `/v1/sys/leases/revoke-prefix/${encodedPath(options.prefix)}`,
          headers,
          body: { sync: true },
        },
    signal,
  );
  const what = isOne ? options.id : `${options.prefix}*`;
  if (!printJson({ revoked: what })) print(`revoked ${what}`);
  return 0;
}

/**
 * The API confirms the end of a lease that never was: a mistyped id would be taken for revoked while
 * the token lives. Who may revoke but not look up is not told.
 */
async function assertLease(id: string, session: VaultSession): Promise<void> {
  try {
    if ((await lookup(id, session)) !== undefined) return;
  } catch (error) {
    if (error instanceof StewardError && error.code === "denied") return;
    throw error;
  }
  throw new StewardError("not_found", `there is no lease ${id}`, {
    remedy: "steward leases lists those that live",
  });
}
