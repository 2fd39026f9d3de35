/**
 * Creates a new root token when the first was lost, for an operator with the state directory and
 * its key, while no daemon runs.
 */
import { StewardError } from "../kernel/base/errors.ts";
import type { Secret } from "../kernel/base/secret.ts";
import type { Env } from "../kernel/state/types.ts";
import type { TokensDeps, TokensOptions } from "./service.ts";
import { tokensStore } from "./stores.ts";
import { openAudit } from "./vault/audit/audit.ts";
import { openExpiryClock } from "./vault/expiry/stored-clock.ts";
import { openIdentity } from "./vault/mounts/identity.ts";
import { newRootId, putRoot, ROOT_PATH } from "./vault/root.ts";
import { openSeal } from "./vault/seal/seal.ts";
import { createTokens } from "./vault/token-store/token-store.ts";
import type { AuditRequest } from "./vault/types.ts";

/**
 * Durable, with its audit record, when it resolves. Throws `not_found` for an uninitialised store,
 * `sealed` with the reason without the key, and audit errors: nothing happens without a record.
 */
export async function makeRootToken(
  deps: Omit<TokensDeps, "observe">,
  options: Pick<TokensOptions, "directory" | "seal" | "audit">,
  signal: AbortSignal,
): Promise<Secret> {
  const env = await deps.state.open(tokensStore, signal);
  try {
    await unseal(env, deps, options);
    return await make(env, deps, options);
  } finally {
    await env.close();
  }
}

async function unseal(
  env: Env,
  { ids, log }: Pick<TokensDeps, "ids" | "log">,
  { directory, seal: where }: Pick<TokensOptions, "directory" | "seal">,
): Promise<void> {
  if (where.type === "shamir")
    throw new StewardError(
      "unsupported",
      "the key of this store is split into shares (tokens.seal.type is shamir), so no command opens it",
      {
        rule: "seal type",
        remedy:
          "start the daemon, unseal it, and make a root token by sys/generate-root (docs/seal.md)",
      },
    );
  // Opening the seal of an empty store would create its key.
  if (Object.values(env.status().rows).every((rows) => rows === 0))
    throw new StewardError("not_found", `the store of tokens in ${directory} is empty`, {
      rule: "initialized",
      remedy: "start the daemon, which prints a root token at its first start",
    });
  const seal = await openSeal({ env, directory, ids, log }, where);
  const { sealed, reason } = seal.status();
  if (sealed)
    throw new StewardError(
      "sealed",
      `the store of tokens cannot be opened: ${reason ?? "its key is missing"}`,
      { rule: "sealed" },
    );
}

async function make(
  env: Env,
  { clock, ids, log }: Omit<TokensDeps, "state" | "observe">,
  { directory, audit: devices }: Pick<TokensOptions, "directory" | "audit">,
): Promise<Secret> {
  const audit = await openAudit({ env, directory, clock, ids, log }, devices);
  try {
    const request: AuditRequest = {
      id: ids.uuid(),
      operation: "update",
      path: ROOT_PATH,
      mount: { point: "auth/token/", type: "token", accessor: "token_house", class: "auth" },
      token: undefined,
      data: undefined,
      remote: undefined,
      wrapTtlMs: undefined,
      granting: [],
      allowed: true,
    };
    await audit.request(request);
    const expiry = await openExpiryClock({ env, clock, log });
    const tokens = await createTokens({
      env,
      clock: expiry,
      ids,
      log,
      limits: () => ({ defaultLeaseTtlMs: 0, maxLeaseTtlMs: 0 }),
    });
    const [identity, id] = [await openIdentity(env, ids), newRootId(ids)];
    const { entry } = await env.write((tx) => putRoot(tx, { tokens, identity, id }));
    await audit.response(request, { auth: { id, entry } });
    return id;
  } finally {
    await audit.close();
  }
}
