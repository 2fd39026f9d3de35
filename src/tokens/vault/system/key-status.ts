/** `sys/rotate` and `sys/key-status`: the data key that encrypts what is stored from now on. */
import { EmptyFieldsSchema } from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Path } from "../../logical/types.ts";
import type { SystemDeps } from "./deps.ts";

/** Go's zero time, for a key without a recorded time. */
const UNKNOWN_TIME = "0001-01-01T00:00:00Z";

export function keyPaths({ rotation }: Pick<SystemDeps, "rotation">): readonly Path[] {
  return [
    definePath({
      pattern: "rotate",
      also: ["rotate/keyring"],
      fields: EmptyFieldsSchema,
      unknown: "warn",
      sudo: true,
      operations: {
        write: async () => {
          await rotation.rotate();
          return undefined;
        },
      },
      synopsis: "Make a new data key.",
      description:
        "New rows use it; older rows are re-encrypted in the background. " +
        "The root key stays (steward rotate-key replaces a key file, sys/rekey key shares). Needs sudo.",
    }),
    definePath({
      pattern: "key-status",
      fields: EmptyFieldsSchema,
      unknown: "warn",
      operations: {
        read: async () => {
          const { term, madeAtMs, writes } = rotation.status();
          const installed =
            madeAtMs === undefined ? UNKNOWN_TIME : new Date(madeAtMs).toISOString();
          return { data: { term, install_time: installed, encryptions: writes } };
        },
      },
      synopsis: "The data key in use.",
      description:
        "Its number, when it was made, and how many rows it encrypted; after a restart up to 65,536 too high.",
    }),
  ];
}
