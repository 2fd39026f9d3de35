/**
 * The unsealed part of the secrets manager: created at each unseal and discarded at each seal, so
 * that nothing decrypted outlives the keys.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Health } from "../../kernel/supervisor/component.ts";
import type { BackendFactory, LogicalRequest } from "../logical/types.ts";
import { openAudit, type AuditDeviceConfig, type AuditService } from "./audit/audit.ts";
import { authFactories } from "./auth/factories.ts";
import type { OpenHttp } from "./auth/jwt/keys.ts";
import {
  unobserved,
  watchAudit,
  watchRevocations,
  type TokensObserver,
} from "../telemetry/observer.ts";
import { createAttempts } from "./core/attempts.ts";
import { createCore } from "./core/core.ts";
import type { Core } from "./core/types.ts";
import { createRefusals, type Refusals } from "./core/refusals.ts";
import { createWrapping } from "./core/wrapping.ts";
import { createCubbyhole } from "./cubbyhole.ts";
import { openExpiryClock, type StoredClock } from "./expiry/stored-clock.ts";
import { envelope } from "./http/envelope.ts";
import { asPrefix, createLeases, type LeasesService } from "./leases/leases.ts";
import { openIdentity } from "./mounts/identity.ts";
import { Quotas } from "./mounts/quotas.ts";
import { createMounts, type Mount, type Mounts, type MountSpec } from "./mounts/mounts.ts";
import { createPolicies } from "./policies/policies.ts";
import { newRootId, putRoot } from "./root.ts";
import { createGenerateRoot } from "./seal/generate-root.ts";
import { createKeyRotation, type KeyRotation } from "./seal/key-rotation.ts";
import { createRekey } from "./seal/rekey.ts";
import { createSystemBackend } from "./system/backend.ts";
import type { SealControl } from "./system/deps.ts";
import { createTokens, type TokenStore } from "./token-store/token-store.ts";
import type { Leases, RevokeBackend } from "./types.ts";

/** Lease times of mounts that set none: 32 days, as in the original. */
const SYSTEM_LIMITS = { defaultLeaseTtlMs: 2_764_800_000, maxLeaseTtlMs: 2_764_800_000 };

export interface ManagerDeps {
  /** Unsealed. */
  readonly env: Env;
  /** The state folder, where relative audit files begin. */
  readonly directory: string;
  readonly audit: readonly AuditDeviceConfig[];
  readonly seal: SealControl;
  readonly secrets: Readonly<Record<string, BackendFactory>>;
  readonly declared: readonly MountSpec[];
  /** Clients of issuers of identity tokens. */
  readonly openHttp: OpenHttp;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Hears of revocations and audit records. */
  readonly observe?: TokensObserver;
}

/**
 * Shows the first root token to the person who started the daemon; it is never stored in clear.
 * False when nobody would see it: then none is created.
 */
export type ShowRoot = (token: string) => boolean;

/** The inside. */
export interface Manager {
  readonly core: Core;
  readonly leases: Leases;
  readonly tokens: TokenStore;
  readonly mounts: Mounts;
  readonly audit: AuditService;
  /** What installations had left at their last mint. */
  readonly quotas: Pick<Quotas, "all">;
  readonly cluster: { readonly name: string; readonly id: string };
  /** Every problem at present. */
  health(): Health;
  /**
   * Makes the first root token of the store, unless there was one. Shown before it is stored: a
   * crash in between shows another one at the next start, never none.
   */
  makeRoot(show: ShowRoot): Promise<void>;
  /** Stores the root token that `sys/init` returned; at the first unsealing with key shares. */
  takeInitialRoot(): Promise<void>;
  /** Stops its timers, then its backends. */
  stop(deadlineMs: number): Promise<void>;
}

