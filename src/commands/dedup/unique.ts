/**
 * The documents that stay, as JSON Lines in the order of the input: a line of JSON Lines byte for
 * byte, any other document as an object with `id`, `title` and `content`.
 */
import { readRawLines, sourceVersion } from "../../dedup/archives/jsonl.ts";
import type { Corpus, DocumentSource } from "../../dedup/corpus.ts";
import { readStoredText } from "../../dedup/stored-text.ts";
import { nextTurn } from "../../kernel/async/turns.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Spools } from "./spool.ts";

/** What is written from. */
export interface UniqueInput {
  readonly corpus: Corpus;
  readonly redundant: ReadonlySet<number>;
  readonly versions: SourceVersions;
  readonly spools: Spools;
  readonly pool: Pool;
  readonly signal: AbortSignal;
}

/** The states of the files that are read twice, by the paths of the command line. */
export type SourceVersions = ReadonlyMap<string, string | undefined>;

/** Taken before the first reading, so that a change shows at the second. */
export async function takeVersions(paths: readonly string[]): Promise<SourceVersions> {
  const versions = paths.map(async (path): Promise<[string, string | undefined]> => [
    path,
    // A path that is not there is reported by who reads it.
    path === "-" ? undefined : await sourceVersion(path).catch(() => undefined),
  ]);
  return new Map(await Promise.all(versions));
}

/**
 * Throws `conflict` when a file has changed since it was read, so that nothing of it is mistaken for
 * what was compared.
 */
export async function* formatUnique(input: UniqueInput): AsyncGenerator<string | Uint8Array> {
  const { corpus, redundant } = input;
  let from = 0;
  while (from < corpus.size) {
    const source = corpus.source(from);
    let to = from + 1;
    while (to < corpus.size && corpus.source(to)?.path === source?.path) to += 1;
    const staying: number[] = [];
    for (let number = from; number < to; number += 1)
      if (!redundant.has(number)) staying.push(number);
    if (source?.kind === "jsonl") yield* lines(input, source, staying);
    else yield* records(input, staying);
    from = to;
  }
}

const LINE_END = Uint8Array.of(10);

async function* lines(
  { corpus, versions, spools, pool, signal }: UniqueInput,
  { path }: DocumentSource,
  staying: readonly number[],
): AsyncGenerator<Uint8Array> {
  const version = versions.get(path);
  const file = version === undefined ? spools.fileOf(path) : path;
  if (file === undefined || staying.length === 0) return;
  let at = 0;
  const wanted = (): number | undefined => corpus.source(staying[at] ?? -1)?.line;
  for await (const { number, bytes } of readRawLines(pool, file, signal)) {
    if (number !== wanted()) continue;
    if (bytes === undefined) break;
    yield bytes;
    yield LINE_END;
    at += 1;
    if (at === staying.length) break;
  }
  const changed = version !== undefined && version !== (await sourceVersion(path));
  if (changed || at < staying.length) throw changedSince(path);
}

async function* records(
  { corpus, signal }: UniqueInput,
  staying: readonly number[],
): AsyncGenerator<string> {
  for (const number of staying) {
    const { ref, title, wordCount, truncated } = corpus.document(number);
    const content = readStoredText(corpus.text(number) ?? new Uint8Array());
    if (content === "" && wordCount > 0) throw changedSince(ref);
    yield `${JSON.stringify({ id: ref, title, content, ...(truncated === true && { truncated }) })}\n`;
    await nextTurn(signal);
  }
}

function changedSince(name: string): StewardError {
  return new StewardError("conflict", `${name} changed while it was read`, {
    remedy: "run again when nothing writes to it",
  });
}
