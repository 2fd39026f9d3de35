/** Converts a system error about a file to a skipped item. */
import type { Hidden, SkippedItem } from "./archive.ts";
import { failed } from "./archive.ts";

/** The system's code of an error, e.g. EACCES. */
export function systemCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** A skipped item for a path that could not be read; what vanished hides nothing. */
export function unreadable(ref: string, error: unknown, hides: Hidden): SkippedItem {
  const code = systemCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") {
    return ref.includes("\ufffd")
      ? failed(ref, "unreadable", "its name is not UTF-8", "none")
      : failed(ref, "vanished", "vanished while the archive was read", "none");
  }
  return failed(
    ref,
    "unreadable",
    `cannot be read: ${code ?? (error instanceof Error ? error.message : String(error))}`,
    hides,
  );
}
