/** The correspondents, document types and tags that there are, in use or not. */
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import { documents } from "../tables.ts";

/** The most used first, so that those that fit into a prompt are the useful ones. */
export interface ExistingNames {
  readonly correspondents: readonly string[];
  readonly documentTypes: readonly string[];
  readonly tags: readonly string[];
}

const SLICE_MS = 5;

interface NameSources {
  readonly env: Env;
  readonly archives: () => readonly Archive[];
}

/** Reads all documents once, in slices, and the lists of the archives that have them. */
export async function collectNames(
  { env, archives }: NameSources,
  signal: AbortSignal,
): Promise<ExistingNames> {
  const counts = {
    correspondents: new Map<string, number>(),
    documentTypes: new Map<string, number>(),
    tags: new Map<string, number>(),
  };
  const count = (names: Map<string, number>, name: string | undefined): void => {
    if (name !== undefined && name !== "") names.set(name, (names.get(name) ?? 0) + 1);
  };
  await env.scan(
    documents,
    (batch) => {
      for (const [, row] of batch) {
        count(counts.correspondents, row.correspondent);
        count(counts.documentTypes, row.documentType);
        for (const tag of row.tags) count(counts.tags, tag);
      }
    },
    { sliceMs: SLICE_MS, signal },
  );
  for (const archive of archives()) await addUnused(archive, counts, signal);
  return {
    correspondents: byCount(counts.correspondents),
    documentTypes: byCount(counts.documentTypes),
    tags: byCount(counts.tags),
  };
}

type Counts = Readonly<Record<keyof ExistingNames, Map<string, number>>>;

/** Names without a document come last. */
async function addUnused({ writer }: Archive, counts: Counts, signal: AbortSignal): Promise<void> {
  if (writer === undefined) return;
  const lists = [
    ["correspondents", counts.correspondents],
    ["document_types", counts.documentTypes],
    ["tags", counts.tags],
  ] as const;
  try {
    for (const [list, names] of lists)
      for (const name of (await writer.labels(list, signal)).values())
        if (!names.has(name)) names.set(name, 0);
  } catch (error) {
    signal.throwIfAborted();
    // Suggestions need no archive: names in use are enough while it cannot be reached.
    if (toStewardError(error).code !== "upstream") throw error;
  }
}

function byCount(names: ReadonlyMap<string, number>): string[] {
  return [...names]
    .sort(([left, many], [right, few]) => few - many || (left < right ? -1 : 1))
    .map(([name]) => name);
}
