/** `auth/token/lookup` and its kin: what is known about a token, and the accessors of all. */
import {
  AccessorFieldsSchema,
  NoFieldsSchema,
  TokenFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import type { Clock } from "../../../../kernel/base/clock.ts";
import { StewardError } from "../../../../kernel/base/errors.ts";
import { Secret } from "../../../../kernel/base/secret.ts";
import { definePath } from "../../../logical/define-path.ts";
import type { Data, Path, PathRequest } from "../../../logical/types.ts";
import type { TokenEntry } from "../../types.ts";
import { callerOf } from "../context.ts";
import type { AuthDeps } from "../deps.ts";
import { ttlLeft } from "../grants.ts";
import { byAccessor } from "./named.ts";

/** The paths that only look. */
export function lookupPaths({ tokens, clock }: AuthDeps): readonly Path[] {
  const self = async (request: PathRequest) => {
    const { id, entry } = callerOf(request);
    return { data: tokenData(entry, id, clock) };
  };
  const other = async (request: PathRequest) => {
    const given = request.fields.text("token");
    if (given === undefined || given === "") return self(request);
    const id = Secret.of(given, "token of auth/token/lookup");
    const entry = tokens.lookup(id);
    if (entry === undefined)
      throw new StewardError("denied", "bad token", { field: "token", rule: "live" });
    return { data: tokenData(entry, id, clock) };
  };
  return [
    definePath({
      pattern: "lookup-self",
      fields: TokenFieldsSchema,
      unknown: "warn",
      operations: { read: self, update: self },
      synopsis: "Look up the calling token.",
      description: "What is known about it, its id included.",
    }),
    definePath({
      pattern: "lookup",
      fields: TokenFieldsSchema,
      unknown: "warn",
      operations: { read: other, update: other },
      synopsis: "Look up a token.",
      description: "By its id; without one, the calling token.",
    }),
    definePath({
      pattern: "lookup-accessor",
      fields: AccessorFieldsSchema,
      unknown: "warn",
      synopsis: "Look up a token by its accessor.",
      description: "What is known about it, but not its id.",
      operations: {
        update: async (request) => ({
          data: tokenData(byAccessor(tokens, request), undefined, clock),
        }),
      },
    }),
    definePath({
      pattern: "accessors",
      fields: NoFieldsSchema,
      unknown: "warn",
      sudo: true,
      synopsis: "List the accessors of all service tokens.",
      description: "Sorted. With an accessor a token can be looked up and revoked.",
      operations: {
        list: async ({ signal, page }) => {
          const keys = await tokens.accessors(signal, page);
          // A page behind the last accessor is empty; a list without accessors is not there.
          const isPage = page !== undefined && page.after !== "";
          return keys.length === 0 && !isPage ? undefined : { data: { keys } };
        },
      },
    }),
  ];
}

function tokenData(entry: TokenEntry, id: Secret | undefined, clock: Clock): Data {
  const seconds = (ms: number): number => Math.floor(ms / 1_000);
  const { lastRenewalAtMs } = entry;
  return {
    accessor: entry.accessor,
    ...(entry.boundCidrs.length === 0 ? {} : { bound_cidrs: entry.boundCidrs }),
    creation_time: seconds(entry.createdAtMs),
    creation_ttl: seconds(entry.creationTtlMs),
    display_name: entry.displayName,
    entity_id: entry.entityId,
    expire_time: entry.expiresAtMs === undefined ? null : new Date(entry.expiresAtMs).toISOString(),
    explicit_max_ttl: seconds(entry.explicitMaxTtlMs),
    id: id?.use((value) => value) ?? "",
    issue_time: new Date(entry.createdAtMs).toISOString(),
    ...(lastRenewalAtMs === undefined
      ? {}
      : {
          last_renewal: new Date(lastRenewalAtMs).toISOString(),
          last_renewal_time: seconds(lastRenewalAtMs),
        }),
    meta: entry.meta ?? null,
    num_uses: entry.numUses,
    orphan: entry.parent === undefined,
    path: entry.path,
    ...(entry.periodMs === 0 ? {} : { period: seconds(entry.periodMs) }),
    policies: entry.policies,
    renewable: entry.renewable,
    ...(entry.role === undefined ? {} : { role: entry.role }),
    ttl: seconds(ttlLeft(entry, clock)),
    type: entry.type,
  };
}
