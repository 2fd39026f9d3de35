/**
 * `sys/generate-root/*`: another root token. Whoever gives enough key shares needs no token, as in
 * Vault. `sys/generate-root-token/*` is the same with a token, as in OpenBao.
 */
import {
  GenerateRootFieldsSchema,
  ShareFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import { definePath, type PathSpec } from "../../logical/define-path.ts";
import type { Fields, LogicalResponse, Path } from "../../logical/types.ts";
import { ROOT_TOKEN_LENGTH } from "../root.ts";
import type { GenerateRoot, GenerateRootStatus } from "../seal/generate-root.ts";
import { bare } from "./bare.ts";
import type { SystemDeps } from "./deps.ts";
import { openByShares, type ShareChecks } from "./share-proof.ts";
import { refusePgp, shareIn } from "./share-texts.ts";

/** How an answer is given. */
type Show = (body: Readonly<Record<string, unknown>>) => LogicalResponse;

export function generateRootPaths({ shared }: Pick<SystemDeps, "shared">): readonly Path[] {
  const root = (): GenerateRoot => {
    if (shared === undefined)
      throw new StewardError(
        "invalid",
        "generate-root needs tokens.seal.type shamir; with a key file, steward root-token makes a root token (docs/recovery.md)",
        { rule: "seal type" },
      );
    return shared.generateRoot;
  };
  // With a key file there is nothing to prove.
  const open = (name: string, checks: ShareChecks): ReturnType<typeof openByShares> =>
    shared === undefined ? {} : openByShares(name, checks);
  return [
    definePath({
      pattern: "generate-root/attempt",
      also: ["generate-root"],
      ...open("generate-root/attempt", { write: (fields) => root().checkStart(padIn(fields)) }),
      ...attempt(root, bare),
    }),
    definePath({
      pattern: "generate-root/update",
      ...open("generate-root/update", {
        write: (fields) => {
          const { key, nonce } = shareIn(fields);
          root().checkUpdate(key, nonce);
        },
      }),
      ...update(root, bare),
    }),
    definePath({ pattern: "generate-root-token/attempt", sudo: true, ...attempt(root, enveloped) }),
    definePath({ pattern: "generate-root-token/update", sudo: true, ...update(root, enveloped) }),
  ];
}

function enveloped(data: Readonly<Record<string, unknown>>): LogicalResponse {
  return { data };
}

function attempt(root: () => GenerateRoot, show: Show): Omit<PathSpec, "pattern"> {
  return {
    fields: GenerateRootFieldsSchema,
    unknown: "warn",
    operations: {
      read: async () => show(body(root().status())),
      write: async ({ fields }) => {
        const otp = root().start(padIn(fields));
        return show(body(root().status(), { otp: otp?.use((text) => text) ?? "" }));
      },
      delete: async () => {
        root().cancel();
        return undefined;
      },
    },
    synopsis: "Start, show or cancel the generation of a root token.",
    description:
      "The answer to the start has the one-time pad, once, unless it was given. Needs tokens.seal.type shamir.",
  };
}

/** The one-time pad that was given. Throws `invalid` for what a start cannot have. */
function padIn(fields: Fields): Secret | undefined {
  refusePgp("pgp_key", fields.text("pgp_key"));
  const given = fields.text("otp") ?? "";
  return given === "" ? undefined : Secret.of(given, "otp");
}

function update(root: () => GenerateRoot, show: Show): Omit<PathSpec, "pattern"> {
  return {
    fields: ShareFieldsSchema,
    unknown: "warn",
    operations: {
      write: async ({ fields }) => {
        const { key, nonce } = shareIn(fields);
        const { encoded, complete, ...status } = await root().update(key, nonce);
        return show(body(status, { complete, encoded }));
      },
    },
    synopsis: "Give a key share to the generation of a root token.",
    description: "The answer to the last one has the token, XORed with the one-time pad.",
  };
}

function body(
  { nonce, started, progress, required }: GenerateRootStatus,
  {
    complete = false,
    encoded = "",
    otp = "",
  }: { readonly complete?: boolean; readonly encoded?: string; readonly otp?: string } = {},
): Readonly<Record<string, unknown>> {
  return {
    nonce,
    started,
    progress,
    required,
    complete,
    encoded_token: encoded,
    encoded_root_token: encoded,
    pgp_fingerprint: "",
    otp,
    otp_length: ROOT_TOKEN_LENGTH,
  };
}
