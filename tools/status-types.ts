/**
 * Writes the types of what pages read from the APIs, from the messages and their REST style: names,
 * texts of enums, and which fields may be absent or null.
 */
import { FlowExportSchema, FlowReportSchema } from "../src/gen/steward/monitor/v1/flows_pb.ts";
import {
  ImportConfigResponseSchema,
  ListArchivesResponseSchema,
  ListSettingsResponseSchema,
  PreviewDedupConfigResponseSchema,
  TestConnectionResponseSchema,
  UpdateDedupConfigResponseSchema,
} from "../src/gen/steward/dedup/v1/config_pb.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { comments } from "../src/gen/comments.ts";
import {
  EstimateAiCostResponseSchema,
  GetAiConfigResponseSchema,
  GetAiCostsResponseSchema,
  GetAiResultResponseSchema,
  GetAiStatsResponseSchema,
  ListAiResultsResponseSchema,
  ListAiProvidersResponseSchema,
  PreflightAiResultsResponseSchema,
  TestAiProviderResponseSchema,
} from "../src/gen/steward/dedup/v1/ai_pb.ts";
import { GetAnalysisStatusResponseSchema } from "../src/gen/steward/dedup/v1/analysis_pb.ts";
import { DeleteNonPrimaryResponseSchema } from "../src/gen/steward/dedup/v1/batch_pb.ts";
import {
  AcceptExactCopiesResponseSchema,
  AcceptGroupsResponseSchema,
  GetDeletePlanResponseSchema,
} from "../src/gen/steward/dedup/v1/delete_plan_pb.ts";
import {
  GetDocumentResponseSchema,
  ListDocumentsResponseSchema,
} from "../src/gen/steward/dedup/v1/documents_pb.ts";
import {
  CompareMembersResponseSchema,
  GetGroupResponseSchema,
  ListGroupsResponseSchema,
  SetGroupPrimaryResponseSchema,
  SetGroupStatusResponseSchema,
} from "../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { ListJobsResponseSchema } from "../src/gen/steward/dedup/v1/jobs_pb.ts";
import { GetDashboardResponseSchema } from "../src/gen/steward/dedup/v1/statistics_pb.ts";
import { GetReadinessResponseSchema } from "../src/gen/steward/dedup/v1/system_pb.ts";
import {
  GetSyncStatusResponseSchema,
  StartSyncResponseSchema,
} from "../src/gen/steward/dedup/v1/sync_pb.ts";
import { EventListSchema } from "../src/gen/steward/monitor/v1/events_pb.ts";
import { TokensReportSchema } from "../src/gen/steward/tokens/v1/overview_pb.ts";
import { PresenceReportSchema } from "../src/gen/steward/monitor/v1/presence_pb.ts";
import { StatusSchema } from "../src/gen/steward/monitor/v1/status_pb.ts";
import {
  enumTexts,
  fieldStyleOf,
  isWellKnown,
  jsonName,
  styleOf,
} from "../src/kernel/wire/style.ts";

/** Where the types are committed. */
export const STATUS_TYPES = join(import.meta.dirname, "../src/gen/status-json.ts");
export const EVENT_TYPES = join(import.meta.dirname, "../src/gen/events-json.ts");
export const FLOW_TYPES = join(import.meta.dirname, "../src/gen/flows-json.ts");
export const PRESENCE_TYPES = join(import.meta.dirname, "../src/gen/presence-json.ts");
export const TOKENS_TYPES = join(import.meta.dirname, "../src/gen/tokens-json.ts");
export const DEDUP_TYPES = join(import.meta.dirname, "../src/gen/dedup-json.ts");

/** The answers of the document API that pages read. */
const DEDUP_ANSWERS: readonly DescMessage[] = [
  ListGroupsResponseSchema,
  GetGroupResponseSchema,
  CompareMembersResponseSchema,
  SetGroupStatusResponseSchema,
  SetGroupPrimaryResponseSchema,
  GetDeletePlanResponseSchema,
  AcceptGroupsResponseSchema,
  AcceptExactCopiesResponseSchema,
  ListDocumentsResponseSchema,
  GetDocumentResponseSchema,
  GetSyncStatusResponseSchema,
  StartSyncResponseSchema,
  DeleteNonPrimaryResponseSchema,
  GetAnalysisStatusResponseSchema,
  ListJobsResponseSchema,
  GetDashboardResponseSchema,
  GetReadinessResponseSchema,
  GetAiConfigResponseSchema,
  ListAiProvidersResponseSchema,
  TestAiProviderResponseSchema,
  ListAiResultsResponseSchema,
  GetAiResultResponseSchema,
  GetAiStatsResponseSchema,
  GetAiCostsResponseSchema,
  EstimateAiCostResponseSchema,
  PreflightAiResultsResponseSchema,
  ListSettingsResponseSchema,
  ListArchivesResponseSchema,
  PreviewDedupConfigResponseSchema,
  UpdateDedupConfigResponseSchema,
  TestConnectionResponseSchema,
  ImportConfigResponseSchema,
];

/** Messages and times that the status leaves unset at times, which no option of the field says. */
const UNSET_AT_TIMES: ReadonlySet<string> = new Set([
  "ApiRateLimit.last_seen",
  "CardinalityAlert.level",
  "Checkpoint.high_water_mark",
  "FlowStore.backend",
  "MetricsServing.config",
  "TlsCertificate.not_after",
  "TlsCertificate.not_before",
]);

