/** Requests of the host as the engine takes them. */
import type { Request } from "../../gen/vault/backend_pb.ts";
import { parseExact, parseExactInTurns, requestLimits } from "../logical/json.ts";
import { logicalError, unsupportedOperation } from "../logical/occurred.ts";
import type { Data, LogicalRequest, Operation } from "../logical/types.ts";

const OPERATIONS: Readonly<Record<string, Operation>> = {
  create: "create",
  read: "read",
  update: "update",
  patch: "patch",
  delete: "delete",
  list: "list",
  help: "help",
  revoke: "revoke",
  renew: "renew",
  rollback: "rollback",
};

/** Longer texts are parsed in several turns of the event loop. */
const MAX_AT_ONCE = 64 * 1024;

/**
 * Throws the error of an unsupported operation (405), `invalid` for data that is no JSON object,
 * `too_large` beyond the bounds of a request.
 */
export async function toLogicalRequest(
  request: Request,
  signal: AbortSignal,
): Promise<LogicalRequest> {
  const { secret } = request;
  return {
    ...headOf(request, signal),
    data: await parseData(request.data, request.operation),
    ...(secret === undefined
      ? {}
      : {
          secret: {
            internalData: await parseData(secret.internalData, request.operation),
            leaseId: secret.leaseId,
          },
        }),
  };
}

/** Without its data, which an existence check does not look at. */
export function headOf(request: Request, signal: AbortSignal): Omit<LogicalRequest, "secret"> {
  const { connection } = request;
  const operation = Object.hasOwn(OPERATIONS, request.operation)
    ? OPERATIONS[request.operation]
    : undefined;
  if (operation === undefined) throw unsupportedOperation();
  return {
    id: request.id,
    operation,
    path: request.path,
    data: {},
    mountPoint: request.mountPoint,
    signal,
    requester: {
      displayName: request.displayName,
      accessor: request.clientTokenAccessor,
      entityId: request.entityId,
      policies: request.auth?.policies ?? [],
    },
    ...(connection === undefined
      ? {}
      : { remote: { address: connection.remoteAddr, port: connection.remotePort } }),
  };
}

async function parseData(text: string, operation: string): Promise<Data> {
  if (text === "" || text === "null") return {};
  // What a lease brings back was bounded when it was made.
  const stored = operation === "revoke" || operation === "renew";
  const limits = stored ? undefined : requestLimits;
  const value =
    text.length <= MAX_AT_ONCE
      ? parseExact(text, limits)
      : await parseExactInTurns(Buffer.from(text), limits);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw logicalError("the request's data is not a JSON object", { rule: "json" });
  return value as Data;
}
