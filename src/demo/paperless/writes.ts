/** Changes of documents and references by request, with the archive's checks. */
import { json, type Call, type Reply } from "../control-plane/reply.ts";
import { invalid, plain, serverError } from "./answers.ts";
import type { Operation, ReferenceKind } from "./operations.ts";
import { fieldsOf } from "./listing.ts";
import type { CustomValue, DocumentRow, Estate } from "./types.ts";
import { showDocument, showNotes, showReference, type Viewer } from "./views.ts";

const TITLE_CHARACTERS = 128;
const NAME_CHARACTERS = 128;
const COLOR = /^#[0-9a-f]{6}$/i;
const MONEY = /^([A-Z]{3})?-?\d+(\.\d{1,2})?$/;

type Errors = Record<string, unknown>;

/** Tries a PATCH: every field is checked before any is changed. */
export function patchDocument(
  row: DocumentRow,
  body: Record<string, unknown>,
  call: Call<Operation>,
  viewer: Viewer,
): Reply {
  const { estate } = viewer;
  const errors: Errors = {};
  const change = changeOf(row, body, estate, errors);
  if (Object.keys(errors).length > 0) return invalid(errors);
  estate.edit(row.id, change);
  if (estate.redis === "down") return serverError();
  return json(showDocument(row, viewer, { fields: fieldsOf(call), fullPermissions: true }));
}

function changeOf(
  row: DocumentRow,
  body: Record<string, unknown>,
  estate: Estate,
  errors: Errors,
): Partial<DocumentRow> {
  const change: Partial<DocumentRow> = {};
  const { references } = estate;
  const title = readText(body, "title", TITLE_CHARACTERS, errors);
  if (title !== undefined) change.title = title;
  const content = readText(body, "content", Number.POSITIVE_INFINITY, errors);
  if (content !== undefined) change.content = content;
  const correspondent = readReference(body, "correspondent", references.correspondents, errors);
  if (correspondent !== undefined) change.correspondent = correspondent;
  const documentType = readReference(body, "document_type", references.document_types, errors);
  if (documentType !== undefined) change.documentType = documentType;
  const storagePath = readReference(body, "storage_path", references.storage_paths, errors);
  if (storagePath !== undefined) change.storagePath = storagePath;
  const tags = readTags(body, references.tags, errors);
  if (tags !== undefined) change.tags = withFamily(row.tags, tags, estate);
  const created = readCreated(body, errors);
  if (created !== undefined) change.created = created;
  const number = readSerialNumber(row, body, estate, errors);
  if (number !== undefined) change.archiveSerialNumber = number;
  const fields = readCustomFields(body, estate, errors);
  if (fields !== undefined) change.customFields = fields;
  return change;
}

function readText(
  body: Record<string, unknown>,
  name: string,
  limit: number,
  errors: Errors,
): string | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (value === null) errors[name] = ["This field may not be null."];
  else if (typeof value !== "string") errors[name] = ["Not a valid string."];
  else if (Array.from(value).length > limit)
    errors[name] = [`Ensure this field has no more than ${limit} characters.`];
  else return value;
  return undefined;
}

function unknownId(id: unknown): string {
  return `Invalid pk "${typeof id === "string" ? id : JSON.stringify(id)}" - object does not exist.`;
}

function readReference(
  body: Record<string, unknown>,
  name: string,
  known: ReadonlyMap<number, unknown>,
  errors: Errors,
): number | null | undefined {
  const value = body[name];
  if (value === undefined || value === null) return value;
  const id = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  if (!Number.isInteger(id))
    errors[name] = [`Incorrect type. Expected pk value, received ${typeName(value)}.`];
  else if (!known.has(id)) errors[name] = [unknownId(value)];
  else return id;
  return undefined;
}

function typeName(value: unknown): string {
  return typeof value === "string" ? "str" : Array.isArray(value) ? "list" : "dict";
}

function readTags(
  body: Record<string, unknown>,
  known: ReadonlyMap<number, unknown>,
  errors: Errors,
): number[] | undefined {
  const value = body["tags"];
  if (value === undefined) return undefined;
  if (value === null) errors["tags"] = ["This field may not be null."];
  else if (!Array.isArray(value))
    errors["tags"] = [`Expected a list of items but got type "${typeName(value)}".`];
  else {
    const odd: unknown = value.find((id) => !/^\d+$/.test(String(id)));
    const missing: unknown = value.find((id) => !known.has(Number(id)));
    if (odd !== undefined)
      errors["tags"] = [`Incorrect type. Expected pk value, received ${typeName(odd)}.`];
    else if (missing !== undefined) errors["tags"] = [unknownId(missing)];
    else return [...new Set(value.map(Number))];
  }
  return undefined;
}

/** A new tag brings its ancestors, one that goes takes its descendants along. */
function withFamily(
  before: readonly number[],
  asked: readonly number[],
  { references: { tags } }: Estate,
): number[] {
  const ancestors = (id: number): number[] => {
    const parent = tags.get(id)?.parent ?? null;
    return parent === null ? [] : [parent, ...ancestors(parent)];
  };
  const removed = before.filter((id) => !asked.includes(id));
  const added = asked.filter((id) => !before.includes(id));
  const kept = asked.filter((id) => !ancestors(id).some((one) => removed.includes(one)));
  return [...new Set([...kept, ...added.filter((id) => kept.includes(id)).flatMap(ancestors)])];
}

