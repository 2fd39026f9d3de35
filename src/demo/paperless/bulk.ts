/** Operations on several documents: bulk edit and the trash. */
import { json, type Reply } from "../control-plane/reply.ts";
import { isVisible } from "./access.ts";
import { INSUFFICIENT, invalid, plain, serverError } from "./answers.ts";
import type { DocumentRow, Estate, User } from "./types.ts";

const OK = { result: "OK" };
const METHODS = new Set([
  "add_tag",
  "remove_tag",
  "modify_tags",
  "set_correspondent",
  "set_document_type",
  "modify_custom_fields",
  "delete",
]);

/** The whole call is refused for one document that is not there. */
export function bulkEdit(body: Record<string, unknown>, estate: Estate, user: User): Reply {
  const { method, parameters } = body;
  if (typeof method !== "string" || !METHODS.has(method))
    return invalid({ method: [`"${textOf(method)}" is not a valid choice.`] });
  const rows = readDocuments(body["documents"], estate);
  if (rows === undefined)
    return invalid({
      documents: ["Some documents in documents don't exist or were specified twice."],
    });
  const given = (parameters ?? {}) as Record<string, unknown>;
  const problem = wrongParameter(method, given, estate);
  if (problem !== undefined) return invalid({ non_field_errors: [problem] });
  if (!user.mayChange || rows.some((row) => !isVisible(row, user))) return plain(403, INSUFFICIENT);
  if (estate.redis === "down")
    return plain(400, "Error performing bulk edit, check logs for more detail.");
  if (method === "delete") for (const { id } of rows) estate.trash(id);
  else {
    const changed = rows.filter((row) => applyTo(row, method, given, estate));
    estate.touchLater(changed.map(({ id }) => id));
  }
  return json(OK);
}

/** The way of 3.x, without a method. */
export function bulkDelete(body: Record<string, unknown>, estate: Estate, user: User): Reply {
  return bulkEdit({ documents: body["documents"], method: "delete" }, estate, user);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function readDocuments(ids: unknown, { documents }: Estate): DocumentRow[] | undefined {
  if (!Array.isArray(ids) || new Set(ids).size !== ids.length) return undefined;
  const rows = ids.map((id) => documents.get(id as number));
  return rows.every((row) => row !== undefined && row.deletedAtUs === null)
    ? (rows as DocumentRow[])
    : undefined;
}

function wrongParameter(
  method: string,
  parameters: Record<string, unknown>,
  { references }: Estate,
): string | undefined {
  if (method === "add_tag" || method === "remove_tag") {
    if (parameters["tag"] === undefined) return "tag not specified";
    if (!references.tags.has(parameters["tag"] as number)) return "Tag does not exist";
  }
  if (method === "set_correspondent") {
    const id = parameters["correspondent"];
    if (id === undefined) return "correspondent not specified";
    if (id !== null && !references.correspondents.has(id as number))
      return "Correspondent does not exist";
  }
  if (method === "set_document_type") {
    const id = parameters["document_type"];
    if (id === undefined) return "document_type not specified";
    if (id !== null && !references.document_types.has(id as number))
      return "Document type does not exist";
  }
  return undefined;
}

/** Whether anything changed. */
function applyTo(
  row: DocumentRow,
  method: string,
  parameters: Record<string, unknown>,
  estate: Estate,
): boolean {
  const before = JSON.stringify([row.tags, row.correspondent, row.documentType]);
  const list = (name: string): number[] => (parameters[name] ?? []) as number[];
  const add = method === "add_tag" ? [parameters["tag"] as number] : list("add_tags");
  const remove = method === "remove_tag" ? [parameters["tag"] as number] : list("remove_tags");
  estate.editQuietly(row.id, {
    tags: [...new Set([...row.tags, ...add])].filter((tag) => !remove.includes(tag)),
    ...(method === "set_correspondent"
      ? { correspondent: parameters["correspondent"] as number | null }
      : {}),
    ...(method === "set_document_type"
      ? { documentType: parameters["document_type"] as number | null }
      : {}),
  });
  return (
    method === "modify_custom_fields" ||
    before !== JSON.stringify([row.tags, row.correspondent, row.documentType])
  );
}

/** Empties the trash or takes documents out of it. */
export function trashAction(body: Record<string, unknown>, estate: Estate, user: User): Reply {
  const { action, documents: ids } = body;
  if (action === undefined) return invalid({ action: ["This field is required."] });
  if (action !== "empty" && action !== "restore")
    return invalid({ action: [`"${textOf(action)}" is not a valid choice.`] });
  const named = ids === undefined ? undefined : [ids].flat().map(Number);
  if (named === undefined && action === "restore") return serverError();
  const trashed = [...estate.documents.values()].filter((row) => row.deletedAtUs !== null);
  if (named?.some((id) => !trashed.some((row) => row.id === id)) === true)
    return invalid({
      documents: ["Some documents in the list have not yet been deleted."],
    });
  const meant =
    named === undefined
      ? trashed.filter((row) => row.owner === null || row.owner === user.id)
      : trashed.filter((row) => named.includes(row.id));
  if (meant.some((row) => !isVisible(row, user))) return plain(403, INSUFFICIENT);
  const done = meant.map(({ id }) => id);
  if (action === "empty") estate.purge(done);
  else for (const id of done) estate.restore(id);
  return json({ ...OK, doc_ids: done });
}
