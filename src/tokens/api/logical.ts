/** LogicalService: any operation on any path. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  LogicalService,
  Operation,
  type AuthSchema,
  type LeaseSchema,
  type LogicalResponseSchema,
  type WrapInfoSchema,
} from "../../gen/steward/tokens/v1/logical_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import { writeExact } from "../logical/json.ts";
import { carriesLiveToken } from "../vault/core/admission.ts";
import { assertRootNamespace } from "../vault/core/request-head.ts";
import type { Core, CoreAnswer, CoreRequest, WrapInfo } from "../vault/core/types.ts";
import type { IssuedAuth } from "../vault/types.ts";
import { callLogical } from "./logical-call.ts";

const VERBS: Readonly<Record<Operation, CoreRequest["verb"] | undefined>> = {
  [Operation.UNSPECIFIED]: undefined,
  [Operation.READ]: "read",
  [Operation.CREATE]: "write",
  [Operation.UPDATE]: "write",
  [Operation.DELETE]: "delete",
  [Operation.LIST]: "list",
  [Operation.PATCH]: "patch",
  [Operation.HELP]: "help",
};

export function logicalHandlers(core: Core): BoundService {
  const service = bindService(LogicalService, {
    async handle(request, call) {
      const verb = VERBS[request.operation];
      if (verb === undefined)
        throw new StewardError(
          "invalid",
          "operation must be one of read, create, update, delete, list, patch and help",
          { field: "operation" },
        );
      assertRootNamespace(request.namespace);
      return logicalAnswer(
        await callLogical(core, call, {
          verb,
          path: request.path,
          data: request.data,
          wrapTtl: request.wrapTtl,
        }),
      );
    },
  });
  return { ...service, hasCredential: (headers) => carriesLiveToken(core, headers) };
}

function logicalAnswer({
  response,
  lease,
  warnings,
  wrap,
  auth,
}: CoreAnswer): MessageInitShape<typeof LogicalResponseSchema> {
  response?.raw?.sent?.();
  const data =
    response?.raw === undefined
      ? response?.data
      : {
          http_status_code: response.raw.status,
          http_content_type: response.raw.contentType,
          http_raw_body: textOf(response.raw.body),
        };
  return {
    ...(data === undefined ? {} : { data: new TextEncoder().encode(writeExact(data)) }),
    ...(lease === undefined ? {} : { lease: leaseMessage(lease) }),
    warnings: [...warnings],
    ...(wrap === undefined ? {} : { wrapInfo: wrapMessage(wrap) }),
    ...(auth === undefined ? {} : { auth: authMessage(auth) }),
  };
}

function textOf(body: string | Uint8Array): string {
  return typeof body === "string" ? body : Buffer.from(body).toString("utf8");
}

export function leaseMessage(
  lease: NonNullable<CoreAnswer["lease"]>,
): MessageInitShape<typeof LeaseSchema> {
  return {
    leaseId: lease.id,
    leaseDuration: BigInt(lease.durationSeconds),
    renewable: lease.renewable,
  };
}

function wrapMessage(wrap: WrapInfo): MessageInitShape<typeof WrapInfoSchema> {
  return {
    token: wrap.token,
    accessor: wrap.accessor,
    ttl: BigInt(wrap.ttl),
    creationTime: wrap.creation_time,
    creationPath: wrap.creation_path,
    wrappedAccessor: wrap.wrapped_accessor ?? "",
  };
}

function authMessage({ id, entry, ttlMs }: IssuedAuth): MessageInitShape<typeof AuthSchema> {
  return {
    clientToken: id?.use((value) => value) ?? "",
    accessor: entry.accessor,
    policies: [...entry.policies],
    metadata: { ...entry.meta },
    leaseDuration: BigInt(Math.round(ttlMs / 1000)),
    renewable: entry.renewable,
    entityId: entry.entityId,
    tokenType: entry.type,
    orphan: entry.parent === undefined,
    numUses: BigInt(Math.max(0, entry.numUses)),
  };
}
