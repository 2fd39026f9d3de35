/** When two mint requests are equal, so that one token may answer both. */
import { createHash } from "node:crypto";
import type { Scope } from "../types.ts";

/** What decides about equality, besides the mount and its configuration: each has its own cache. */
export interface MintRequest {
  /** Digits of the id. The organization's name is not compared: it resolves to the id. */
  readonly installationId: string;
  /** With the permissions that apply, i.e. those of the ceiling if none were requested. */
  readonly scope: Pick<Scope, "repositories" | "repositoryIds" | "permissions">;
  /** Undefined for `token`. Leases below one path can so be revoked without those of another. */
  readonly permissionSet: string | undefined;
  /** `Requester.principal`. */
  readonly principal: string;
  /** Changes with the mount's tuning. */
  readonly maxLeaseTtlMs: number;
}

/**
 * The same text for equal requests only. Order and repetition in lists do not count, nor does the
 * case of repository names, as on the platform.
 */
export function requestKey(request: MintRequest): string {
  const { repositories, repositoryIds, permissions } = request.scope;
  const parts = [
    request.installationId,
    unique(repositories.map((name) => name.toLowerCase())).toSorted(),
    unique(repositoryIds).toSorted((a, b) => a - b),
    Object.entries(permissions).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    request.permissionSet ?? null,
    request.principal,
    request.maxLeaseTtlMs,
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}

function unique<T>(list: readonly T[]): T[] {
  return [...new Set(list)];
}