/** Builds the inside and starts its timers. What was started is stopped again when a part fails. */
export async function openManager(deps: ManagerDeps): Promise<Manager> {
  const { env, clock, ids, log, observe = unobserved } = deps;
  const identity = await openIdentity(env, ids);
  const cluster = { name: identity.clusterName, id: identity.clusterId };
  const expiry = await openExpiryClock({ env, clock, log: log.child("expiry") });
  const tokens = await createTokens({
    env,
    clock: expiry,
    ids,
    log: log.child("tokens"),
    limits: () => SYSTEM_LIMITS,
  });
  const policies = createPolicies({ env, clock: { now: () => expiry.latest() } });
  const leases = createLeases({
    env,
    clock: expiry,
    ids,
    log,
    revoke: watchRevocations((lease, signal) => revokeBy(mounts, ids)(lease, signal), observe),
  });
  tokens.onEnd((tx, { key }) => leases.endToken(tx, key));
  const wrapping = createWrapping({ env, tokens, leases, clock, envelope });
  const audit = watchAudit(
    await openAudit(
      { env, directory: deps.directory, clock, ids, log: log.child("audit") },
      deps.audit,
    ),
    observe,
  );
  const refusals = createRefusals({ clock, log, write: (summary) => audit.summary(summary) });
  const stopping = new AbortController();
  const { keyring } = env;
  if (keyring === undefined)
    throw new StewardError("internal", `assertion failed: ${env.name} has sealed tables`);
  const sealLog = log.child("seal");
  const { shared } = deps.seal;
  const rotation = createKeyRotation({ keyring, log: sealLog, settles: shared !== undefined });
  const makeRoot = async (): Promise<Secret> => {
    const id = newRootId(ids);
    const stored = await openIdentity(env, ids);
    await env.write((tx) => void putRoot(tx, { tokens, identity: stored, id }));
    return id;
  };
  const ends = withLogins(leases, tokens, stopping.signal);
  const system = createSystemBackend({
    env,
    mounts: () => mounts,
    tokens,
    policies,
    leases: ends,
    audit,
    wrapping,
    seal: deps.seal,
    rotation,
    shared:
      shared === undefined
        ? undefined
        : {
            rekey: createRekey({ shared, ids, log: sealLog, adopted: () => rotation.start() }),
            generateRoot: createGenerateRoot({ shared, ids, log: sealLog, makeRoot }),
          },
    clock,
    ids,
    version: deps.version,
    cluster: () => cluster,
  });
  const authDeps = {
    env,
    tokens,
    policies,
    clock,
    expiry,
    ids,
    openHttp: deps.openHttp,
    limits: () => SYSTEM_LIMITS,
  };
  const fixed = [
    fixedMount("sys/", "system", system),
    fixedMount("cubbyhole/", "secret", createCubbyhole({ env, tokens })),
    fixedMount("auth/token/", "auth", authFactories.token(authDeps)),
  ];
  const quotas = new Quotas(clock);
  const mounts = createMounts({
    env,
    clock,
    ids,
    log,
    fixed,
    declared: deps.declared,
    system: SYSTEM_LIMITS,
    factories: { secret: deps.secrets, auth: authFactories.mountable(authDeps) },
    warningsAbout: (point) => policies.warningsAbout(point),
    quota: (point, quota) => quotas.note(point, quota),
    sharing: (mount) => ({
      open: (share, path) => leases.sharing.open(share, path),
      isOpen: (share) => leases.sharing.isOpen(share),
      seen: (outcome) => observe.cache({ mount, outcome }),
    }),
    endLeases: (prefix) => ends.revokePrefix(prefix, { sync: true, force: false }),
  });
  const manager: Manager = {
    core: createCore({
      mounts,
      tokens,
      policies,
      leases,
      audit,
      wrapping,
      attempts: createAttempts({ clock, log }),
      refusals,
      clock,
      ids,
      log,
    }),
    leases,
    tokens,
    mounts,
    audit,
    quotas,
    cluster,
    health() {
      const { irrevocable, orphans } = leases.counts();
      const parts = [
        audit.health(),
        leases.health(),
        tokens.component.health?.() ?? { ok: true },
        {
          ok: irrevocable === 0,
          reason: `leases that could not be revoked at the platform: ${irrevocable} (sys/leases shows them, sys/leases/tidy tries again)`,
        },
        {
          ok: orphans === 0,
          reason: `tokens that may exist without a lease until they expire: ${orphans} (sys/leases/orphans shows them)`,
        },
      ];
      const reasons = parts.flatMap((part) => (part.ok ? [] : [part.reason ?? "not well"]));
      return reasons.length === 0
        ? { ok: true }
        : { ok: false, reason: reasons.join("; "), unable: audit.health().unable === true };
    },
    async makeRoot(show) {
      const stored = await openIdentity(env, ids);
      const id = newRootId(ids);
      if (!stored.rooted && id.use(show))
        await env.write((tx) => void putRoot(tx, { tokens, identity: stored, id }));
    },
    async takeInitialRoot() {
      const id = shared?.initialRoot();
      if (shared === undefined || id === undefined) return;
      const stored = await openIdentity(env, ids);
      // After a crash in between it is there already.
      if (!stored.rooted)
        await env.write((tx) => void putRoot(tx, { tokens, identity: stored, id }));
      await shared.rootStored();
    },
    stop(deadlineMs) {
      stopping.abort(new StewardError("cancelled", "the secrets manager stops"));
      return stopAll(
        { tokens, leases, mounts, refusals, audit, expiry, rotation, log },
        deadlineMs,
      );
    },
  };
  try {
    expiry.start();
    rotation.start();
    await mounts.open();
    await leases.start();
    await tokens.component.start(new AbortController().signal, (error) =>
      log.error("the token expiry loop stopped; tokens no longer expire", {
        error: toStewardError(error),
      }),
    );
    return manager;
  } catch (error) {
    await manager.stop(0);
    throw error;
  }
}

