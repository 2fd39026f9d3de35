/** Pages of a list: filters, order, and the links to other pages. */
import { headerOf, json, type Call, type Reply } from "../control-plane/reply.ts";
import { isVisible } from "./access.ts";
import { detail, invalid } from "./answers.ts";
import type { Operation, ReferenceKind } from "./operations.ts";
import { parseTime } from "./times.ts";
import type { DocumentRow, Estate, ReferenceRow } from "./types.ts";
import { listsAllIds, showDocument, showReference, type Shown, type Viewer } from "./views.ts";

const DEFAULT_PAGE = 25;
const MAX_PAGE = 100_000;

/** One page of rows; the members beside `results` come from the rows of all pages. */
function page<Row extends { readonly id: number }>(
  call: Call<Operation>,
  rows: readonly Row[],
  { version }: Viewer,
  show: (row: Row) => Shown,
  beside: Shown = {},
): Reply {
  const size = sizeOf(call.query.get("page_size"));
  const pages = Math.max(1, Math.ceil(rows.length / size));
  const asked = call.query.get("page") ?? "1";
  const number = asked === "last" ? pages : Number(asked);
  if (!/^\d+$|^last$/.test(asked) || number < 1 || number > pages)
    return detail(404, "Invalid page.");
  return json({
    count: rows.length,
    next: number < pages ? link(call, number + 1) : null,
    previous: number > 1 ? link(call, number - 1) : null,
    ...(listsAllIds(version) ? { all: rows.map(({ id }) => id) } : {}),
    results: rows.slice((number - 1) * size, number * size).map(show),
    ...beside,
  });
}

function sizeOf(text: string | null): number {
  const size = text !== null && /^\d+$/.test(text) ? Number(text) : 0;
  return size === 0 ? DEFAULT_PAGE : Math.min(size, MAX_PAGE);
}

/** Absolute, parameters sorted by name; the first page has no number. */
function link(call: Call<Operation>, number: number): string {
  const query = new URLSearchParams(call.query);
  if (number === 1) query.delete("page");
  else query.set("page", String(number));
  query.sort();
  const text = query.toString();
  return `http://${headerOf(call, "host") ?? ""}${call.path}${text === "" ? "" : `?${text}`}`;
}

/** Reads `fields=id,title`; an empty value means all. */
export function fieldsOf({ query }: Call<Operation>): ReadonlySet<string> | undefined {
  const text = query.get("fields");
  return text === null || text === "" ? undefined : new Set(text.split(","));
}

export function listDocuments(call: Call<Operation>, viewer: Viewer): Reply {
  const { estate } = viewer;
  const filters = readFilters(call.query);
  if ("errors" in filters) return invalid(filters.errors);
  const ordering = call.query.get("ordering") ?? "";
  const rows = candidates(call.query, estate, ordering).filter(
    (row) => isVisible(row, viewer.user) && filters.tests.every((test) => test(row)),
  );
  const options = {
    fields: fieldsOf(call),
    fullPermissions: call.query.get("full_perms") === "true",
    truncate: call.query.get("truncate_content") === "true",
  };
  return page(call, rows, viewer, (row) => showDocument(row, viewer, options));
}

/** Full documents, newest date first. */
export function listTrash(call: Call<Operation>, viewer: Viewer): Reply {
  const rows = [...viewer.estate.documents.values()]
    .filter((row) => row.deletedAtUs !== null && isVisible(row, viewer.user))
    .toSorted(comparisonOf(""));
  return page(call, rows, viewer, (row) => showDocument(row, viewer));
}

export function listReferences(call: Call<Operation>, kind: ReferenceKind, viewer: Viewer): Reply {
  const { estate, user } = viewer;
  const name = call.query.get("name__iexact")?.toLowerCase();
  const rows = [...estate.references[kind].values()]
    .filter((row) => user.superuser || row.owner === null || row.owner === user.id)
    .filter((row) => name === undefined || row.name.toLowerCase() === name)
    .toSorted(byLowerName);
  const options = { lastCorrespondence: call.query.get("last_correspondence") === "true" };
  // Tags list their roots; children are shown inside, and once more as rows of the page.
  const beside =
    kind === "tags" && estate.release === "3.0.5" ? { display_count: rows.length } : {};
  return page(call, rows, viewer, (row) => showReference(kind, row, viewer, options), beside);
}

/** Users, or their groups, of which the simulator has none. */
export function listAccounts(call: Call<Operation>, viewer: Viewer): Reply {
  const rows = call.operation === "users" ? viewer.estate.users : [];
  return page(call, rows, viewer, ({ id, username, superuser }) => ({
    id,
    username,
    is_superuser: superuser,
  }));
}

