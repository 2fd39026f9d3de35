/** The lists of tags, correspondents and document types. */
import { NAME_UNITS } from "../../../workers/extract/record.ts";
import type { PaperlessClient } from "./client.ts";
import { readNamed } from "./decode.ts";
import { notPaperless } from "./failures.ts";

export const labelLists = ["tags", "correspondents", "document_types"] as const;
/** Lists of what labels documents. */
export type LabelList = (typeof labelLists)[number];

const PAGE = 1_000;
const MAX_PAGES = 1_000;

/** All entries of one list, by id. */
export async function readTable(
  client: PaperlessClient,
  list: LabelList,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (let number = 1; number <= MAX_PAGES; number++) {
    const page = await client.page(list, { page: number, page_size: PAGE }, signal);
    for (const item of page?.results ?? []) {
      const named = readNamed(item);
      if ("wrong" in named)
        throw notPaperless(client.name, `an entry of the list of ${list} ${named.wrong}`);
      names.set(named.id, named.name.toWellFormed().slice(0, NAME_UNITS));
    }
    if (page === undefined || page.isLast) return names;
  }
  throw notPaperless(client.name, `the list of ${list} has more than ${MAX_PAGES} pages`);
}
