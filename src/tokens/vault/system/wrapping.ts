/** Wrapped answers: fetch, look up, wrap, wrap anew. Whoever holds the wrapping token may. */
import {
  EmptyFieldsSchema,
  WrappingFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import { definePath } from "../../logical/define-path.ts";
import { isLongerThan } from "../../logical/json.ts";
import type { Data, LogicalResponse, Path, PathProof, PathRequest } from "../../logical/types.ts";
import type { HostRequest } from "../auth/context.ts";
import type { SystemDeps } from "./deps.ts";

const MAX_DATA_BYTES = 512 * 1024;

export function wrappingPaths(deps: SystemDeps): readonly Path[] {
  const proof: PathProof = {
    subject: (request) => sentToken(request)?.use((id) => id),
    verify: async (request) => deps.wrapping.lookup(wrappingToken(request)),
  };
  const lookup = async (request: PathRequest): Promise<LogicalResponse> => {
    const { createdAtMs, creationPath, ttlMs } = deps.wrapping.lookup(wrappingToken(request));
    const creationTime = new Date(createdAtMs).toISOString();
    return {
      data: {
        creation_path: creationPath,
        creation_time: creationTime,
        creation_ttl: Math.round(ttlMs / 1000),
      },
    };
  };
  return [
    definePath({
      pattern: "wrapping/unwrap",
      fields: WrappingFieldsSchema,
      unauthenticated: true,
      provesCredential: true,
      proof,
      operations: {
        write: async (request) => {
          const { envelope } = await deps.wrapping.unwrap(wrappingToken(request));
          return { raw: { status: 200, contentType: "application/json", body: envelope } };
        },
      },
      synopsis: "Unwrap a wrapped response, once.",
      description: "The wrapping token is the request's own or `token`.",
    }),
    definePath({
      pattern: "wrapping/lookup",
      fields: WrappingFieldsSchema,
      unauthenticated: true,
      proof,
      // Agents read it to see where a wrapped secret id was made, before they unwrap it.
      operations: { read: lookup, write: lookup },
      synopsis: "Look up a wrapping token.",
      description: "Does not unwrap the response.",
    }),
    definePath({
      pattern: "wrapping/rewrap",
      fields: WrappingFieldsSchema,
      unauthenticated: true,
      provesCredential: true,
      proof,
      operations: {
        write: async (request) => {
          const info = await deps.wrapping.rewrap(wrappingToken(request));
          const body = {
            request_id: "",
            lease_id: "",
            renewable: false,
            lease_duration: 0,
            data: null,
            wrap_info: info,
            warnings: null,
            auth: null,
          };
          return {
            raw: {
              status: 200,
              contentType: "application/json",
              body: `${JSON.stringify(body)}\n`,
            },
          };
        },
      },
      synopsis: "Rewrap a wrapped response.",
      description: "Returns a new wrapping token with the same TTL; the old one becomes invalid.",
    }),
    definePath({
      pattern: "wrapping/wrap",
      fields: EmptyFieldsSchema,
      unknown: "keep",
      operations: { write: async (request) => ({ data: small(request.data) }) },
      synopsis: "Wrap any data.",
      description: "Returns the given data; the X-Vault-Wrap-TTL header has it wrapped.",
    }),
  ];
}

/** What a wrapped answer may hold is all that may be given to be wrapped. */
function small(data: Data): Data {
  if (isLongerThan(data, MAX_DATA_BYTES))
    throw new StewardError("too_large", `data to be wrapped have at most ${MAX_DATA_BYTES} bytes`, {
      rule: "data_bytes",
    });
  return data;
}

function wrappingToken(request: PathRequest): Secret {
  const token = sentToken(request);
  if (token === undefined)
    throw new StewardError("invalid", 'missing "token" value in input', { field: "token" });
  return token;
}

/** `token`, else the request's own, even if it has ended: the response then reports that. */
function sentToken(request: PathRequest): Secret | undefined {
  const given = request.fields.text("token") ?? "";
  return given === "" ? (request as HostRequest).sentToken : Secret.of(given, "token");
}
