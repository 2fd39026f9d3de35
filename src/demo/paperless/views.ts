/** Rows as the API shows them, in the shape of the release and of the version asked for. */
import { isVisible } from "./access.ts";
import { formatTime } from "./times.ts";
import type { ReferenceKind } from "./operations.ts";
import type { DocumentRow, Estate, ReferenceRow, User } from "./types.ts";

/** Who looks, and in which API version. */
export interface Viewer {
  readonly estate: Estate;
  readonly user: User;
  readonly version: number;
}

export type Shown = Record<string, unknown>;

const FIELDS_WITH_NEWER_KEYS = 10;
const DATE_ONLY_SINCE = 9;
const COLOR_SINCE = 2;
const PLAIN_NOTES_UP_TO = 7;
const DARK_BELOW = 0.53;
const COLORS = [
  ["#a6cee3", "#1f78b4", "#b2df8a", "#33a02c", "#fb9a99", "#e31a1c", "#fdbf6f"],
  ["#ff7f00", "#cab2d6", "#6a3d9a", "#b15928", "#000000", "#cccccc"],
].flat();

/** Whether lists of this version carry the ids of all pages. */
export function listsAllIds(version: number): boolean {
  return version < FIELDS_WITH_NEWER_KEYS;
}

/** A document, without any key that `fields` leaves out. */
export function showDocument(
  row: DocumentRow,
  viewer: Viewer,
  options: {
    readonly fields?: ReadonlySet<string> | undefined;
    readonly fullPermissions?: boolean;
    readonly truncate?: boolean;
  } = {},
): Shown {
  const { estate, version } = viewer;
  const { zone, release } = estate;
  const text = row.versions[0]?.content ?? row.content;
  const all: Record<string, () => unknown> = {
    id: () => row.id,
    correspondent: () => row.correspondent,
    document_type: () => row.documentType,
    storage_path: () => row.storagePath,
    title: () => row.title,
    content: () => (options.truncate === true ? text.slice(0, 550) : text),
    tags: () => byName(row.tags, estate),
    created: () => (version >= DATE_ONLY_SINCE ? row.created : `${row.created}T00:00:00+00:00`),
    created_date: () => row.created,
    modified: () => formatTime(row.modifiedUs, zone),
    added: () => formatTime(row.addedUs, zone),
    deleted_at: () => (row.deletedAtUs === null ? null : formatTime(row.deletedAtUs, zone)),
    archive_serial_number: () => row.archiveSerialNumber,
    original_file_name: () => row.originalFileName,
    archived_file_name: () => (row.hasArchiveFile ? fileName(row, estate) : null),
    ...(release === "3.0.5" ? { duplicate_documents: () => duplicatesOf(row, viewer) } : {}),
    owner: () => row.owner,
    ...(options.fullPermissions === true
      ? {
          permissions: () => ({
            view: { users: [], groups: [] },
            change: { users: [], groups: [] },
          }),
        }
      : {
          user_can_change: () => mayChange(row, viewer.user),
          is_shared_by_requester: () => false,
        }),
    notes: () => row.notes.map((note) => showNote(note, viewer)),
    custom_fields: () => row.customFields.map((value) => showCustom(value, viewer)),
    page_count: () => row.pageCount,
    mime_type: () => row.mimeType,
    ...(release === "3.0.5"
      ? { root_document: () => null, versions: () => showVersions(row, estate) }
      : {}),
  };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => options.fields?.has(name) ?? true)
      .map(([name, value]) => [name, value()]),
  );
}

/** `<created> <correspondent> <title>.pdf`: changes with every rename. */
export function fileName(row: DocumentRow, { references }: Estate): string {
  const correspondent =
    row.correspondent === null ? undefined : references.correspondents.get(row.correspondent)?.name;
  return `${[row.created, correspondent, row.title].filter((part) => part !== undefined).join(" ")}.pdf`;
}

/** A tag, correspondent, type or path. A new one has no count yet. */
export function showReference(
  kind: ReferenceKind,
  row: ReferenceRow,
  viewer: Viewer,
  options: { readonly created?: boolean; readonly lastCorrespondence?: boolean } = {},
): Shown {
  const { estate, user, version } = viewer;
  return {
    id: row.id,
    slug: slugOf(row.name),
    name: row.name,
    ...(kind === "storage_paths" ? { path: row.path } : {}),
    ...(kind === "tags" ? colorOf(row, version) : {}),
    match: "",
    matching_algorithm: row.matchingAlgorithm,
    is_insensitive: true,
    ...(kind === "tags" ? { is_inbox_tag: row.isInboxTag } : {}),
    ...(options.created === true ? {} : { document_count: countOf(kind, row.id, viewer) }),
    ...(kind === "correspondents" && options.lastCorrespondence === true
      ? { last_correspondence: lastCorrespondence(row.id, estate) }
      : {}),
    owner: row.owner,
    user_can_change: user.superuser || row.owner === null || row.owner === user.id,
    ...(kind === "tags" && version >= COLOR_SINCE
      ? {
          parent: row.parent,
          children: [...estate.references.tags.values()]
            .filter(({ parent }) => parent === row.id)
            .map((child) => showReference(kind, child, viewer, options)),
        }
      : {}),
  };
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
}

