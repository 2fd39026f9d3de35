/** What tests have changed about a simulated control plane, beside its credentials and limits. */
import { createHash } from "node:crypto";
import type { AuditEvent } from "../network/audit.ts";
import type { AddedFlow } from "./logs.ts";
import type { Operation } from "./operations.ts";
import type { Feature, StreamType } from "./types.ts";

/** The changes in force. */
export interface Overlay {
  readonly changes: Map<Operation, (body: unknown) => unknown>;
  readonly events: AuditEvent[];
  readonly flows: AddedFlow[];
  absent: ReadonlySet<Feature>;
  streams: ReadonlySet<StreamType>;
  /** Of streams that were set up by a request. */
  readonly streamTargets: Map<
    StreamType,
    { readonly destinationType: string; readonly url: string }
  >;
  policy: string | undefined;
}

/** Number of added records kept; the oldest are dropped first. */
const MAX_ADDED = 10_000;

/** Nothing changed yet. */
export function createOverlay(absent: readonly Feature[], streams: readonly StreamType[]): Overlay {
  return {
    changes: new Map(),
    events: [],
    flows: [],
    absent: new Set(absent),
    streams: new Set(streams),
    streamTargets: new Map(),
    policy: undefined,
  };
}

/** Adds one and drops the oldest above the bound. */
export function addBounded<T>(list: T[], item: T): void {
  if (list.push(item) > MAX_ADDED) list.shift();
}

/** The validator of a text, as a header carries it. */
export function etagOf(text: string): string {
  return `"${createHash("sha256").update(text).digest("hex")}"`;
}
