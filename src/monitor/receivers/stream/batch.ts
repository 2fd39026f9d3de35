/**
 * The records of one body: classified, decoded and validated whole before any of them counts. Small
 * bodies keep what was decoded; large ones are parsed again when they are applied.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { readAuditEvent } from "../../audit/record.ts";
import {
  createFlowDecoder,
  type FlowDecoder,
  type FlowRecord,
  type RefusalReason,
} from "../../flows/record.ts";
import { createInstantReader } from "../../ingest/instants.ts";
import type { Ingest } from "../target.ts";
import type { Envelope, JsonObject } from "./envelope.ts";
import { MAX_CONNECTIONS, trafficMembers } from "./limits.ts";
import { rejection } from "./rejection.ts";
import { walkRecords } from "./walk.ts";

export type RecordKind = "flow" | "audit";

/** What a valid body contains. */
export interface Batch {
  readonly flows: number;
  readonly audits: number;
  /** Of all flow records. */
  readonly connections: number;
  /** By the attribute `reason` of `vpn.stream.skipped`. */
  readonly skipped: Readonly<Record<"unclassified" | "unwrap_drop", number>>;
  /** Counts all of it; rejects with the signal's reason between two records. */
  apply(ingest: Ingest, signal: AbortSignal): Promise<void>;
}

/** Called for a body with records that do not decode or are not valid, before it is refused. */
export interface Faults {
  undecodable(kind: RecordKind, records: number): void;
  invalid(reasons: ReadonlyMap<RefusalReason, number>): void;
}

/** The decoded records of a body up to this size are kept: they take a few times as much. */
export const KEPT_BYTES = 1024 * 1024;
/** Records handed to an intake at once. */
const CHUNK_RECORDS = 512;

export interface BatchReader {
  /**
   * Throws a `Refusal`, or the signal's reason. The present is not before `acceptedMs`, when the
   * body came: the clock may have been set back since.
   */
  read(body: Buffer, faults: Faults, signal: AbortSignal, acceptedMs?: number): Promise<Batch>;
}

/** With caches of its own, which requests share. */
export function createBatchReader(clock: Pick<Clock, "now">): BatchReader {
  const decoder = createFlowDecoder();
  const instants = createInstantReader();
  return {
    async read(body, faults, signal, acceptedMs = 0) {
      const nowMs = Math.max(clock.now(), acceptedMs);
      const kept = body.length <= KEPT_BYTES ? newChunk() : undefined;
      const skipped = { unclassified: 0, unwrap_drop: 0 };
      const counts: Record<RecordKind, number> = { flow: 0, audit: 0 };
      const broken: Record<RecordKind, number> = { flow: 0, audit: 0 };
      const reasons = new Map<RefusalReason, number>();
      let connections = 0;
      const decode = (value: JsonObject): ReturnType<FlowDecoder["decode"]> =>
        decoder.decode(value, nowMs);
      const flow = (value: JsonObject): void => {
        connections += connectionsOf(value);
        if (connections > MAX_CONNECTIONS)
          throw rejection("too_many_connections", `more than ${MAX_CONNECTIONS} connections`);
        const decoded = decode(value);
        if (!("refused" in decoded)) return void kept?.flow.push(decoded);
        if (decoded.refused.includes("malformed")) broken.flow += 1;
        else
          for (const reason of decoded.refused) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      };
      const audit = (value: JsonObject): void => {
        if (readAuditEvent(value, instants) === undefined) broken.audit += 1;
        else kept?.audit.push(value);
      };
      await walkRecords(
        body,
        {
          record(value, envelope) {
            const kind = classify(value);
            if (kind === undefined) return void (skipped.unclassified += 1);
            counts[kind] += 1;
            if (kind === "flow") flow(value);
            else audit(withTimes(value, envelope));
          },
          dropped: () => void (skipped.unwrap_drop += 1),
        },
        signal,
      );
      for (const kind of ["flow", "audit"] as const)
        if (broken[kind] > 0) faults.undecodable(kind, broken[kind]);
      if (broken.flow + broken.audit > 0)
        throw rejection(
          "decode_error",
          `${broken.flow} flow and ${broken.audit} audit records do not decode`,
        );
      if (reasons.size > 0) {
        faults.invalid(reasons);
        throw rejection(
          "semantic_invalid",
          `invalid flow records: ${[...reasons.keys()].join(", ")}`,
        );
      }
      return {
        flows: counts.flow,
        audits: counts.audit,
        connections,
        skipped,
        apply: (ingest, until) =>
          kept === undefined
            ? applyAgain({ body, ingest, signal: until, decode })
            : applyChunk(kept, ingest, until),
      };
    },
  };
}

interface Chunk {
  readonly flow: FlowRecord[];
  readonly audit: JsonObject[];
}

function newChunk(): Chunk {
  return { flow: [], audit: [] };
}

async function applyChunk(
  { flow, audit }: Chunk,
  ingest: Ingest,
  signal: AbortSignal,
): Promise<void> {
  if (flow.length > 0) await ingest.flows.acceptDecoded(flow, "stream", signal);
  if (audit.length > 0) await ingest.audit.accept({ records: audit, source: "stream" }, signal);
}

interface Again {
  readonly body: Buffer;
  readonly ingest: Ingest;
  readonly signal: AbortSignal;
  readonly decode: (value: JsonObject) => ReturnType<FlowDecoder["decode"]>;
}

/** Parses and decodes the body, which was valid, a second time. */
async function applyAgain({ body, ingest, signal, decode }: Again): Promise<void> {
  let chunk = newChunk();
  const apply = async (): Promise<void> => {
    const full = chunk;
    chunk = newChunk();
    await applyChunk(full, ingest, signal);
  };
  await walkRecords(
    body,
    {
      record(value, envelope) {
        const kind = classify(value);
        if (kind === "flow") {
          const decoded = decode(value);
          if (!("refused" in decoded)) chunk.flow.push(decoded);
        } else if (kind === "audit") chunk.audit.push(withTimes(value, envelope));
      },
      dropped: () => undefined,
      settled: () =>
        chunk.flow.length + chunk.audit.length >= CHUNK_RECORDS ? apply() : undefined,
    },
    signal,
  );
  await apply();
}

/** Undefined for an object that is neither. */
function classify(value: JsonObject): RecordKind | undefined {
  const { nodeId, actor, action } = value;
  if (
    typeof nodeId === "string" &&
    nodeId !== "" &&
    trafficMembers.some((member) => Object.hasOwn(value, member))
  )
    return "flow";
  if (actor !== undefined && actor !== null && typeof action === "string" && action !== "")
    return "audit";
  return undefined;
}

function connectionsOf(value: JsonObject): number {
  return trafficMembers.reduce((sum, member) => {
    const list = value[member];
    return sum + (Array.isArray(list) ? list.length : 0);
  }, 0);
}

/** A streamed audit record has no time of its own: its envelope has. */
function withTimes(value: JsonObject, { time, recorded }: Envelope): JsonObject {
  return {
    ...value,
    eventTime: isAbsent(value["eventTime"]) ? time : value["eventTime"],
    logged: isAbsent(value["logged"]) ? recorded : value["logged"],
  };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
