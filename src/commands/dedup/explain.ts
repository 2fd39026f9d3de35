/** `steward dedup --explain A B`: why two documents are duplicates, or why not. */
import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { compareWords } from "../../../gateway/web/difference.ts";
import { compareDocuments } from "../../dedup/compare-documents.ts";
import { readCorpus } from "../../dedup/corpus.ts";
import type { Corpus } from "../../dedup/corpus.ts";
import { readStoredText } from "../../dedup/stored-text.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { formatExplanation, formatExplanationJson } from "../report/explanation.ts";
import type { ExplainedDocument, Explanation } from "../report/explanation.ts";
import { createStyle } from "../report/style.ts";
import type { ExplainArguments } from "./arguments.ts";
import { openArchives } from "./find.ts";
import { showStep } from "./run.ts";
import type { Run } from "./run.ts";

/** Resolves with whether the two are duplicates. Throws `not_found` naming a document that is not read. */
export async function explainPair(
  run: Run,
  { pair, json, colors }: ExplainArguments & { readonly colors: boolean },
): Promise<{ readonly text: string; readonly duplicates: boolean }> {
  const { pool, parameters, signal } = run;
  const corpus = await readDocuments(run, pair);
  const [first, second] = [findDocument(corpus, pair[0], run), findDocument(corpus, pair[1], run)];
  if (first === second)
    throw new StewardError("invalid", `--explain: ${pair[0]} and ${pair[1]} are one document`, {
      remedy: "name two documents",
    });
  const compared = await compareDocuments({
    a: first,
    b: second,
    corpus,
    parameters,
    pool,
    signal,
  });
  const explanation: Explanation = {
    documents: [describe(corpus, first), describe(corpus, second)],
    parameters,
    compared,
    difference: compareWords(textOf(corpus, first), textOf(corpus, second)),
  };
  const format = json ? formatExplanationJson : formatExplanation;
  return {
    text: format(explanation, createStyle(colors)),
    duplicates: compared.duplicates && explanation.documents.every(({ analysed }) => analysed),
  };
}

async function readDocuments(run: Run, pair: readonly string[]): Promise<Corpus> {
  const { options, parameters, pool, texts, signal } = run;
  const isAlone = options.paths.length === 0;
  const paths = isAlone ? [...new Set(await Promise.all(pair.map(fileOf)))] : options.paths;
  return await readCorpus({
    archives: await openArchives({ ...run, options: { ...options, paths } }),
    paths,
    parameters,
    pool,
    texts,
    signal,
    listSkipped: true,
    progress: (share, documents) => showStep(run, "read", share, documents),
  });
}

/** The file that holds a document: an attachment is named below its mail. */
async function fileOf(document: string): Promise<string> {
  for (let path = document; ; path = dirname(path)) {
    const facts = await stat(path).catch(() => undefined);
    if (facts?.isFile()) return path;
    if (facts !== undefined || dirname(path) === path) return document;
  }
}

function findDocument(corpus: Corpus, name: string, { options }: Run): number {
  const found: number[] = [];
  const resolved = resolve(name);
  for (let number = 0; number < corpus.size; number += 1) {
    const { ref } = corpus.document(number);
    const source = corpus.source(number);
    const isNamed = source?.kind === "jsonl" ? source.ref === name : resolve(ref) === resolved;
    if (ref === name || isNamed) found.push(number);
  }
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  if (first !== undefined)
    throw new StewardError("conflict", `--explain: ${found.length} documents are named ${name}`, {
      remedy: "name the one that is meant as the report does, FILE:ID",
    });
  const skipped = corpus.leftOut.find(({ id }) => id === name || resolve(id) === resolved);
  if (skipped !== undefined)
    throw new StewardError("not_found", `--explain: ${name} was skipped: ${skipped.detail}`);
  throw new StewardError(
    "not_found",
    `--explain: there is no document ${name}${options.paths.length === 0 ? "" : ` in ${options.paths.join(", ")}`}`,
    { remedy: "name both as the report does: by path, or by the id of a line" },
  );
}

function textOf(corpus: Corpus, number: number): string {
  return readStoredText(corpus.text(number) ?? new Uint8Array());
}

function describe(corpus: Corpus, number: number): ExplainedDocument {
  const { ref, title, wordCount, truncated } = corpus.document(number);
  return {
    id: ref,
    title,
    words: wordCount,
    truncated: truncated === true,
    analysed: corpus.textHash(number) !== undefined,
  };
}
