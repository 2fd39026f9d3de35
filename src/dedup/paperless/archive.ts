/**
 * Paperless-ngx as an archive. Each reading lists all documents without their texts, and fetches
 * only those that are new or changed: `docs/decisions/paperless-sync.md` says why.
 */
import { hash } from "node:crypto";
import { cutText } from "../../../workers/text/decode.ts";
import type { Archive, ArchiveDocument, ArchiveItem, ReadOptions } from "../archives/archive.ts";
import { failed } from "../archives/archive.ts";
import { inBatches, type PositionedItem } from "../archives/batches.ts";
import { mapInOrder } from "../archives/ordered.ts";
import { cleanTitle } from "../../../workers/extract/titles.ts";
import { TEXT_UNITS } from "../documents/limits.ts";
import { createPaperlessClient, type PaperlessClient } from "./client.ts";
import type { PaperlessDeps, PaperlessOptions } from "./client.ts";
import {
  FULL_FIELDS,
  LISTED_FIELDS,
  readFull,
  readId,
  readListed,
  type FullDocument,
} from "./decode.ts";
import { fetchDocuments, idSlices } from "./fetch.ts";
import { notPaperless } from "./failures.ts";
import { readNames, type Names } from "./names.ts";
import { createPaperlessWriter } from "./writer.ts";

/** How an archive is read. */
export interface PaperlessArchiveOptions extends PaperlessOptions {
  /** Documents of one request for texts. */
  readonly pageSize: number;
}

/** Documents of a request for the list without texts, some 300 bytes each. */
export const LISTED_AT_ONCE = 2_000;
export const PAGES_IN_FLIGHT = 3;

/** Touches nothing yet. */
export function createPaperlessArchive(
  deps: PaperlessDeps,
  options: PaperlessArchiveOptions,
): Archive {
  const client = createPaperlessClient(deps, options);
  return {
    name: options.name,
    kind: "paperless",
    credential: "token" in options.credential ? "token" : "password",
    check: (signal) => client.probe(signal),
    describe: (signal) => client.describe(signal),
    figures: (path, query, signal) => client.figures(path, query, signal),
    read: (read) => inBatches(readArchive(deps, client, options.pageSize, read)),
    stillThere: (refs, signal) => stillThere(client, options.pageSize, refs, signal),
    writer: createPaperlessWriter({ client, clock: deps.clock }),
    close: () => client.close(),
  };
}

/** How far a reading is. */
interface Reading {
  readonly client: PaperlessClient;
  readonly names: Names;
  readonly options: ReadOptions;
  /** Documents that the list counts. */
  total: number;
  /** Documents that were yielded. */
  done: number;
}

async function* readArchive(
  { report }: Pick<PaperlessDeps, "report">,
  client: PaperlessClient,
  pageSize: number,
  options: ReadOptions,
): AsyncGenerator<PositionedItem> {
  const fetchNames = (): Promise<Names> => readNames(client, options.signal);
  const names = await (report === undefined
    ? fetchNames()
    : report.span("dedupe.sync.fetch_references", { "app.archive": client.name }, fetchNames));
  const reading: Reading = { client, names, options, total: 0, done: 0 };
  const changed: number[] = [];
  yield* listAll(reading, changed);
  yield* fetchAll(reading, changed, pageSize);
}

/** Every document of the archive once: known ones as they are, others into `changed`. */
async function* listAll(reading: Reading, changed: number[]): AsyncGenerator<PositionedItem> {
  const { client } = reading;
  const seen = new Set<number>();
  for await (const results of listedPages(reading)) {
    for (const entry of results) {
      const id = readId(entry);
      // Without ids nobody could say which documents are gone.
      if (id === undefined)
        throw notPaperless(client.name, "an entry of the list of documents has no id");
      // A document that came back from the trash meanwhile shifts the pages.
      if (seen.has(id)) continue;
      seen.add(id);
      const item = await unchanged(reading, entry);
      if (item === undefined) changed.push(id);
      else yield position(reading, item);
    }
  }
}

