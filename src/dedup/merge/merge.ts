/** What a merge of duplicates changes in the document that stays. Pure. */
import type { DocumentChange, LiveDocument } from "../paperless/live-document.ts";

/** What may be merged. */
export type MergeFieldName = "tags" | "correspondent" | "documentType" | "created" | "notes";

export const mergeFields: readonly MergeFieldName[] = [
  "tags",
  "correspondent",
  "documentType",
  "created",
  "notes",
];

/** A field of the document that stays; values are ids of labels, dates, or texts of notes. */
export interface MergedValue {
  readonly field: MergeFieldName;
  readonly before: readonly (number | string)[];
  readonly after: readonly (number | string)[];
  /** Ids in Paperless-ngx of the members that the values come from. */
  readonly from: readonly number[];
}

export interface MergePlan {
  readonly change: DocumentChange;
  /** Notes to add, the oldest first. */
  readonly notes: readonly string[];
  readonly changes: readonly MergedValue[];
  /** Values of members that are not taken over, since the document that stays has its own. */
  readonly kept: readonly MergedValue[];
}

/**
 * Tags and notes are added; correspondent and document type are taken from the first member that
 * has one, where the document that stays has none; the date becomes the earliest of all.
 */
export function planMerge(
  primary: LiveDocument,
  members: readonly LiveDocument[],
  fields: readonly MergeFieldName[],
): MergePlan {
  const wanted = new Set(fields);
  const changes: MergedValue[] = [];
  const kept: MergedValue[] = [];
  let change: DocumentChange = {};
  if (wanted.has("tags")) {
    const added = missingOf(primary.tags, members, ({ tags }) => tags);
    if (added !== undefined) {
      change = { ...change, tags: added.after as number[] };
      changes.push({ field: "tags", ...added });
    }
  }
  for (const field of ["correspondent", "documentType"] as const) {
    if (!wanted.has(field)) continue;
    const others = members.filter(
      (one) => one[field] !== undefined && one[field] !== primary[field],
    );
    const first = others[0]?.[field];
    if (first === undefined) continue;
    if (primary[field] === undefined) {
      change = { ...change, [field]: first };
      const from = others.filter((one) => one[field] === first);
      changes.push({ field, before: [], after: [first], from: from.map(({ id }) => id) });
    } else {
      const after = [...new Set(others.map((one) => one[field] as number))];
      kept.push({ field, before: [primary[field]], after, from: others.map(({ id }) => id) });
    }
  }
  const earliest = wanted.has("created") ? earlierDate(primary, members) : undefined;
  if (earliest !== undefined) {
    change = { ...change, created: earliest.after[0] as string };
    changes.push({ field: "created", ...earliest });
  }
  const notes = wanted.has("notes") ? missingOf(textsOf(primary), members, textsOf) : undefined;
  if (notes !== undefined) changes.push({ field: "notes", ...notes });
  const added = (notes?.after ?? []).slice(notes?.before.length) as string[];
  return { change, notes: added, changes, kept };
}

function textsOf({ notes }: LiveDocument): string[] {
  return notes.toSorted((a, b) => a.id - b.id).map(({ note }) => note);
}

function missingOf<T extends number | string>(
  before: readonly T[],
  members: readonly LiveDocument[],
  valuesOf: (one: LiveDocument) => readonly T[],
): Omit<MergedValue, "field"> | undefined {
  const after = [...new Set([...before, ...members.flatMap(valuesOf)])];
  if (after.length === new Set(before).size) return undefined;
  const from = members.filter((one) => valuesOf(one).some((value) => !before.includes(value)));
  return { before: [...new Set(before)], after, from: from.map(({ id }) => id) };
}

function earlierDate(
  primary: LiveDocument,
  members: readonly LiveDocument[],
): Omit<MergedValue, "field"> | undefined {
  const before = dateOf(primary);
  const dates = members.flatMap((one) => dateOf(one) ?? []).sort();
  const [earliest] = dates;
  if (earliest === undefined || (before !== undefined && before <= earliest)) return undefined;
  const from = members.filter((one) => dateOf(one) === earliest);
  return {
    before: before === undefined ? [] : [before],
    after: [earliest],
    from: from.map(({ id }) => id),
  };
}

/** `YYYY-MM-DD`: up to version 8 of the API it has a time. */
function dateOf({ created }: LiveDocument): string | undefined {
  return created?.slice(0, 10);
}
