/** Leases: look up, list, revoke, count; and what a crash left behind. */
import {
  LeaseCountFieldsSchema,
  LeaseFieldsSchema,
  LeasePrefixFieldsSchema,
  EmptyFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import { unsupportedPath } from "../../logical/occurred.ts";
import type { Data, LogicalResponse, Path, PathHandler, PathRequest } from "../../logical/types.ts";
import type { LeaseInfo, Orphan } from "../types.ts";
import type { SystemDeps } from "./deps.ts";

/** Accepted, and not done yet. */
const GOING_ON: LogicalResponse = { status: 202 };
/** Leases or orphans per response by default. */
const LISTED = 10_000;

export function leasePaths(deps: SystemDeps): readonly Path[] {
  return [...single(deps), ...many(deps)];
}

function single(deps: SystemDeps): Path[] {
  const both = (name: string, older: string, handler: PathHandler, synopsis: string): Path[] => [
    definePath({
      pattern: `leases/${name}`,
      also: [older],
      fields: LeaseFieldsSchema,
      coerce: { increment: "duration" },
      operations: { write: handler },
      synopsis,
      description: "The lease is named in `lease_id` or in the path.",
    }),
    definePath({
      pattern: `leases/${name}/:url_lease_id*`,
      also: [`${older}/:url_lease_id*`],
      fields: LeaseFieldsSchema,
      coerce: { increment: "duration" },
      operations: { write: handler },
      synopsis,
      description: "The lease is named in the path.",
    }),
  ];
  return [
    definePath({
      pattern: "leases/lookup",
      fields: LeaseFieldsSchema,
      coerce: { increment: "duration" },
      operations: {
        write: async (request) => ({
          data: leaseData(deps, known(deps, request, "invalid lease")),
        }),
      },
      synopsis: "One lease.",
      description: "Times of a lease by its id.",
    }),
    ...both(
      "renew",
      "renew",
      async (request) => {
        known(deps, request, "lease not found");
        throw new StewardError("invalid", "lease is not renewable", { rule: "renewable" });
      },
      "Leases of minted tokens cannot be renewed: the platform knows no renewal.",
    ),
    ...both(
      "revoke",
      "revoke",
      async (request) => {
        const sync = request.fields.boolean("sync") ?? true;
        await deps.leases.revoke(idOf(request), { sync });
        return sync ? undefined : GOING_ON;
      },
      "Revoke a lease.",
    ),
  ];
}

function many(deps: SystemDeps): Path[] {
  const ending = (name: string, force: boolean, synopsis: string): Path =>
    definePath({
      pattern: `leases/${name}/:prefix*`,
      also: [`${name}/:prefix*`],
      fields: LeasePrefixFieldsSchema,
      sudo: true,
      operations: {
        write: async ({ fields }) => {
          const sync = fields.boolean("sync") ?? true;
          const prefix = fields.text("prefix") ?? "";
          // All leases of all mounts have no name here: what ends them is a seal or their mounts'
          // end.
          if (prefix === "") throw unsupportedPath();
          await deps.leases.revokePrefix(prefix, { sync, force });
          return sync ? undefined : GOING_ON;
        },
      },
      synopsis,
      description: "Needs sudo.",
    });
  return [
    definePath({
      pattern: "leases/lookup/:prefix*",
      fields: LeasePrefixFieldsSchema,
      sudo: true,
      operations: {
        list: async ({ fields }) => {
          const keys = await deps.leases.list(fields.text("prefix") ?? "");
          return { data: { keys } };
        },
      },
      synopsis: "Leases below a path.",
      description: "Sub-levels end in a slash. Needs sudo.",
    }),
    ending("revoke-prefix", false, "End all leases below a path, or the one with this id."),
    ending(
      "revoke-force",
      true,
      "Delete all leases below a path, or the one with this id, even if their backend fails to revoke them.",
    ),
    definePath({
      pattern: "leases/tidy",
      fields: EmptyFieldsSchema,
      operations: {
        write: async () => {
          await deps.leases.tidy();
          return {
            status: 202,
            warnings: [
              "Tidy operation successfully started. Any information from the operation will be printed to the server logs.",
            ],
          };
        },
      },
      synopsis: "Retry irrevocable leases.",
      description: "They become due at once.",
    }),
    definePath({
      pattern: "leases/count",
      fields: LeaseCountFieldsSchema,
      unknown: "warn",
      operations: { read: async (request) => ({ data: countOf(deps, request) }) },
      synopsis: "How many leases there are.",
      description: "`type=irrevocable` for those that could not be revoked.",
    }),
    definePath({
      pattern: "leases",
      fields: LeaseCountFieldsSchema,
      unknown: "warn",
      sudo: true,
      operations: { read: async (request) => ({ data: await irrevocableOf(deps, request) }) },
      synopsis: "Leases that could not be revoked.",
      description: "With the last error of each. Needs sudo.",
    }),
    definePath({
      pattern: "leases/orphans",
      fields: EmptyFieldsSchema,
      sudo: true,
      operations: {
        read: async () => {
          const listed = await deps.leases.orphans(LISTED);
          const { orphans } = deps.leases.counts();
          return { data: { orphan_count: orphans, orphans: listed.map(orphanData) } };
        },
      },
      synopsis: "Tokens that may exist without a lease.",
      description: `Left by a crash or an unclear response; each expires at the time shown. \`orphan_count\` counts all, \`orphans\` has at most ${LISTED}. Needs sudo.`,
    }),
  ];
}

function idOf({ fields }: PathRequest): string {
  const id = fields.text("lease_id") || fields.text("url_lease_id") || "";
  if (id === "")
    throw new StewardError("invalid", "lease_id must be specified", { field: "lease_id" });
  return id;
}

function known(deps: SystemDeps, request: PathRequest, missing: string): LeaseInfo {
  const info = deps.leases.lookup(idOf(request));
  if (info === undefined) throw new StewardError("invalid", missing, { field: "lease_id" });
  return info;
}

function leaseData({ clock }: SystemDeps, lease: LeaseInfo): Data {
  return {
    expire_time: rfc3339(lease.expiresAtMs),
    id: lease.id,
    issue_time: rfc3339(lease.issuedAtMs),
    last_renewal: null,
    path: lease.path,
    renewable: lease.renewable,
    ttl: Math.max(0, Math.round((lease.expiresAtMs - clock.now()) / 1000)),
    ...(lease.irrevocable === undefined ? {} : { irrevocable: lease.irrevocable }),
  };
}

function orphanData(orphan: Orphan): Data {
  return {
    request_id: orphan.requestId,
    path: orphan.path,
    began_at: rfc3339(orphan.beganAtMs),
    until: rfc3339(orphan.untilMs),
    reason: orphan.reason,
    about: orphan.about,
  };
}

function countOf({ leases }: SystemDeps, { fields }: PathRequest): Data {
  const type = fields.text("type") || "expirable";
  if (type !== "irrevocable" && type !== "expirable")
    throw new StewardError(
      "invalid",
      `type must be irrevocable or expirable, got ${JSON.stringify(type.slice(0, 40))}`,
      { field: "type" },
    );
  const counts = leases.counts();
  const count = type === "irrevocable" ? counts.irrevocable : counts.leases - counts.irrevocable;
  return { lease_count: count, counts: {} };
}

async function irrevocableOf({ leases }: SystemDeps, { fields }: PathRequest): Promise<Data> {
  const type = fields.text("type") || "irrevocable";
  if (type !== "irrevocable")
    throw new StewardError(
      "invalid",
      "only irrevocable leases are listed here; list others with LIST sys/leases/lookup/PREFIX",
      { field: "type" },
    );
  const listed = await leases.irrevocable(
    fields.text("limit") === "none" ? Number.POSITIVE_INFINITY : LISTED,
  );
  return {
    lease_count: leases.counts().irrevocable,
    leases: listed.map(({ id, irrevocable }) => ({ lease_id: id, error: irrevocable })),
  };
}

function rfc3339(ms: number): string {
  return new Date(ms).toISOString();
}
