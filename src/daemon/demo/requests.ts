/**
 * Vault API clients of the demo: jobs that mint tokens by permission set, and one that its policy
 * denies.
 */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import type { SealGate } from "../../tokens/vault/core/seal-gate.ts";
import type { CoreAnswer, CoreRequest } from "../../tokens/vault/core/types.ts";

/** A minted token lives an hour, so three to nine leases are held. */
const EVERY_MS = 25 * 60_000;
/** TTL of a job's own token, created anew in each round. */
const JOB_TTL = "30m";
/** The policy and the only permission set that it allows. */
const POLICY = "ci";
const SETS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ci: { repositories: ["web"], permissions: { contents: "read" } },
  deploy: { repositories: ["web", "api"], permissions: { contents: "read", deployments: "write" } },
  issues: { repositories: ["api"], permissions: { issues: "write" } },
};

export interface DemoRequestDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly gate: Pick<SealGate, "handle">;
  readonly root: Secret;
}

/** The mount that the requests go to. */
export interface DemoMount {
  /** With a trailing slash. */
  readonly mount: string;
  readonly organisation: string;
}

/**
 * Creates the permission sets and the policy, then mints in rounds until the signal fires; a
 * request in flight is finished. Never rejects.
 */
export async function runDemoRequests(
  deps: DemoRequestDeps,
  at: DemoMount,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps;
  try {
    await prepare(deps, at);
    for (;;) {
      signal.throwIfAborted();
      await mintOnce(deps, at);
      await delay(clock, EVERY_MS, signal);
    }
  } catch (error) {
    // The user of the demo may have sealed the store or removed the mount.
    if (!signal.aborted)
      log.info("the demo's simulated jobs stopped minting tokens", {
        error: toStewardError(error),
      });
  }
}

async function prepare(
  { gate, root }: DemoRequestDeps,
  { mount, organisation }: DemoMount,
): Promise<void> {
  for (const [name, scope] of Object.entries(SETS)) {
    await write(gate, {
      path: `${mount}permissionset/${name}`,
      data: { org_name: organisation, ...scope },
      token: root,
    });
  }
  const policy = `path "${mount}token/ci" { capabilities = ["create", "update", "read"] }`;
  await write(gate, { path: `sys/policies/acl/${POLICY}`, data: { policy }, token: root });
}

/**
 * Mints three tokens; a fourth request is denied, since the job's policy allows one permission set.
 */
async function mintOnce(
  { gate, root }: DemoRequestDeps,
  { mount, organisation }: DemoMount,
): Promise<void> {
  const created = await write(gate, {
    path: "auth/token/create",
    data: { policies: [POLICY], ttl: JOB_TTL, display_name: "ci-job" },
    token: root,
  });
  const job = created.auth?.id;
  for (const name of Object.keys(SETS))
    await write(gate, {
      path: `${mount}token/${name}`,
      data: {},
      token: name === POLICY ? job : root,
    });
  await write(gate, {
    path: `${mount}token`,
    data: { org_name: organisation, repositories: ["api"] },
    token: job,
  }).catch((error: unknown) => {
    if (toStewardError(error).code !== "denied") throw error;
  });
}

function write(
  gate: Pick<SealGate, "handle">,
  request: Pick<CoreRequest, "path" | "data" | "token">,
): Promise<CoreAnswer> {
  return gate.handle({
    verb: "write",
    ...request,
    remote: undefined,
    wrapTtlMs: undefined,
    signal: new AbortController().signal,
  });
}
