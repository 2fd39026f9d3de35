/** Carries out a merge in Paperless-ngx. */
import type { PaperlessWriter } from "../paperless/writer.ts";
import type { LiveDocument } from "../paperless/live-document.ts";
import { planMerge, type MergeFieldName } from "./merge.ts";

/**
 * Copies from members to the document that stays, which is read again right before it is changed.
 * May be repeated: what is there already is not sent. False when the document is gone.
 */
export async function applyMerge(
  writer: Pick<PaperlessWriter, "update" | "addNote">,
  primary: number,
  members: readonly LiveDocument[],
  options: { readonly fields: readonly MergeFieldName[]; readonly signal: AbortSignal },
): Promise<boolean> {
  const { fields, signal } = options;
  const changed = await writer.update(
    primary,
    (live) => planMerge(live, members, fields).change,
    signal,
  );
  if (changed === undefined) return false;
  for (const note of planMerge(changed, members, fields).notes)
    if (!(await writer.addNote(primary, note, signal))) return false;
  return true;
}
