/** The files behind documents: whether a document is a whole file, and the state that file is in. */
import { join } from "node:path";
import type { DocumentSource } from "../corpus.ts";
import { realPath } from "../review/identity.ts";
import { readFileState } from "./file-state.ts";
import type { FileState } from "./file-state.ts";
import type { PlanDocument } from "./rule.ts";

/** A document of a plan and the file it was read from. */
export interface PlanFileOfDocument extends PlanDocument {
  /** Without links; empty for what is no file. */
  readonly path: string;
  readonly state?: FileState;
}

/** What is known of a document without its file. */
export interface DocumentToPlan {
  readonly source: DocumentSource | undefined;
  readonly truncated: boolean;
}

/** Looks a document's file up and reads it to its end. Rejects with the signal's reason. */
export async function readPlanFile(
  { source, truncated }: DocumentToPlan,
  signal: AbortSignal,
): Promise<PlanFileOfDocument> {
  const located = locate(source);
  if (typeof located === "string") return { path: "", held: located, unfit: located };
  const { path, throughLink, version } = located;
  if (truncated) return both(path, "was compared by the beginning of its text only");
  const state = await readFileState(path, signal);
  if ("problem" in state) return both(path, state.problem);
  if (state.version !== version) return both(path, "has changed since it was read");
  return {
    path,
    state,
    ...(throughLink && { held: "is reached through a symbolic link" }),
    ...(state.names > 1 && { file: { id: state.file, names: state.names } }),
  };
}

function both(path: string, reason: string): PlanFileOfDocument {
  return { path, held: reason, unfit: reason };
}

interface Located {
  readonly path: string;
  readonly version: string;
  readonly throughLink: boolean;
}

/** Where the file is, or why the document is none. */
function locate(source: DocumentSource | undefined): Located | string {
  if (source === undefined || source.path === "-") return "was read from standard input";
  if (source.kind !== "folder" && source.kind !== "file") return "is a line of a file";
  if (source.sharesFile) return "is part of a file that holds several documents";
  const named =
    source.kind === "folder" ? join(realPath(source.path), source.ref) : realPath(source.path);
  const path = realPath(named);
  return { path, version: source.version, throughLink: path !== named };
}
