/** What a suggestion would change, field by field. */
import type { AiConfig, AiResult, AiSnapshot } from "../../../src/gen/dedup-json.ts";

export type Field = "correspondent" | "documentType" | "tags" | "title";

/** A field with what the document has now and what is suggested. */
export interface FieldChange {
  readonly field: Field;
  readonly label: string;
  readonly now: readonly string[];
  readonly suggested: readonly string[];
  /** Of tags: what would come and go. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** 0 to 1; undefined where the model suggests nothing. */
  readonly confidence: number | undefined;
  /** Whether applying it would change the document. */
  readonly changes: boolean;
  /** What the document had when the suggestion was made, where that is something else. */
  readonly before: readonly string[] | undefined;
}

type Suggested = Pick<
  AiResult,
  | "suggestedTitle"
  | "suggestedCorrespondent"
  | "suggestedDocumentType"
  | "suggestedTags"
  | "currentTitle"
  | "currentCorrespondent"
  | "currentDocumentType"
  | "currentTags"
  | "confidence"
>;

type TagRules = Pick<AiConfig, "tagMode" | "protectedTagNames">;

/**
 * The four fields. `now` is what the document has at present; without it, what it had when the
 * suggestion was made.
 */
export function changesOf(
  result: Suggested,
  rules: TagRules,
  now: AiSnapshot = {
    title: result.currentTitle ?? "",
    correspondent: result.currentCorrespondent,
    documentType: result.currentDocumentType,
    tags: result.currentTags,
  },
): readonly FieldChange[] {
  const { confidence } = result;
  return [
    single("correspondent", "Correspondent", {
      now: now.correspondent,
      before: result.currentCorrespondent,
      suggested: result.suggestedCorrespondent,
      confidence: confidence?.correspondent,
    }),
    single("documentType", "Document type", {
      now: now.documentType,
      before: result.currentDocumentType,
      suggested: result.suggestedDocumentType,
      confidence: confidence?.documentType,
    }),
    tagChange(result, rules, now.tags),
    single("title", "Title", {
      now: now.title,
      before: result.currentTitle,
      suggested: result.suggestedTitle,
      confidence: confidence?.title ?? undefined,
    }),
  ];
}

function single(
  field: Field,
  label: string,
  values: {
    readonly now: string | null;
    readonly before: string | null;
    readonly suggested: string | null;
    readonly confidence: number | undefined;
  },
): FieldChange {
  const { now, before, suggested, confidence } = values;
  return {
    field,
    label,
    now: listOf(now),
    suggested: listOf(suggested),
    added: [],
    removed: [],
    confidence: suggested === null ? undefined : confidence,
    changes: suggested !== null && suggested !== now,
    before: before === now ? undefined : listOf(before),
  };
}

function tagChange(result: Suggested, rules: TagRules, now: readonly string[]): FieldChange {
  const { suggestedTags, currentTags, confidence } = result;
  const isProtected = holds(rules.protectedTagNames);
  const added = suggestedTags.filter((tag) => !holds(now)(tag) && !isProtected(tag));
  const removed =
    rules.tagMode === "replace" && suggestedTags.length > 0
      ? now.filter((tag) => !holds(suggestedTags)(tag) && !isProtected(tag))
      : [];
  const same = now.length === currentTags.length && now.every(holds(currentTags));
  return {
    field: "tags",
    label: "Tags",
    now,
    suggested: suggestedTags,
    added,
    removed,
    confidence: suggestedTags.length === 0 ? undefined : confidence?.tags,
    changes: added.length + removed.length > 0,
    before: same ? undefined : currentTags,
  };
}

/** Names count as equal in any case, as in the archive. */
function holds(names: readonly string[]): (name: string) => boolean {
  const known = new Set(names.map((name) => name.toLowerCase()));
  return (name) => known.has(name.toLowerCase());
}

function listOf(value: string | null): readonly string[] {
  return value === null || value === "" ? [] : [value];
}
