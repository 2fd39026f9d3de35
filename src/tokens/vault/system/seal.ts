/** `sys/init` and `sys/unseal`: the paths that a sealed store answers, without a token. */
import {
  InitFieldsSchema,
  UnsealFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Fields, LogicalResponse, Path } from "../../logical/types.ts";
import { bare } from "./bare.ts";
import type { SealControl } from "./deps.ts";
import { refusePgp, shareTexts, termsIn } from "./share-texts.ts";

export function sealPaths(seal: SealControl, sealStatus: () => LogicalResponse): readonly Path[] {
  return [
    definePath({
      pattern: "init",
      fields: InitFieldsSchema,
      unknown: "keep",
      unauthenticated: true,
      operations: {
        read: async () => bare({ initialized: seal.status().initialized }),
        write: ({ fields }) => initialize(seal, fields),
      },
      synopsis: "Whether the store is initialised; initialise it.",
      description:
        "With tokens.seal.type shamir it makes the key shares and the first root token, once. " +
        "With a key file Steward initialises its store at the first start and prints the root token then.",
    }),
    definePath({
      pattern: "unseal",
      fields: UnsealFieldsSchema,
      unknown: "warn",
      unauthenticated: true,
      operations: {
        write: async ({ fields }) => {
          await unseal(seal, fields);
          return sealStatus();
        },
      },
      synopsis: "Unseal the store.",
      description:
        "Takes one key share, hexadecimal or base64; or the content of the key file after sys/seal.",
    }),
  ];
}

async function initialize(seal: SealControl, fields: Fields): Promise<LogicalResponse> {
  const { shared } = seal;
  if (shared === undefined)
    throw new StewardError("invalid", "Vault is already initialized", { rule: "initialized" });
  const recovery = ["recovery_shares", "recovery_threshold", "recovery_pgp_keys"].filter((name) =>
    name === "recovery_pgp_keys"
      ? (fields.texts(name) ?? []).length > 0
      : (fields.integer(name) ?? 0) !== 0,
  );
  if (recovery.length > 0)
    throw new StewardError(
      "invalid",
      `parameters ${recovery.join(",")} not applicable to seal type shamir`,
      { rule: "recovery keys", ...(recovery[0] === undefined ? {} : { field: recovery[0] }) },
    );
  refusePgp("pgp_keys", fields.texts("pgp_keys"));
  refusePgp("root_token_pgp_key", fields.text("root_token_pgp_key"));
  const { shares, rootToken, sent } = await shared.initialize(termsIn(fields));
  return bare({ ...shareTexts(shares), root_token: rootToken.use((text) => text) }, { sent });
}

async function unseal(seal: SealControl, fields: Fields): Promise<void> {
  const { sealed } = seal.status();
  if (fields.boolean("reset") === true) {
    if (!sealed && seal.shared !== undefined)
      throw new StewardError("invalid", "vault is unsealed", { field: "reset" });
    return seal.reset();
  }
  const key = fields.text("key") ?? "";
  if (key === "")
    throw new StewardError(
      "invalid",
      "'key' must be specified in request body as JSON, or 'reset' set to true",
      { field: "key" },
    );
  if (fields.boolean("migrate") === true)
    throw new StewardError(
      "invalid",
      "migrate is not supported: a store keeps the seal that it was made with; leave it out",
      { field: "migrate", rule: "seal type" },
    );
  if (sealed) await seal.unseal(key);
}