/**
 * Leases whose prefixes below `auth/` include the tokens issued there: revoking such a prefix
 * revokes logins, too.
 */
function withLogins(leases: Leases, tokens: TokenStore, signal: AbortSignal): Leases {
  return {
    ...leases,
    async revokePrefix(prefix, options) {
      const below = asPrefix(prefix);
      if (below.startsWith("auth/")) await tokens.revokePrefix(below, signal);
      await leases.revokePrefix(prefix, options);
    },
  };
}

interface Parts {
  readonly tokens: TokenStore;
  readonly leases: LeasesService;
  readonly mounts: Mounts;
  readonly refusals: Refusals;
  readonly audit: AuditService;
  readonly expiry: StoredClock;
  readonly rotation: KeyRotation;
  readonly log: Log;
}

async function stopAll(
  { tokens, leases, mounts, refusals, audit, expiry, rotation, log }: Parts,
  deadlineMs: number,
): Promise<void> {
  const ends = await Promise.allSettled([
    tokens.component.stop(deadlineMs),
    leases.stop(deadlineMs),
    refusals.close(),
    rotation.stop(),
  ]);
  ends.push(...(await Promise.allSettled([mounts.close(), audit.close(), expiry.stop()])));
  for (const end of ends)
    if (end.status === "rejected")
      log.error("stopping a part of the secrets manager failed", {
        error: toStewardError(end.reason),
      });
}

/** What `secrets list` and `auth list` show of the mounts that are always there. */
const FIXED_DESCRIPTIONS: Readonly<Record<string, string>> = {
  "sys/": "system endpoints for control, policies and leases",
  "cubbyhole/": "private storage of each token",
  "auth/token/": "tokens as credentials",
};

function fixedMount(point: string, kind: Mount["class"], backend: Mount["backend"]): Mount {
  const name = point.replace(/^auth\//, "").replace("/", "");
  return {
    point,
    class: kind,
    type: backend.type,
    accessor: `${name}_house`,
    uuid: `house-${name}`,
    description: FIXED_DESCRIPTIONS[point] ?? "",
    defaultLeaseTtlMs: 0,
    maxLeaseTtlMs: 0,
    options: {},
    declared: false,
    trusted: true,
    backend,
  };
}

/**
 * Asks the backend that a lease came from to end it; that works for a mount on its way out, too.
 */
function revokeBy(mounts: Mounts, ids: Ids): RevokeBackend {
  return async (lease, signal) => {
    const mount = mounts.forLease(lease.mountPoint);
    if (mount === undefined)
      throw new StewardError(
        "not_found",
        `nothing is mounted at ${lease.mountPoint} any more; mount it again, or use sys/leases/revoke-force`,
        { rule: "mount" },
      );
    const request: LogicalRequest = {
      id: ids.uuid(),
      operation: "revoke",
      path: lease.path.slice(mount.point.length),
      data: lease.data,
      mountPoint: mount.point,
      signal,
      secret: { internalData: lease.internalData, leaseId: lease.id },
    };
    await mount.backend.handle(request);
  };
}