function readCreated(body: Record<string, unknown>, errors: Errors): string | undefined {
  const value = body["created"];
  if (value === undefined) return undefined;
  const date = typeof value === "string" ? /^\d{4}-\d\d-\d\d(?=$|T)/.exec(value)?.[0] : undefined;
  if (date === undefined)
    errors["created"] = ["Date has wrong format. Use one of these formats instead: YYYY-MM-DD."];
  return date;
}

function readSerialNumber(
  row: DocumentRow,
  body: Record<string, unknown>,
  { documents }: Estate,
  errors: Errors,
): number | null | undefined {
  const value = body["archive_serial_number"];
  if (value === undefined || value === null) return value;
  const taken = [...documents.values()].some(
    (other) => other.id !== row.id && other.archiveSerialNumber === value,
  );
  if (typeof value !== "number" || !Number.isInteger(value))
    errors["archive_serial_number"] = ["A valid integer is required."];
  else if (taken)
    errors["archive_serial_number"] = ["document with this archive serial number already exists."];
  else return value;
  return undefined;
}

/** The list replaces all values. */
function readCustomFields(
  body: Record<string, unknown>,
  { customFields }: Estate,
  errors: Errors,
): CustomValue[] | undefined {
  const value = body["custom_fields"];
  if (!Array.isArray(value)) return undefined;
  const problems: unknown[] = [];
  const read = (value as { readonly field: number; readonly value: unknown }[]).map((entry) => {
    const field = customFields.get(entry.field);
    if (field === undefined) problems.push({ field: [unknownId(entry.field)] });
    else if (field.dataType === "monetary" && !MONEY.test(String(entry.value)))
      problems.push({
        non_field_errors: [
          "Must be a two-decimal number with optional currency code e.g. GBP123.45",
        ],
      });
    else if (
      field.dataType === "select" &&
      !optionsOf(field.extraData).some(({ id }) => id === entry.value)
    )
      problems.push({
        non_field_errors: [
          `Value must be an id of an element in [${optionsOf(field.extraData)
            .map(({ label, id }) => `{'label': '${label}', 'id': '${id}'}`)
            .join(", ")}]`,
        ],
      });
    return { field: entry.field, value: entry.value };
  });
  if (problems.length === 0) return read;
  errors["custom_fields"] = problems;
  return undefined;
}

function optionsOf(extra: unknown): readonly { readonly id: string; readonly label: string }[] {
  return (
    (extra as { select_options?: { id: string; label: string }[] } | null)?.select_options ?? []
  );
}

/** A new tag, correspondent or type, owned by the caller. */
export function createReference(
  kind: ReferenceKind,
  body: Record<string, unknown>,
  viewer: Viewer,
): Reply {
  const { estate, user } = viewer;
  const rows = [...estate.references[kind].values()];
  const { name: given, color, matching_algorithm: algorithm } = body;
  if (given === undefined) return invalid({ name: ["This field is required."] });
  const name = typeof given === "string" ? given.trim() : "";
  if (name === "") return invalid({ name: ["This field may not be blank."] });
  if (Array.from(name).length > NAME_CHARACTERS)
    return invalid({
      name: [`Ensure this field has no more than ${NAME_CHARACTERS} characters.`],
    });
  if (color !== undefined && !(typeof color === "string" && COLOR.test(color)))
    return invalid({ color: ["Invalid color."] });
  if (rows.some((row) => row.name === name && row.owner === user.id))
    return invalid({ error: "Object violates owner / name unique constraint" });
  if (rows.some((row) => row.name === name && row.owner === null))
    return invalid({ name: [`${NOUNS[kind]} with this name already exists.`] });
  const row = estate.addReference(kind, {
    name,
    owner: user.id,
    ...(typeof color === "string" ? { color } : {}),
    ...(typeof algorithm === "number" ? { matchingAlgorithm: algorithm } : {}),
  });
  if (estate.redis === "down") return serverError();
  return json(showReference(kind, row, viewer, { created: true }), 201);
}

const NOUNS: Readonly<Record<ReferenceKind, string>> = {
  tags: "tag",
  correspondents: "correspondent",
  document_types: "document type",
  storage_paths: "storage path",
};

/** Moves a document to the trash. */
export function deleteDocument(row: DocumentRow, estate: Estate): Reply {
  if (estate.redis === "down")
    return plain(400, "Error deleting document, check logs for more detail.");
  estate.trash(row.id);
  return { status: 204 };
}

/** Adds a note by the caller; `modified` moves. */
export function addNote(row: DocumentRow, body: Record<string, unknown>, viewer: Viewer): Reply {
  const { estate, user } = viewer;
  const { note } = body;
  if (typeof note !== "string") return serverError();
  const notes = [...estate.documents.values()].flatMap((one) => one.notes);
  const id = notes.reduce((highest, one) => Math.max(highest, one.id), 0) + 1;
  const added = { id, note, createdUs: estate.nowUs(), user: user.id };
  estate.edit(row.id, { notes: [...row.notes, added] });
  if (estate.redis === "down") return serverError();
  return json(showNotes(row, viewer));
}

/** Names of custom fields are unique whoever made them. */
export function createCustomField(body: Record<string, unknown>, estate: Estate): Reply {
  const { name, data_type: dataType, extra_data: extraData = null } = body;
  if (typeof name !== "string" || typeof dataType !== "string")
    return invalid({ name: ["This field is required."] });
  if ([...estate.customFields.values()].some((row) => row.name === name))
    return invalid({ name: ["custom field with this name already exists."] });
  const { id } = estate.addCustomField({ name, dataType, extraData });
  return json({ id, name, data_type: dataType, extra_data: extraData }, 201);
}