export function listCustomFields(call: Call<Operation>, viewer: Viewer): Reply {
  const { estate } = viewer;
  const rows = [...estate.customFields.values()].toSorted(
    estate.release === "3.0.5" ? byLowerName : (left, right) => right.id - left.id,
  );
  return page(call, rows, viewer, ({ id, name, dataType, extraData }) => ({
    id,
    name,
    data_type: dataType,
    extra_data: extraData,
    document_count: [...estate.documents.values()].filter(
      (row) => row.deletedAtUs === null && row.customFields.some(({ field }) => field === id),
    ).length,
  }));
}

function byLowerName(
  left: Pick<ReferenceRow, "name" | "id">,
  right: Pick<ReferenceRow, "name" | "id">,
): number {
  const [a, b] = [left.name.toLowerCase(), right.name.toLowerCase()];
  return a < b ? -1 : a > b ? 1 : left.id - right.id;
}

const sorted = new WeakMap<
  Estate,
  { readonly revision: number; readonly by: Map<string, readonly DocumentRow[]> }
>();

/** Live documents in order: those of `id__in`, else all, sorted once a change. */
function candidates(query: URLSearchParams, estate: Estate, ordering: string): DocumentRow[] {
  const { documents, revision } = estate;
  const ids = query.get("id__in");
  if (ids !== null)
    return [...new Set(ids.split(","))]
      .map((id) => documents.get(Number(id)))
      .filter((row) => row !== undefined && row.deletedAtUs === null)
      .map((row) => row as DocumentRow)
      .toSorted(comparisonOf(ordering));
  let known = sorted.get(estate);
  if (known?.revision !== revision) {
    known = { revision, by: new Map() };
    sorted.set(estate, known);
  }
  let rows = known.by.get(ordering);
  if (rows === undefined) {
    rows = [...documents.values()]
      .filter((row) => row.deletedAtUs === null)
      .toSorted(comparisonOf(ordering));
    known.by.set(ordering, rows);
  }
  return [...rows];
}

const columns: Readonly<Record<string, (row: DocumentRow) => number | string | null>> = {
  id: ({ id }) => id,
  title: ({ title }) => title,
  created: ({ created }) => created,
  modified: ({ modifiedUs }) => modifiedUs,
  added: ({ addedUs }) => addedUs,
  archive_serial_number: ({ archiveSerialNumber }) => archiveSerialNumber,
  page_count: ({ pageCount }) => pageCount,
};

/** Unknown columns are ignored; without any the newest date comes first. */
function comparisonOf(ordering: string): (left: DocumentRow, right: DocumentRow) => number {
  const steps = ordering
    .split(",")
    .map((text) => ({
      column: columns[text.replace(/^-/, "")],
      sign: text.startsWith("-") ? -1 : 1,
    }))
    .filter(({ column }) => column !== undefined);
  if (steps.length === 0) steps.push({ column: columns["created"], sign: -1 });
  return (left, right) => {
    for (const { column, sign } of steps) {
      const [a, b] = [column?.(left) ?? null, column?.(right) ?? null];
      if (a === b) continue;
      if (a === null || b === null) return a === null ? -sign : sign;
      return a < b ? -sign : sign;
    }
    return left.id - right.id;
  };
}

type Filter = (row: DocumentRow) => boolean;

function readFilters(
  query: URLSearchParams,
): { readonly tests: Filter[] } | { readonly errors: Record<string, string[]> } {
  const tests: Filter[] = [];
  const errors: Record<string, string[]> = {};
  for (const [name, text] of query) {
    const time = /^(modified|added)__(gt|gte|lt|lte)$/.exec(name);
    if (time !== null) {
      const us = parseTime(text);
      if (us === undefined) errors[name] = ["Enter a valid date/time."];
      else tests.push(timeTest(time[1] === "modified" ? "modifiedUs" : "addedUs", time[2], us));
    }
    const ids = new Set(text.split(",").map(Number));
    if (name === "tags__id__in") tests.push((row) => row.tags.some((tag) => ids.has(tag)));
    if (name === "correspondent__id__in") tests.push((row) => ids.has(row.correspondent ?? -1));
    if (name === "document_type__id__in") tests.push((row) => ids.has(row.documentType ?? -1));
  }
  return Object.keys(errors).length > 0 ? { errors } : { tests };
}

function timeTest(
  column: "modifiedUs" | "addedUs",
  comparison: string | undefined,
  us: number,
): Filter {
  switch (comparison) {
    case "gt":
      return (row) => row[column] > us;
    case "gte":
      return (row) => row[column] >= us;
    case "lt":
      return (row) => row[column] < us;
    default:
      return (row) => row[column] <= us;
  }
}
