/** Which pages of other origins may call the Vault API. Nothing else of Steward follows this. */
import { create } from "@bufbuild/protobuf";
import { VaultCorsRowSchema } from "../../../gen/steward/state/v1/tokens_mounts_pb.ts";
import { CorsFieldsSchema } from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Env } from "../../../kernel/state/types.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Path } from "../../logical/types.ts";
import { corsRow } from "../mounts/tables.ts";
import type { SystemDeps } from "./deps.ts";

/** The rule in force. */
export interface VaultCors {
  readonly enabled: boolean;
  readonly allowedOrigins: readonly string[];
  readonly allowedHeaders: readonly string[];
}

const OFF: VaultCors = { enabled: false, allowedOrigins: [], allowedHeaders: [] };
const ORIGINS_MOST = 100;
/** Cached per store, since every request needs it. */
const known = new WeakMap<Env, VaultCors>();

/** The rule in force; a sealed store answers no foreign page. */
export function vaultCors(env: Env): VaultCors {
  if (env.keyring?.status().sealed === true) return OFF;
  const rule = known.get(env) ?? env.read((snapshot) => snapshot.get(corsRow, "cors")) ?? OFF;
  known.set(env, rule);
  return rule;
}

export function corsPath({ env }: SystemDeps): Path {
  return definePath({
    pattern: "config/cors",
    fields: CorsFieldsSchema,
    coerce: { allowed_origins: "comma_list", allowed_headers: "comma_list" },
    sudo: true,
    operations: {
      read: async () => {
        const { enabled, allowedOrigins, allowedHeaders } = vaultCors(env);
        return {
          data: enabled
            ? {
                enabled,
                allowed_origins: [...allowedOrigins],
                allowed_headers: [...allowedHeaders],
              }
            : { enabled },
        };
      },
      write: async ({ fields }) => {
        const [enabled, allowedOrigins, allowedHeaders] = [
          fields.boolean("enable") ?? true,
          fields.texts("allowed_origins") ?? [],
          fields.texts("allowed_headers") ?? [],
        ];
        if (enabled) assertOrigins(allowedOrigins);
        await env.write((tx) => {
          tx.put(
            corsRow,
            "cors",
            create(VaultCorsRowSchema, {
              enabled,
              allowedOrigins: [...allowedOrigins],
              allowedHeaders: [...allowedHeaders],
            }),
          );
          tx.after(() => known.delete(env));
        });
        return undefined;
      },
      delete: async () => {
        await env.write((tx) => {
          tx.delete(corsRow, "cors");
          tx.after(() => known.delete(env));
        });
        return undefined;
      },
    },
    synopsis: "The CORS settings.",
    description: "`*` alone allows every origin. Needs sudo.",
  });
}

function assertOrigins(origins: readonly string[]): void {
  if (origins.length === 0)
    throw new StewardError("invalid", "at least one origin or the wildcard must be provided", {
      field: "allowed_origins",
    });
  if (origins.length > ORIGINS_MOST)
    throw new StewardError("invalid", `at most ${ORIGINS_MOST} origins`, {
      field: "allowed_origins",
    });
  if (origins.length > 1 && origins.includes("*"))
    throw new StewardError(
      "invalid",
      "to allow all origins the '*' must be the only value for allowed_origins",
      { field: "allowed_origins" },
    );
}
