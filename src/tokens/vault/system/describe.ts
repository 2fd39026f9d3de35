/**
 * What tools ask about the API itself: its description, its catalogue, what a token may see; and
 * sealing.
 */
import { EmptyFieldsSchema } from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import { openApiDocument } from "../../logical/openapi.ts";
import type { Path } from "../../logical/types.ts";
import type { SystemDeps } from "./deps.ts";

export function describePaths(deps: SystemDeps): readonly Path[] {
  return [
    definePath({
      pattern: "internal/specs/openapi",
      fields: EmptyFieldsSchema,
      unknown: "warn",
      unauthenticated: true,
      operations: {
        read: async () => {
          const document = openApiDocument(
            deps
              .mounts()
              .all()
              .map((mount) => ({
                point: mount.point,
                backend: mount.backend,
                tag: mount.class === "secret" ? ("secrets" as const) : mount.class,
              })),
            {
              title: "Steward's Vault-compatible API",
              version: deps.version,
              description: "Every mount that this process serves, below /v1.",
            },
          );
          return {
            raw: {
              status: 200,
              contentType: "application/json",
              body: `${JSON.stringify(document)}\n`,
            },
          };
        },
      },
      synopsis: "The API as OpenAPI 3.",
      description: "Made from the declared paths of every mount.",
    }),
    definePath({
      pattern: "seal",
      fields: EmptyFieldsSchema,
      unknown: "warn",
      sudo: true,
      operations: {
        write: async () => {
          await deps.seal.seal();
          return undefined;
        },
      },
      synopsis: "Seal the store.",
      description:
        "Its keys are forgotten: every request is answered with 503 until sys/unseal gets the key or enough key shares, or, with a key file, until the next start. Needs sudo.",
    }),
    definePath({
      pattern: "plugins/catalog",
      also: ["plugins/catalog/"],
      fields: EmptyFieldsSchema,
      unknown: "warn",
      sudo: true,
      operations: {
        read: async () => ({
          data: {
            auth: ["approle", "jwt", "token"],
            secret: ["github"],
            detailed: catalogue(deps.version),
          },
        }),
      },
      synopsis: "The backends that can be mounted.",
      description: "They are built in; there are no plugins.",
    }),
  ];
}

function catalogue(version: string): readonly Readonly<Record<string, unknown>>[] {
  return [
    ["approle", "auth"],
    ["jwt", "auth"],
    ["token", "auth"],
    ["github", "secret"],
  ].map(([name, type]) => ({
    name,
    type,
    builtin: true,
    version,
    sha256: "",
    deprecation_status: "supported",
  }));
}