/** The first page shows how many there are. A page that is missing by then is behind the end. */
async function* listedPages(reading: Reading): AsyncGenerator<readonly unknown[]> {
  const read = async (number: number): Promise<readonly unknown[]> => {
    const query = {
      page: number,
      page_size: LISTED_AT_ONCE,
      ordering: "id",
      fields: LISTED_FIELDS,
    };
    const page = await reading.client.page("documents", query, reading.options.signal);
    reading.total = Math.max(reading.total, page?.count ?? 0);
    return page?.results ?? [];
  };
  yield await read(1);
  const pages = Math.ceil(reading.total / LISTED_AT_ONCE);
  const others = Array.from({ length: Math.max(0, pages - 1) }, (_, index) => index + 2);
  yield* mapInOrder(others, PAGES_IN_FLIGHT, read);
}

/** The item of a document that is known in this version; undefined when it must be fetched. */
async function unchanged(reading: Reading, entry: unknown): Promise<ArchiveItem | undefined> {
  const { names, options } = reading;
  const listed = readListed(entry);
  if ("wrong" in listed) return undefined;
  const ref = String(listed.id);
  if (options.force || !options.known(ref, listed.version)) return undefined;
  if (names.lacks(listed)) await names.refresh([listed], options.signal);
  return { kind: "unchanged", ref, labels: names.labelsOf(listed) };
}

async function* fetchAll(
  reading: Reading,
  ids: readonly number[],
  pageSize: number,
): AsyncGenerator<PositionedItem> {
  const { client, names, options } = reading;
  const pages = mapInOrder(idSlices(ids, pageSize), PAGES_IN_FLIGHT, (slice) =>
    fetchDocuments(client, slice, FULL_FIELDS, options.signal),
  );
  for await (const { entries, tooLarge } of pages) {
    const documents = entries.map((entry) => ({ entry, document: readFull(entry) }));
    const lacking = documents.flatMap(({ document }) =>
      "wrong" in document || !names.lacks(document) ? [] : [document],
    );
    if (lacking.length > 0) await names.refresh(lacking, options.signal);
    for (const { entry, document } of documents) {
      const id = readId(entry);
      if (id === undefined) continue;
      yield position(
        reading,
        "wrong" in document
          ? failed(String(id), "broken document", document.wrong, "itself")
          : asDocument(document, names),
      );
    }
    for (const id of tooLarge)
      yield position(
        reading,
        failed(String(id), "too large", "is larger than 64 MiB as JSON", "itself"),
      );
  }
}

function position(reading: Reading, item: ArchiveItem): PositionedItem {
  reading.done += 1;
  return { item, fraction: Math.min(1, reading.done / Math.max(1, reading.total)) };
}

function asDocument(document: FullDocument, names: Names): ArchiveDocument {
  const { id, version, content, created, added, modified, originalFileName, pageCount } = document;
  const title =
    cleanTitle(document.title.toWellFormed()) ||
    cleanTitle((originalFileName ?? "").toWellFormed()) ||
    `document ${id}`;
  const text = content.toWellFormed();
  return {
    kind: "document",
    ref: String(id),
    version,
    paperlessId: id,
    title,
    // One unit more than is kept, so that truncation can be detected.
    text: cutText(text, TEXT_UNITS + 2),
    ...(text.length > TEXT_UNITS && { beyond: hash("sha256", text.slice(TEXT_UNITS)) }),
    ...names.labelsOf(document),
    ...(created === undefined ? {} : { createdDate: created }),
    ...(added === undefined ? {} : { addedDate: added }),
    ...(modified === undefined ? {} : { modifiedDate: modified }),
    ...(pageCount === undefined ? {} : { pageCount }),
    notes: [],
  };
}

/** Looks for single documents: a list read in pages may miss one when another is deleted. */
async function stillThere(
  client: PaperlessClient,
  pageSize: number,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const slice of idSlices(refs.map(Number), pageSize)) {
    const { entries } = await fetchDocuments(client, slice, "id", signal);
    for (const entry of entries) found.add(String(readId(entry)));
  }
  return found;
}
