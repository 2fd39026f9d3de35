/** Control plane calls and their credential in the status. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ApiAuthSchema,
  ApiEndpointSchema,
  ApiRateLimitSchema,
  ApiUsageSchema,
  type ApiAuth,
  type ApiEndpoint,
  type ApiUsage,
} from "../../../gen/steward/monitor/v1/collection_pb.ts";
import type { CredentialExpiry } from "../../collectors/collector-report.ts";
import type { EndpointCalls } from "../../network/call-ledger.ts";
import type { NetworkStatus } from "../../status.ts";
import { humanDuration } from "../human.ts";

/** Merges several networks; method and expiry of the credential are the first one's. */
export function apiUsage(
  networks: readonly Pick<NetworkStatus, "authMethod" | "calls" | "report">[],
  nowMs: number,
): ApiUsage {
  const calls = networks
    .flatMap((network) => network.calls)
    .toSorted((left, right) =>
      left.endpoint < right.endpoint ? -1 : left.endpoint > right.endpoint ? 1 : 0,
    );
  const limited = sum(calls, ({ rateLimited }) => rateLimited);
  const lastSeenMs = Math.max(...calls.map(({ last429AtMs = 0 }) => last429AtMs));
  return create(ApiUsageSchema, {
    auth: authOf(networks[0], { limited, total: sum(calls, ({ requests }) => requests), nowMs }),
    endpoints: calls.map(endpointOf),
    ...(limited === 0
      ? {}
      : {
          rateLimit: create(ApiRateLimitSchema, {
            count: BigInt(limited),
            lastSeen: timestampFromMs(lastSeenMs),
          }),
        }),
  });
}

function authOf(
  first: Pick<NetworkStatus, "authMethod" | "report"> | undefined,
  {
    limited,
    total,
    nowMs,
  }: { readonly limited: number; readonly total: number; readonly nowMs: number },
): ApiAuth {
  const expiry = first?.report.credential;
  return create(ApiAuthSchema, {
    method: first?.authMethod ?? "",
    total429: BigInt(limited),
    totalCalls: BigInt(total),
    ...(expiry === undefined
      ? {}
      : { keyExpiresAt: timestampFromMs(expiry.expiresMs), warning: expiryWarning(expiry, nowMs) }),
  });
}

/** Empty while the expiry is far off. */
function expiryWarning({ expiresMs, warnMs }: CredentialExpiry, nowMs: number): string {
  const leftMs = expiresMs - nowMs;
  if (leftMs <= 0) return "the credential has expired";
  return leftMs <= warnMs ? `the credential expires in ${humanDuration(leftMs)}` : "";
}

function endpointOf(calls: EndpointCalls): ApiEndpoint {
  const {
    endpoint,
    requests,
    errors,
    retries,
    rateLimited,
    lastStatus,
    lastAtMs,
    last429AtMs,
    lastError = "",
    recentMs,
  } = calls;
  return create(ApiEndpointSchema, {
    endpoint,
    requests: BigInt(requests),
    errors: BigInt(errors),
    retries: BigInt(retries),
    rateLimited: BigInt(rateLimited),
    lastStatus,
    lastError,
    lastAt: timestampFromMs(lastAtMs),
    // At least 1 ms, since every call takes some time.
    durationMsSeries: recentMs.map((ms) => Math.max(1, Math.round(ms))),
    ...(last429AtMs === undefined ? {} : { last429At: timestampFromMs(last429AtMs) }),
  });
}

function sum<T>(items: readonly T[], pick: (item: T) => number): number {
  return items.reduce((total, item) => total + pick(item), 0);
}