export function writeStatusTypes(): void {
  writeFileSync(STATUS_TYPES, statusTypes());
  writeFileSync(EVENT_TYPES, eventTypes());
  writeFileSync(FLOW_TYPES, flowTypes());
  writeFileSync(PRESENCE_TYPES, presenceTypes());
  writeFileSync(TOKENS_TYPES, tokensTypes());
  writeFileSync(DEDUP_TYPES, dedupTypes());
}

/** The text of the module with the status. */
export function statusTypes(): string {
  return moduleOf(
    "/** Types of `/api/status.json`. Generated by tools/status-types.ts from proto/steward/monitor/v1. */\n",
    [StatusSchema],
  );
}

/** The text of the module with the list of events. */
export function eventTypes(): string {
  return moduleOf(
    "/** Types of `/api/events.json`. Generated by tools/status-types.ts from proto/steward/monitor/v1. */\n",
    [EventListSchema],
  );
}

/** The text of the module with the report of flows. */
export function flowTypes(): string {
  return moduleOf(
    "/** Types of `/api/flows.json`. Generated by tools/status-types.ts from proto/steward/monitor/v1. */\n",
    [FlowReportSchema, FlowExportSchema],
  );
}

/** The text of the module with the presence of devices. */
export function presenceTypes(): string {
  return moduleOf(
    "/** Types of `/api/presence.json`. Generated by tools/status-types.ts from proto/steward/monitor/v1. */\n",
    [PresenceReportSchema],
  );
}

/** The text of the module with the overview of the tokens service. */
export function tokensTypes(): string {
  return moduleOf(
    "/** Types of `/api/tokens.json`. Generated by tools/status-types.ts from proto/steward/tokens/v1. */\n",
    [TokensReportSchema],
  );
}

/** The text of the module with the answers of the document API. */
export function dedupTypes(): string {
  return moduleOf(
    "/** Types of answers of the document API. Generated by tools/status-types.ts from proto/steward/dedup/v1. */\n",
    DEDUP_ANSWERS,
  );
}

function moduleOf(head: string, roots: readonly DescMessage[]): string {
  const messages = new Set<DescMessage>();
  for (const root of roots) collect(root, messages);
  return [head, ...[...messages].map(interfaceOf)].join("\n");
}

function collect(message: DescMessage, found: Set<DescMessage>): void {
  if (isWellKnown(message.typeName) || found.has(message)) return;
  found.add(message);
  for (const field of message.fields)
    if (field.message !== undefined) collect(field.message, found);
}

function interfaceOf(message: DescMessage): string {
  const fields = message.fields.filter((field) => !fieldStyleOf(field).secret);
  const rows = fields.flatMap((field) => [
    ...commentOf(`${message.typeName}.${field.name}`, "  "),
    `  readonly ${jsonName(field)}${mayBeAbsent(field) ? "?" : ""}: ${typeOf(field)};`,
  ]);
  return [
    ...commentOf(message.typeName, ""),
    `export interface ${nameOf(message)} {`,
    ...rows,
    "}\n",
  ].join("\n");
}

function commentOf(name: string, indent: string): string[] {
  const text = comments[name];
  return text === undefined ? [] : [`${indent}/** ${text} */`];
}

/** As `absentOf` in wire/write.ts decides. */
function mayBeAbsent(field: DescField): boolean {
  if (writesNull(field)) return fieldStyleOf(field).omitEmpty;
  const { omitEmpty, omitUnless } = fieldStyleOf(field);
  return (
    omitEmpty ||
    omitUnless !== "" ||
    field.proto.proto3Optional ||
    UNSET_AT_TIMES.has(`${field.parent.name}.${field.name}`)
  );
}

function typeOf(field: DescField): string {
  if (field.fieldKind === "list") return `readonly ${elementOf(field)}[]`;
  if (field.fieldKind === "map") return `Readonly<Record<string, ${valueOf(field)}>>`;
  const isNullable = fieldStyleOf(field).nullable || (writesNull(field) && hasPresence(field));
  return isNullable ? `${valueOf(field)} | null` : valueOf(field);
}

/** Whether an unset field is there with null. */
function writesNull(field: DescField): boolean {
  return styleOf(field.parent.file).unset === "null";
}

/** The payload of an answer is always set. */
function hasPresence(field: DescField): boolean {
  if (field.parent.name.endsWith("Response")) return false;
  return field.fieldKind === "message" || field.proto.proto3Optional;
}

function elementOf(field: DescField): string {
  const type = valueOf(field);
  return type.includes(" ") ? `(${type})` : type;
}

function valueOf(field: DescField): string {
  if (field.enum !== undefined)
    return [...enumTexts(field.enum).numbers.keys()]
      .map((text) => JSON.stringify(text))
      .join(" | ");
  if (field.scalar === ScalarType.BOOL) return "boolean";
  if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return "string";
  if (field.scalar !== undefined) return "number";
  if (field.message === undefined) return "unknown";
  if (field.message.typeName === "google.protobuf.Timestamp") return "string";
  return isWellKnown(field.message.typeName) ? "unknown" : nameOf(field.message);
}

function nameOf(message: DescMessage): string {
  return message === StatusSchema ? "StatusJson" : message.name;
}
