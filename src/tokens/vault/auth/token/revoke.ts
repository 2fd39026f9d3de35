/** `auth/token/revoke` and its kin: a token ends, and with it what came of it. */
import {
  AccessorFieldsSchema,
  NoFieldsSchema,
  TokenFieldsSchema,
} from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { LogicalResponse, Path, PathRequest } from "../../../logical/types.ts";
import type { TokenEntry } from "../../types.ts";
import { callerOf } from "../context.ts";
import type { AuthDeps } from "../deps.ts";
import { accessorOf, idOf } from "./named.ts";
import { hasSudo } from "./sudo.ts";

/** The four ways to revoke, and the tidying that has nothing to do. */
export function revokePaths({ tokens, policies }: AuthDeps): readonly Path[] {
  const end = async (entry: TokenEntry | undefined, orphanChildren = false): Promise<undefined> => {
    if (entry?.type === "batch")
      throw logicalError("batch tokens cannot be revoked", { rule: "batch" });
    if (entry !== undefined) await tokens.revoke(entry.key, { orphanChildren });
    return undefined;
  };
  const endByAccessor = async (request: PathRequest): Promise<LogicalResponse | undefined> => {
    const entry = tokens.byAccessor(accessorOf(request));
    return entry === undefined ? { warnings: ["No token found with this accessor"] } : end(entry);
  };
  const orphaning = async (request: PathRequest): Promise<undefined> => {
    if (!hasSudo(policies, callerOf(request).entry, `${request.mountPoint}${request.path}`))
      throw logicalError("root or sudo privileges required to revoke and orphan", { rule: "sudo" });
    const entry = tokens.lookup(idOf(request));
    if (entry === undefined)
      throw logicalError("token to revoke not found", { field: "token", rule: "live" });
    return end(entry, true);
  };
  return [
    definePath({
      pattern: "revoke-self",
      fields: NoFieldsSchema,
      unknown: "warn",
      synopsis: "Revoke the calling token.",
      description: "Its children and all leases are revoked too.",
      operations: { update: (request) => end(callerOf(request).entry) },
    }),
    definePath({
      pattern: "revoke",
      fields: TokenFieldsSchema,
      unknown: "warn",
      synopsis: "Revoke a token.",
      description: "Its children and all leases are revoked too.",
      operations: { update: (request) => end(tokens.lookup(idOf(request))) },
    }),
    definePath({
      pattern: "revoke-orphan",
      fields: TokenFieldsSchema,
      unknown: "warn",
      synopsis: "Revoke a token and leave its children as orphans.",
      description: "Needs sudo.",
      operations: { update: orphaning },
    }),
    definePath({
      pattern: "revoke-accessor",
      fields: AccessorFieldsSchema,
      unknown: "warn",
      synopsis: "Revoke a token by its accessor.",
      description:
        "Its children and all leases are revoked too. An accessor without a token succeeds with a warning.",
      operations: { update: endByAccessor },
    }),
    definePath({
      pattern: "tidy",
      fields: NoFieldsSchema,
      unknown: "warn",
      synopsis: "Clean up after tokens.",
      description: "Does nothing: a token's data is removed in the same transaction as the token.",
      operations: {
        update: async () => ({
          status: 202,
          warnings: ["Tidy operation has nothing to do: what belongs to a token goes with it."],
        }),
      },
    }),
  ];
}
