/**
 * The engine's responses and errors as the host takes them. The host refuses a whole call when one
 * of the rules below is broken (docs/plugin.md, "Protocol").
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { toStewardError, type Code, type StewardError } from "../../kernel/base/errors.ts";
import type {
  HandleRequestReplySchema,
  ProtoErrorSchema,
  ResponseSchema,
} from "../../gen/vault/backend_pb.ts";
import { writeExact } from "../logical/json.ts";
import type { LogicalResponse, SecretGrant } from "../logical/types.ts";
import { HOST_ERROR } from "./storage.ts";

type Reply = MessageInitShape<typeof HandleRequestReplySchema>;
type Response = MessageInitShape<typeof ResponseSchema>;
type ProtoError = MessageInitShape<typeof ProtoErrorSchema>;

/** Kinds of errors that the host knows. */
const PLAIN = 0;
const CODED = 3;
const UNSUPPORTED_OPERATION = 5;
const UNSUPPORTED_PATH = 6;

/** Go's zero time. The host refuses a lease without a time, and sets its own. */
const ZERO_TIME = { seconds: -62_135_596_800n, nanos: 0 };

/** Absent data. An empty text is not JSON, and fails the call. */
const NO_DATA = "null";

/** No response at all is "no data" (404) for a read or list, and success (204) otherwise. */
export function toReply(response: LogicalResponse | undefined): Reply {
  return response === undefined ? {} : { response: toResponse(response) };
}

function toResponse({ data, secret, warnings = [], raw }: LogicalResponse): Response {
  const answered =
    raw === undefined
      ? data
      : {
          http_content_type: raw.contentType,
          http_status_code: raw.status,
          // Always base64: a text that happens to be base64 would be decoded.
          http_raw_body: Buffer.from(raw.body as string).toString("base64"),
        };
  return {
    data: answered === undefined ? NO_DATA : writeExact(answered),
    warnings: [...warnings],
    ...(secret === undefined ? {} : { secret: toSecret(secret) }),
  };
}

function toSecret({ ttlMs, renewable, internalData }: SecretGrant) {
  return {
    leaseOptions: {
      TTL: BigInt(Math.round(ttlMs * 1_000_000)),
      renewable,
      issueTime: ZERO_TIME,
    },
    internalData: writeExact(internalData),
  };
}

/** `invalid` is a logical error: a response, which the host answers with 400. */
export function failureReply(thrown: unknown): Reply {
  const error = toStewardError(thrown);
  return error.code === "invalid"
    ? { response: { data: writeExact({ error: error.message }) } }
    : { err: protoError(error) };
}

/** HTTP statuses of the Vault API (`gateway/codes.ts`); 500 for others. */
const STATUSES: Partial<Record<Code, number>> = {
  invalid: 400,
  denied: 403,
  not_found: 404,
  conflict: 400,
  too_large: 413,
  exhausted: 429,
  upstream: 502,
  deadline: 504,
  not_ready: 503,
  sealed: 503,
  cancelled: 503,
};

/** An error of the host's storage goes back as it came: a standby forwards the request by its text. */
export function protoError(error: StewardError): ProtoError {
  if (error.rule === HOST_ERROR) return { errType: PLAIN, errMsg: error.message };
  if (error.rule === "unsupported_path")
    return { errType: UNSUPPORTED_PATH, errMsg: error.message };
  if (error.code === "unsupported")
    return { errType: UNSUPPORTED_OPERATION, errMsg: error.message };
  return { errType: CODED, errMsg: error.message, errCode: BigInt(STATUSES[error.code] ?? 500) };
}
