/**
 * A secrets manager around one scripted backend: every step writes its name into one list, and any
 * step can be made to fail.
 */
import { EmptyFieldsSchema } from "../../../../src/gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import { createBackend } from "../../../../src/tokens/logical/backend.ts";
import { definePath } from "../../../../src/tokens/logical/define-path.ts";
import type { Data, LogicalResponse, PathHandler } from "../../../../src/tokens/logical/types.ts";
import { createCore } from "../../../../src/tokens/vault/core/core.ts";
import type { Core, CoreDeps, CoreRequest } from "../../../../src/tokens/vault/core/types.ts";
import type { Mount } from "../../../../src/tokens/vault/mounts/mounts.ts";
import type {
  AuditRequest,
  AuditResponse,
  Decision,
  LeaseSpec,
  TokenEntry,
} from "../../../../src/tokens/vault/types.ts";

/** What a test can see and turn. */
export interface FakeCore {
  readonly core: Core;
  /** Names of the steps so far, in their order. */
  readonly steps: string[];
  /** Requests that the mount counts as in progress. */
  readonly inProgress: () => number;
  /** Steps that ended while it counted none. */
  readonly uncounted: string[];
  readonly audited: {
    request: AuditRequest;
    error: string | undefined;
    response: AuditResponse | undefined;
  }[];
  readonly leased: LeaseSpec[];
  /** Data of what the backend was told to revoke. */
  readonly revoked: Data[];
  /** Steps that fail with this error. */
  readonly failing: Map<string, Error>;
  /** Shared secrets that may get further leases, and those that have one. */
  readonly openShares: Set<string>;
  readonly heldShares: Set<string>;
  /** Keys of tokens that have ended. */
  readonly ended: Set<string>;
  decision: Decision;
  entry: TokenEntry | undefined;
  handler: PathHandler;
  /** Whether the backend is a built-in one, which receives the token. */
  trusted: boolean;
  ask(request: Partial<CoreRequest>): ReturnType<Core["handle"]>;
}

/** A live token that never ends. */
export const liveEntry: TokenEntry = {
  key: "k1",
  type: "service",
  accessor: "a1",
  policies: ["p"],
  path: "auth/token/create",
  displayName: "token",
  meta: undefined,
  entityId: "",
  numUses: 0,
  parent: undefined,
  createdAtMs: 0,
  creationTtlMs: 0,
  expiresAtMs: undefined,
  explicitMaxTtlMs: 0,
  periodMs: 0,
  renewable: false,
  lastRenewalAtMs: undefined,
  role: undefined,
  boundCidrs: [],
};

/** An answer with a lease of an hour. */
export const minted: LogicalResponse = {
  data: { token: "ghs_1" },
  secret: { ttlMs: 3_600_000, renewable: false, internalData: { secret_type: "t" } },
};

