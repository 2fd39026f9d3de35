/** What applying results would change, by the metadata of the last sync. Writes nothing. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AiField, type AiPreflightSchema } from "../../gen/steward/dedup/v1/ai_pb.ts";
import type { AiResultRow, DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import type { DocumentStore } from "../documents/store.ts";
import type { ApplyOptions } from "./change.ts";
import { collectNames } from "./existing-names.ts";
import type { AiSettings } from "./keys.ts";
import { createNameMatcher } from "./names.ts";
import { protectedNames } from "./process-job.ts";
import type { ResultEntry } from "./result-index.ts";
import type { ResultStore } from "./result-store.ts";

export interface PreflightDeps {
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "row">;
  readonly results: ResultStore;
  readonly archives: () => readonly Archive[];
  readonly settings: () => AiSettings;
}

const LISTED_NAMES = 1_000;
const HIGH = 0.8;
const MEDIUM = 0.5;

/** The band of a mean confidence. */
export function bandOf(confidence: number | undefined): "high" | "medium" | "low" {
  if (confidence === undefined || confidence < MEDIUM) return "low";
  return confidence >= HIGH ? "high" : "medium";
}

export async function preflight(
  deps: PreflightDeps,
  entries: readonly ResultEntry[],
  { fields, allowClearing, createMissing }: ApplyOptions,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof AiPreflightSchema>> {
  const names = await collectNames(deps, signal);
  const existing = {
    correspondents: createNameMatcher(names.correspondents),
    documentTypes: createNameMatcher(names.documentTypes),
    tags: createNameMatcher(names.tags),
  };
  const writable = new Set(
    deps.archives().flatMap(({ name, writer }) => (writer === undefined ? [] : [name])),
  );
  const isProtected = protectedNames(deps.settings());
  const created = {
    correspondents: new Set<string>(),
    documentTypes: new Set<string>(),
    tags: new Set<string>(),
  };
  const changed = { correspondent: 0, documentType: 0, tags: 0, title: 0 };
  const bands = { high: 0, medium: 0, low: 0 };
  let [clears, noOps, conflicts, impossible] = [0, 0, 0, 0];
  const has = (field: AiField): boolean => fields.includes(field);
  /** Whether a name can be written: it exists, or is made. Lists those that do not exist. */
  const isUsable = (kind: keyof typeof created, name: string): boolean => {
    if (existing[kind].find(name) !== undefined) return true;
    if (created[kind].size < LISTED_NAMES) created[kind].add(name);
    return createMissing;
  };
  const turns = new Turns();
  for (const { docNo, confidence } of entries) {
    if (turns.over) await turns.give(signal);
    bands[bandOf(confidence)] += 1;
    const result = deps.results.row(docNo);
    const document = deps.documents.row(docNo);
    if (result === undefined || document === undefined || !writable.has(document.archive)) {
      impossible += 1;
      continue;
    }
    if (isConflict(result, document)) conflicts += 1;
    let changes = 0;
    const reference = (field: "correspondent" | "documentType", suggested: string | undefined) => {
      const present = document[field];
      if (suggested === undefined) {
        if (!allowClearing || present === undefined) return;
        clears += 1;
      } else if (fold(suggested) === fold(present ?? "")) return;
      else if (!isUsable(`${field}s`, suggested)) return;
      changed[field] += 1;
      changes += 1;
    };
    if (has(AiField.CORRESPONDENT)) reference("correspondent", result.suggestedCorrespondent);
    if (has(AiField.DOCUMENT_TYPE)) reference("documentType", result.suggestedDocumentType);
    if (has(AiField.TAGS)) {
      const present = new Set(document.tags.map(fold));
      const suggested = result.suggestedTags.filter(
        (tag) => !isProtected(tag) && isUsable("tags", tag),
      );
      const wanted = new Set(suggested.map(fold));
      const removes =
        deps.settings().tagMode === "replace" &&
        (suggested.length > 0 || (allowClearing && result.suggestedTags.length === 0)) &&
        document.tags.some((tag) => !wanted.has(fold(tag)) && !isProtected(tag));
      if (removes && suggested.length === 0) clears += 1;
      if (removes || suggested.some((tag) => !present.has(fold(tag)))) {
        changed.tags += 1;
        changes += 1;
      }
    }
    const { suggestedTitle } = result;
    if (has(AiField.TITLE) && suggestedTitle !== undefined && suggestedTitle !== document.title) {
      changed.title += 1;
      changes += 1;
    }
    if (changes === 0) noOps += 1;
  }
  return {
    totalDocuments: entries.length,
    fieldsChanged: changed,
    newEntitiesCreated: {
      correspondents: [...created.correspondents],
      documentTypes: [...created.documentTypes],
      tags: [...created.tags],
    },
    lowConfidenceCount: bands.low,
    noOpCount: noOps,
    destructiveClearCount: clears,
    confidenceDistribution: bands,
    conflictCount: conflicts,
    notApplicableCount: impossible,
  };
}

function isConflict(result: AiResultRow, document: DocumentRow): boolean {
  return (
    result.currentCorrespondent !== document.correspondent ||
    result.currentDocumentType !== document.documentType ||
    result.currentTags.length !== document.tags.length ||
    result.currentTags.some((tag) => !document.tags.includes(tag))
  );
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
