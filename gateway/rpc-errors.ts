/**
 * Errors for rpc clients: status, message with remedy, and the findings as
 * `buf.validate.Violations`.
 */
import type { DescField, DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import {
  ViolationsSchema,
  type FieldPathElementSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code as RpcCode, ConnectError } from "@connectrpc/connect";
import type { Detail, StewardError } from "../src/kernel/base/errors.ts";
import { jsonName, type DialectName } from "../src/kernel/wire/style.ts";
import { OPERATOR_CHALLENGES } from "./access/challenges.ts";
import { errorText, retryAfterSeconds, rpcCode } from "./codes.ts";

type PathElement = MessageInitShape<typeof FieldPathElementSchema>;

/** The error must have passed `seenError`. `input` is the message whose fields its details name. */
export function rpcError(
  error: StewardError,
  dialect: DialectName,
  input: DescMessage,
): ConnectError {
  const code = rpcCode(error, dialect);
  const { details } = error;
  const seconds = retryAfterSeconds(error);
  const metadata = {
    ...(code === RpcCode.Unauthenticated
      ? { "www-authenticate": OPERATOR_CHALLENGES.join(", ") }
      : {}),
    ...(seconds === undefined ? {} : { "retry-after": String(seconds) }),
  };
  return new ConnectError(
    errorText(error),
    code,
    metadata,
    details === undefined
      ? []
      : [
          {
            desc: ViolationsSchema,
            value: { violations: details.map((detail) => violation(detail, input)) },
          },
        ],
    error,
  );
}

function violation(
  detail: Detail,
  input: DescMessage,
): NonNullable<MessageInitShape<typeof ViolationsSchema>["violations"]>[number] {
  return {
    field: { elements: elements(detail.path, input) },
    ruleId: detail.rule ?? detail.code,
    message: detail.message,
  };
}

// A list index belongs to the field before it.
function elements(path: Detail["path"], input: DescMessage): PathElement[] {
  const found: PathElement[] = [];
  let within: DescMessage | undefined = input;
  for (const part of path) {
    const last = found.at(-1);
    if (typeof part === "number" && last !== undefined) {
      last.subscript = { case: "index", value: BigInt(part) };
      continue;
    }
    const field: DescField | undefined = within?.fields.find(
      (each) => each.name === part || jsonName(each) === part,
    );
    found.push(
      field === undefined
        ? { fieldName: String(part) }
        : { fieldName: field.name, fieldNumber: field.number, fieldType: field.proto.type },
    );
    within = field?.message;
  }
  return found;
}