/** Everything allowed, everything working. */
export function fakeCore(): FakeCore {
  const steps: string[] = [];
  const failing = new Map<string, Error>();
  const uncounted: string[] = [];
  let inProgress = 0;
  const step = async (name: string): Promise<void> => {
    steps.push(name);
    await Promise.resolve();
    if (inProgress === 0) uncounted.push(name);
    const error = failing.get(name);
    if (error !== undefined) throw error;
    steps.push(`${name}.`);
  };
  const state = {
    decision: { allowed: true, granting: ["p"], wrap: {}, root: false } as Decision,
    entry: liveEntry as TokenEntry | undefined,
    handler: (async () => minted) as PathHandler,
    trusted: false,
    openShares: new Set<string>(),
    heldShares: new Set<string>(),
    ended: new Set<string>(),
  };
  const audited: FakeCore["audited"] = [];
  const leased: LeaseSpec[] = [];
  const revoked: Data[] = [];
  const handler: PathHandler = async (request) => {
    await step("backend");
    return state.handler(request);
  };
  const path = (
    pattern: string,
    more: { mints?: true; unauthenticated?: true; sudo?: true } = {},
  ): ReturnType<typeof definePath> =>
    definePath({
      pattern,
      fields: EmptyFieldsSchema,
      unknown: "keep",
      operations: { read: handler, write: handler, list: handler, delete: handler },
      synopsis: "s",
      description: "d",
      ...more,
    });
  const backend = createBackend({
    type: "fake",
    paths: [
      path("token", { mints: true }),
      path("plain"),
      path("plain/"),
      path("open", { unauthenticated: true }),
      {
        ...path("login", { unauthenticated: true }),
        proof: {
          subject: ({ data }) => data["role_id"] as string | undefined,
          verify: (request) => {
            steps.push("verify");
            return state.handler(request);
          },
        },
      },
      path("high", { sudo: true }),
    ],
    help: "",
    secrets: [
      {
        name: "t",
        revoke: async ({ data }) => {
          await step("backend revoke");
          revoked.push(data);
        },
      },
    ],
  });
  const mount: Mount = {
    point: "m/",
    class: "secret",
    type: "fake",
    accessor: "fake_1",
    uuid: "u",
    description: "",
    defaultLeaseTtlMs: 0,
    maxLeaseTtlMs: 0,
    options: {},
    declared: false,
    get trusted() {
      return state.trusted;
    },
    backend,
  };
  const deps: CoreDeps = {
    clock: {
      now: () => 1_000_000,
      monotonic: () => 0,
      timer: () => ({ [Symbol.dispose]: () => undefined }),
    },
    ids: systemIds,
    log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
    mounts: {
      match: (at) => (at.startsWith("m/") ? { mount, rest: at.slice(2) } : undefined),
      enter() {
        inProgress += 1;
        return { [Symbol.dispose]: () => void (inProgress -= 1) };
      },
      at: () => mount,
      forLease: () => mount,
      all: () => [mount],
      limits: () => ({ defaultLeaseTtlMs: 1_800_000, maxLeaseTtlMs: 7_200_000 }),
      enable: async () => mount,
      disable: async () => undefined,
      tune: async () => undefined,
      move: async () => undefined,
      open: async () => undefined,
      close: async () => undefined,
    },
    tokens: {
      lookup: () => state.entry,
      byAccessor: () => state.entry,
      byKey: () => state.entry,
      hasEnded: (key) => state.ended.has(key),
      isGoneIn: (_snapshot, key) => state.ended.has(key),
      create: () => Promise.reject(new Error("no")),
      createIn: () => {
        throw new Error("no");
      },
      use: async (entry) =>
        entry.numUses === 1 ? { ...entry, numUses: -1 } : { ...entry, numUses: entry.numUses - 1 },
      renew: () => Promise.reject(new Error("no")),
      revoke: (key) => step(`end ${key}`),
      accessors: async () => [],
      onEnd: () => undefined,
    },
    policies: {
      get: () => undefined,
      list: () => [],
      warnings: () => [],
      warningsAbout: async () => [],
      write: async () => ({ warnings: [] }),
      delete: async () => undefined,
      acl: () => ({
        check: () => state.decision,
        capabilities: () => [],
        anyBelow: () => true,
        rules: () => ({ exact: new Map(), glob: new Map() }),
      }),
    },
    leases: {
      intend: async ({ requestId }) => {
        await step("intend");
        return { requestId };
      },
      drop: () => void steps.push("drop"),
      orphan: (_intent, reason) => step(`orphan ${reason}`),
      register: (spec) => {
        leased.push(spec);
        return {
          info: {
            id: `${spec.path}/x`,
            path: spec.path,
            issuedAtMs: 0,
            expiresAtMs: spec.ttlMs,
            renewable: false,
            irrevocable: undefined,
            attempts: 0,
            shared: false,
          },
          stored: step("lease"),
        };
      },
      lookup: () => undefined,
      list: async () => [],
      revoke: (id) => step(`revoke ${id}`),
      revokePrefix: async () => undefined,
      endIn: () => undefined,
      endToken: () => undefined,
      irrevocable: () => Promise.resolve([]),
      newest: () => [],
      orphans: () => Promise.resolve([]),
      counts: () => ({ leases: 0, irrevocable: 0, orphans: 0, due: 0 }),
      sharing: {
        open: () => undefined,
        isOpen: (share) => state.openShares.has(share),
        abandon: async (share) => {
          await step(`abandon ${share}`);
          return !state.heldShares.has(share);
        },
      },
      tidy: async () => undefined,
    },
    audit: {
      request: async (request, error) => {
        audited.push({ request, error, response: undefined });
        await step("audit request");
      },
      response: async (request, response) => {
        audited.push({ request, error: undefined, response });
        await step("audit response");
      },
      summary: async () => undefined,
      hash: () => Promise.resolve(undefined),
      devices: () => [],
      reopen: async () => undefined,
      close: async () => undefined,
    },
    attempts: {
      failed: (address, subject) => {
        steps.push(`failed ${address} ${subject}`);
        return failing.get("attempt") as StewardError | undefined;
      },
    },
    refusals: {
      serve: () => failing.get("serve") as StewardError | undefined,
      enter: () => !failing.has("record"),
      leave: () => void steps.push("leave"),
      add: (address) => void steps.push(`add ${address}`),
      close: async () => undefined,
    },
    wrapping: {
      wrap: async (_answer, { path: creationPath, ttlMs }) => {
        await step("wrap");
        return {
          token: Secret.of("w", "w"),
          info: {
            token: "w",
            accessor: "wa",
            ttl: ttlMs / 1000,
            creation_time: "",
            creation_path: creationPath,
          },
        };
      },
      unwrap: () => Promise.reject(new Error("no")),
      rewrap: () => Promise.reject(new Error("no")),
      lookup: () => {
        throw new Error("no");
      },
    },
  };
  const core = createCore(deps);
  return Object.assign(state, {
    core,
    steps,
    inProgress: () => inProgress,
    uncounted,
    audited,
    leased,
    revoked,
    failing,
    ask: (request: Partial<CoreRequest>) =>
      core.handle({
        verb: "write",
        path: "m/token",
        data: {},
        token: Secret.of("t", "t"),
        remote: { address: "127.0.0.1", port: 1 },
        wrapTtlMs: undefined,
        signal: new AbortController().signal,
        ...request,
      }),
  });
}

/** An error as an audit device gives it. */
export const auditDown: StewardError = new StewardError(
  "disk_full",
  "audit device file/ cannot write",
);
