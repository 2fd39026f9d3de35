/** Between what callers give and see, and the rows that are stored. */
import { create } from "@bufbuild/protobuf";
import {
  IntentRowSchema,
  LeaseRowSchema,
  OrphanRowSchema,
} from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import type {
  IntentRow,
  LeaseRow,
  OrphanRow,
} from "../../../gen/steward/state/v1/tokens_leases_pb.ts";
import { base62Digits } from "../../../kernel/base/ids.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import { isRawNumber, parseExact } from "../../logical/json.ts";
import type { Data } from "../../logical/types.ts";
import type { ExpiryClock } from "../expiry/expiry-clock.ts";
import type { LeaseInfo, LeaseSpec, Orphan } from "../types.ts";
import { aboutJson } from "./about.ts";
import { tokenId } from "./tables.ts";

/** Characters of a lease id behind its path. */
export const LEASE_ID_LENGTH = 24;
/** Leading characters that encode the time: milliseconds up to the year 2081. */
const TIME_LENGTH = 7;

/**
 * Largest JSON text of nested response data that a lease row stores. Revoking needs only the token
 * and flat fields; a response may list thousands of repositories.
 */
const MAX_DATA_LENGTH = 2 * 1024;

/**
 * Last part of a lease id: `LEASE_ID_LENGTH` characters of 0-9A-Za-z, first the millisecond, then
 * 17 random ones. Ids created together are adjacent, so that they share pages of the store.
 */
export function leaseName(ids: Ids, nowMs: number): string {
  return `${base62Digits(Math.max(0, Math.floor(nowMs)), TIME_LENGTH)}${ids.base62(LEASE_ID_LENGTH - TIME_LENGTH)}`;
}

/** The row of a lease to be. */
export function leaseRow(
  spec: LeaseSpec,
  id: string,
  times: { readonly nowMs: number; readonly expiresAtMs: number },
): LeaseRow {
  return create(LeaseRowSchema, {
    id,
    mountPoint: spec.mountPoint,
    tokenId: spec.token === undefined ? "" : tokenId(spec.token.key),
    issuedAtMs: times.nowMs,
    expiresAtMs: times.expiresAtMs,
    renewable: spec.response.secret?.renewable ?? false,
    dataJson: keptJson(spec.response.data ?? {}),
    internalDataJson: JSON.stringify(spec.response.secret?.internalData ?? {}),
    share: spec.response.secret?.share?.id ?? "",
  });
}

/** What a lease looks like from outside; `irrevocable` is what its row does not say. */
export function leaseInfo(row: LeaseRow, clock: ExpiryClock, irrevocable: boolean): LeaseInfo {
  return {
    id: row.id,
    path: pathOf(row.id),
    issuedAtMs: clock.toWall(row.issuedAtMs, row.issuedAtMs),
    expiresAtMs: clock.toWall(row.expiresAtMs, row.issuedAtMs),
    renewable: row.renewable,
    irrevocable: irrevocable ? row.failure : undefined,
    attempts: row.attempts,
    shared: row.share !== "",
  };
}

/** See `LedgerEntry`. */
export function hashedToken({ dataJson }: LeaseRow): string | undefined {
  const { hashed_token: hashed } = parseExact(dataJson) as Data;
  return typeof hashed === "string" ? hashed : undefined;
}

/** The request with which the backend revokes the lease. */
export function leaseToRevoke(row: LeaseRow): {
  readonly id: string;
  readonly path: string;
  readonly mountPoint: string;
  readonly data: Data;
  readonly internalData: Data;
} {
  return {
    id: row.id,
    path: pathOf(row.id),
    mountPoint: row.mountPoint,
    data: parseExact(row.dataJson) as Data,
    internalData: parseExact(row.internalDataJson) as Data,
  };
}

/** The row of a request that begins. */
export function intentRow(
  request: { readonly path: string; readonly mountPoint: string; readonly about: Data },
  beganAtMs: number,
): IntentRow {
  return create(IntentRowSchema, {
    path: request.path,
    mountPoint: request.mountPoint,
    beganAtMs,
    aboutJson: aboutJson(request.about),
  });
}

/** The orphan row of an intent with unknown outcome. */
export function orphanRow(
  intent: IntentRow,
  rest: { readonly reason: string; readonly untilMs: number; readonly about?: Data },
): OrphanRow {
  const reported = JSON.parse(aboutJson(rest.about ?? {})) as Data;
  const about = { ...(JSON.parse(intent.aboutJson) as Data), ...reported };
  return create(OrphanRowSchema, {
    path: intent.path,
    beganAtMs: intent.beganAtMs,
    untilMs: rest.untilMs,
    aboutJson: JSON.stringify(about),
    reason: rest.reason,
  });
}

/** What an orphan looks like from outside. */
export function orphanInfo(requestId: string, row: OrphanRow, clock: ExpiryClock): Orphan {
  return {
    requestId,
    path: row.path,
    beganAtMs: clock.toWall(row.beganAtMs, row.beganAtMs),
    untilMs: clock.toWall(row.untilMs, row.beganAtMs),
    about: JSON.parse(row.aboutJson) as Data,
    reason: row.reason,
  };
}

function pathOf(id: string): string {
  return id.slice(0, -LEASE_ID_LENGTH - 1);
}

function keptJson(data: Data): string {
  const whole = JSON.stringify(data);
  if (whole.length <= MAX_DATA_LENGTH) return whole;
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(data).filter(([, value]) => typeof value !== "object" || isRawNumber(value)),
    ),
  );
}
