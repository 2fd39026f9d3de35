/**
 * The paths that answer sealed and unsealed alike, bare and without a token: health, seal status,
 * initialisation.
 */
import {
  HealthFieldsSchema,
  EmptyFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import type { LogicalResponse, Path, PathRequest } from "../../logical/types.ts";
import { bare } from "./bare.ts";
import type { SystemDeps } from "./deps.ts";
import { sealPaths } from "./seal.ts";

/** What these paths need, sealed or not. */
export type StatusDeps = Pick<SystemDeps, "seal" | "clock" | "version" | "cluster">;

export function statusPaths(deps: StatusDeps): readonly Path[] {
  const sealStatus = async (): Promise<LogicalResponse> => bare(sealStatusOf(deps));
  return [
    definePath({
      pattern: "health",
      fields: HealthFieldsSchema,
      unknown: "warn",
      unauthenticated: true,
      operations: {
        read: async (request) => bare(healthOf(deps), { status: healthCode(deps, request) }),
      },
      synopsis: "Whether tokens can be minted.",
      description:
        "200 when initialised and unsealed, 501 before the initialisation, 503 sealed; each code can be chosen.",
    }),
    definePath({
      pattern: "seal-status",
      fields: EmptyFieldsSchema,
      unknown: "warn",
      unauthenticated: true,
      operations: { read: sealStatus },
      synopsis: "Whether the store is sealed.",
      description:
        "Type of the seal, whether the key is in memory, and how many shares were given.",
    }),
    definePath({
      pattern: "leader",
      fields: EmptyFieldsSchema,
      unknown: "warn",
      unauthenticated: true,
      operations: {
        read: async () =>
          bare({
            ha_enabled: false,
            is_self: false,
            leader_address: "",
            leader_cluster_address: "",
          }),
      },
      synopsis: "The active node.",
      description: "There is one process, which is always active.",
    }),
    ...sealPaths(deps.seal, () => bare(sealStatusOf(deps))),
  ];
}

function healthOf({ seal, clock, version, cluster }: StatusDeps): Record<string, unknown> {
  const { initialized, sealed } = seal.status();
  return {
    initialized,
    sealed,
    standby: false,
    performance_standby: false,
    replication_performance_mode: "disabled",
    replication_dr_mode: "disabled",
    server_time_utc: Math.floor(clock.now() / 1000),
    version,
    enterprise: false,
    ...(sealed ? {} : { cluster_name: cluster().name, cluster_id: cluster().id }),
  };
}

function healthCode({ seal }: StatusDeps, { fields }: PathRequest): number {
  const { initialized, sealed } = seal.status();
  const [name, usual] = !initialized
    ? (["uninitcode", 501] as const)
    : sealed
      ? (["sealedcode", 503] as const)
      : (["activecode", 200] as const);
  const code = fields.integer(name) ?? usual;
  if (code < 200 || code > 599)
    throw new StewardError(
      "invalid",
      `${name} must be a status code from 200 to 599, got ${code}`,
      { field: name },
    );
  return code;
}

function sealStatusOf({ seal, version, cluster }: StatusDeps): Record<string, unknown> {
  const { initialized, sealed, type, threshold, shares, progress, nonce } = seal.status();
  return {
    type,
    initialized,
    sealed,
    t: threshold,
    n: shares,
    progress,
    nonce,
    version,
    build_date: "",
    migration: false,
    recovery_seal: false,
    storage_type: "lmdb",
    ...(sealed ? {} : { cluster_name: cluster().name, cluster_id: cluster().id }),
  };
}
