/** `config`: whose identity tokens are accepted. */
import { createPublicKey } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  JwtConfigRowSchema,
  type JwtConfigRow,
} from "../../../../gen/steward/state/v1/tokens_auth_pb.ts";
import { JwtConfigFieldsSchema } from "../../../../gen/steward/tokens/v1/auth_fields_pb.ts";
import { StewardError } from "../../../../kernel/base/errors.ts";
import { definePath } from "../../../logical/define-path.ts";
import { logicalError } from "../../../logical/occurred.ts";
import type { Data, Fields, LogicalResponse, Path } from "../../../logical/types.ts";
import { roleName, type JwtContext } from "./context.ts";
import { isFetchable } from "./keys.ts";
import { ALGORITHMS } from "./verify.ts";

const MAX_PUBLIC_KEYS = 16;

export function configPath(context: JwtContext): Path {
  const { storage, keys, lock } = context;
  return definePath({
    pattern: "config",
    fields: JwtConfigFieldsSchema,
    coerce: { jwt_validation_pubkeys: "comma_list", jwt_supported_algs: "comma_list" },
    unknown: "warn",
    synopsis: "Read and write whose identity tokens are accepted.",
    description: "A write replaces all of it, and asks the issuer for its keys.",
    exists: async () => (await storage.config()) !== undefined,
    operations: {
      read: async () => {
        const row = await storage.config();
        return row === undefined ? undefined : { data: shown(row) };
      },
      write: ({ fields }) =>
        lock("/config", async () => {
          const row = configOf(fields);
          check(row, fields);
          await probe(context, row);
          await storage.saveConfig(row);
          keys.forget();
          return warnings(row);
        }),
    },
  });
}

function configOf(fields: Fields): JwtConfigRow {
  return create(JwtConfigRowSchema, {
    oidcDiscoveryUrl: fields.text("oidc_discovery_url") ?? "",
    jwksUrl: fields.text("jwks_url") ?? "",
    jwtValidationPubkeys: [...(fields.texts("jwt_validation_pubkeys") ?? [])],
    caPem: fields.text("oidc_discovery_ca_pem") || fields.text("jwks_ca_pem") || "",
    boundIssuer: fields.text("bound_issuer") ?? "",
    jwtSupportedAlgs: [...(fields.texts("jwt_supported_algs") ?? [])],
    defaultRole: roleName(fields.text("default_role") ?? ""),
  });
}

function check(row: JwtConfigRow, fields: Fields): void {
  if (fields.text("oidc_client_id") || fields.text("oidc_client_secret"))
    throw logicalError("logins with a browser are not supported", {
      field: "oidc_client_id",
      rule: "unsupported",
      remedy: "leave it out: identity tokens log in at login",
    });
  const given = [row.oidcDiscoveryUrl, row.jwksUrl, row.jwtValidationPubkeys.join("")];
  if (given.filter((each) => each !== "").length !== 1)
    throw logicalError(
      "exactly one of 'jwt_validation_pubkeys', 'jwks_url' or 'oidc_discovery_url' must be set",
      { field: "oidc_discovery_url", rule: "one of" },
    );
  for (const [field, url] of [
    ["oidc_discovery_url", row.oidcDiscoveryUrl],
    ["jwks_url", row.jwksUrl],
  ] as const)
    if (url !== "" && !isFetchable(url))
      throw logicalError(`${field} must be an https address without credentials`, {
        field,
        rule: "address",
        remedy: "write e.g. https://token.actions.githubusercontent.com",
      });
  const unknown = row.jwtSupportedAlgs.find((name) => !ALGORITHMS.includes(name));
  if (unknown !== undefined)
    throw logicalError(`unsupported signing algorithm: ${unknown.slice(0, 40)}`, {
      field: "jwt_supported_algs",
      rule: "algorithm",
      remedy: `use some of ${ALGORITHMS.join(", ")}`,
    });
  checkPublicKeys(row.jwtValidationPubkeys);
}

function checkPublicKeys(keys: readonly string[]): void {
  if (keys.length > MAX_PUBLIC_KEYS)
    throw logicalError(`jwt_validation_pubkeys has at most ${MAX_PUBLIC_KEYS} keys`, {
      field: "jwt_validation_pubkeys",
      rule: "count",
    });
  for (const pem of keys) {
    try {
      if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) throw new Error("a private key");
      createPublicKey(pem);
    } catch {
      throw logicalError("error parsing public key: it is no PEM of a public key", {
        field: "jwt_validation_pubkeys",
        rule: "pem",
      });
    }
  }
}

async function probe({ keys }: JwtContext, row: JwtConfigRow): Promise<void> {
  try {
    await keys.probe(row);
  } catch (error) {
    if (!(error instanceof StewardError)) throw error;
    const field = row.oidcDiscoveryUrl === "" ? "jwks_url" : "oidc_discovery_url";
    throw logicalError(`error checking ${field}: ${error.message}`, {
      field,
      rule: "keys",
      ...(error.remedy === undefined ? {} : { remedy: error.remedy }),
    });
  }
}

function warnings(row: JwtConfigRow): LogicalResponse | undefined {
  return row.oidcDiscoveryUrl !== "" || row.boundIssuer !== ""
    ? undefined
    : {
        warnings: [
          "bound_issuer is not set: tokens of any issuer that uses these keys are accepted",
        ],
      };
}

function shown(row: JwtConfigRow): Data {
  return {
    bound_issuer: row.boundIssuer,
    default_role: row.defaultRole,
    jwks_ca_pem: row.jwksUrl === "" ? "" : row.caPem,
    jwks_url: row.jwksUrl,
    jwt_supported_algs: row.jwtSupportedAlgs,
    jwt_validation_pubkeys: row.jwtValidationPubkeys,
    oidc_client_id: "",
    oidc_discovery_ca_pem: row.jwksUrl === "" ? row.caPem : "",
    oidc_discovery_url: row.oidcDiscoveryUrl,
  };
}