/** Ids of tags in the order of their lower-case names. */
function byName(ids: readonly number[], { references }: Estate): number[] {
  const nameOf = (id: number): string => references.tags.get(id)?.name.toLowerCase() ?? "";
  return ids.toSorted((left, right) => {
    const [a, b] = [nameOf(left), nameOf(right)];
    return a < b ? -1 : a > b ? 1 : left - right;
  });
}

/** True for what has no owner, although the user may lack the right to change anything. */
function mayChange(row: DocumentRow, user: User): boolean {
  return user.superuser || row.owner === null || row.owner === user.id;
}

function duplicatesOf(row: DocumentRow, { estate, user }: Viewer): unknown[] {
  return [...sameChecksum(estate, row.checksum)]
    .filter((other) => other.id !== row.id && isVisible(other, user))
    .map(({ id, title, deletedAtUs }) => ({
      id,
      title,
      deleted_at: deletedAtUs === null ? null : formatTime(deletedAtUs, estate.zone),
    }));
}

const checksums = new WeakMap<
  Estate,
  { readonly revision: number; readonly rows: ReadonlyMap<string, readonly DocumentRow[]> }
>();

function sameChecksum(estate: Estate, checksum: string): readonly DocumentRow[] {
  const { revision } = estate;
  let known = checksums.get(estate);
  if (known?.revision !== revision) {
    known = { revision, rows: Map.groupBy(estate.documents.values(), (row) => row.checksum) };
    checksums.set(estate, known);
  }
  return known.rows.get(checksum) ?? [];
}

/** The newest first. */
export function showNotes({ notes }: DocumentRow, viewer: Viewer): Shown[] {
  return notes
    .toSorted((a, b) => b.createdUs - a.createdUs || b.id - a.id)
    .map((note) => showNote(note, viewer));
}

function showNote(
  { id, note, createdUs, user }: DocumentRow["notes"][number],
  { estate, version }: Viewer,
): Shown {
  const author = estate.users.find((one) => one.id === user);
  return {
    id,
    note,
    created: formatTime(createdUs, estate.zone),
    user:
      version <= PLAIN_NOTES_UP_TO
        ? user
        : { id: user, username: author?.username ?? "", first_name: "", last_name: "" },
  };
}

/** Up to version 6 a choice was shown by its place. */
function showCustom(
  { field, value }: DocumentRow["customFields"][number],
  { estate, version }: Viewer,
): Shown {
  const known = estate.customFields.get(field);
  const options = (known?.extraData as { select_options?: { id: string }[] } | null | undefined)
    ?.select_options;
  const shown =
    known?.dataType === "select" && version < PLAIN_NOTES_UP_TO
      ? options?.findIndex(({ id }) => id === value)
      : value;
  return { value: shown, field };
}

function showVersions(row: DocumentRow, { zone }: Estate): Shown[] {
  const root = {
    id: row.id,
    added: formatTime(row.addedUs, zone),
    version_label: null,
    checksum: row.checksum,
    is_root: true,
  };
  return [
    ...row.versions.map(({ id, addedUs, label, checksum }) => ({
      id,
      added: formatTime(addedUs, zone),
      version_label: label,
      checksum,
      is_root: false,
    })),
    root,
  ];
}

function colorOf({ color }: ReferenceRow, version: number): Shown {
  if (version < COLOR_SINCE) return { colour: COLORS.indexOf(color) + 1 };
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(
    (from) => Number.parseInt(color.slice(from, from + 2), 16) / 255,
  );
  const light = Math.sqrt(0.299 * red ** 2 + 0.587 * green ** 2 + 0.114 * blue ** 2);
  return { color, text_color: light < DARK_BELOW ? "#ffffff" : "#000000" };
}

const counts = new WeakMap<
  Estate,
  { readonly key: string; readonly of: ReadonlyMap<string, number> }
>();

function countOf(kind: ReferenceKind, id: number, { estate, user }: Viewer): number {
  const key = `${estate.revision}/${user.id}`;
  let known = counts.get(estate);
  if (known?.key !== key) {
    const of = new Map<string, number>();
    const count = (counted: ReferenceKind, one: number | null): void => {
      if (one !== null) of.set(`${counted}/${one}`, (of.get(`${counted}/${one}`) ?? 0) + 1);
    };
    for (const row of estate.documents.values()) {
      if (row.deletedAtUs !== null || !isVisible(row, user)) continue;
      for (const tag of row.tags) count("tags", tag);
      count("correspondents", row.correspondent);
      count("document_types", row.documentType);
      count("storage_paths", row.storagePath);
    }
    known = { key, of };
    counts.set(estate, known);
  }
  return known.of.get(`${kind}/${id}`) ?? 0;
}

function lastCorrespondence(id: number, { documents }: Estate): string | null {
  const dates = [...documents.values()]
    .filter((row) => row.correspondent === id && row.deletedAtUs === null)
    .map(({ created }) => created)
    .toSorted();
  return dates.at(-1) ?? null;
}
