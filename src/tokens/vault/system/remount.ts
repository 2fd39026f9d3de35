/** `sys/remount`: moves a mount with its data to another path. */
import {
  RemountFieldsSchema,
  RemountStatusFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Fields, Path } from "../../logical/types.ts";
import type { SystemDeps } from "./deps.ts";

/** Moves whose status is remembered, in memory only. */
const MAX_MOVES = 100;

export function remountPaths(deps: SystemDeps): readonly Path[] {
  const moves = new Map<
    string,
    { readonly source_mount: string; readonly target_mount: string; readonly status: "success" }
  >();
  return [
    definePath({
      pattern: "remount",
      fields: RemountFieldsSchema,
      sudo: true,
      operations: {
        write: async ({ fields }) => {
          const [from, to] = [pointOf(fields, "from"), pointOf(fields, "to")];
          await deps.mounts().move(from, to);
          const id = deps.ids.uuid();
          moves.set(id, { source_mount: from, target_mount: to, status: "success" });
          const [oldest] = moves.keys();
          if (moves.size > MAX_MOVES && oldest !== undefined) moves.delete(oldest);
          return { data: { migration_id: id } };
        },
      },
      synopsis: "Move a mount to another path.",
      description:
        "Its leases and logins are revoked first; its data moves with it. The move is complete when the response is sent. Needs sudo.",
    }),
    definePath({
      pattern: "remount/status/:migration_id",
      fields: RemountStatusFieldsSchema,
      operations: {
        read: async ({ fields }) => {
          const id = fields.text("migration_id") ?? "";
          const move = moves.get(id);
          return move === undefined
            ? undefined
            : { data: { migration_id: id, migration_info: move } };
        },
      },
      synopsis: "The status of a remount.",
      description: `It always is. Known are the last ${MAX_MOVES} moves since the start.`,
    }),
  ];
}

/** A mount's path with a slash at its end only. */
function pointOf(fields: Fields, name: "from" | "to"): string {
  const path = (fields.text(name) ?? "").replace(/^\/+/, "");
  if (path === "")
    throw new StewardError("invalid", `missing ${JSON.stringify(name)}: the path of a mount`, {
      field: name,
      rule: "required",
    });
  return path.endsWith("/") ? path : `${path}/`;
}
