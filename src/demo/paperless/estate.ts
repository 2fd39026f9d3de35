/** What the simulated archive holds, and how it changes. */
import { createHash } from "node:crypto";
import type { Clock } from "../../kernel/base/clock.ts";
import { assert } from "../../kernel/base/errors.ts";
import type { ReferenceKind } from "./operations.ts";
import type { DocumentRow, Estate, FieldRow, ReferenceRow, Release, User } from "./types.ts";

const DEFAULT_COLOR = "#a6cee3";
const WORKER_LAG_MS = 200;
/** How long SQLite waits for its lock. */
const BUSY_MS = 5_000;

/** The estate with the part that only the simulator itself needs. */
export interface FilledEstate extends Estate {
  /** Moves `modified` of what the worker has come to. */
  settle(): void;
}

export function createEstate(
  { clock }: { readonly clock: Clock },
  release: Release,
  users: readonly User[],
): FilledEstate {
  const documents = new Map<number, DocumentRow>();
  const customFields = new Map<number, FieldRow>();
  const references: Record<ReferenceKind, Map<number, ReferenceRow>> = {
    tags: new Map(),
    correspondents: new Map(),
    document_types: new Map(),
    storage_paths: new Map(),
  };
  let touches: { readonly ids: readonly number[]; readonly atMs: number }[] = [];
  let revision = 0;
  let lastUs = 0;
  let lastId = 0;
  const lastReference: Record<ReferenceKind, number> = {
    tags: 0,
    correspondents: 0,
    document_types: 0,
    storage_paths: 0,
  };
  const at = (id: number): DocumentRow => {
    const row = documents.get(id);
    assert(row !== undefined, `document ${id} exists`);
    return row;
  };
  const nowUs = (): number => (lastUs = Math.max(lastUs + 1, clock.now() * 1_000));
  const change = (id: number, fields: Partial<DocumentRow>, moved: boolean): void => {
    revision += 1;
    Object.assign(at(id), fields, moved ? { modifiedUs: nowUs() } : {});
  };
  const estate: FilledEstate = {
    release,
    users,
    documents,
    references,
    customFields,
    zone: "utc",
    redis: "up",
    worker: "up",
    remoteVersion: { version: "0.0.0", updateAvailable: false },
    checkedAt: null,
    workerLagMs: WORKER_LAG_MS,
    tagWriteMs: 0,
    busyMs: BUSY_MS,
    get revision() {
      return revision;
    },
    nowUs,
    add(given) {
      revision += 1;
      const addedUs = given.addedUs ?? nowUs();
      const id = given.id ?? lastId + 1;
      lastId = Math.max(lastId, id);
      const row: DocumentRow = {
        created: new Date(addedUs / 1_000).toISOString().slice(0, 10),
        modifiedUs: addedUs,
        deletedAtUs: null,
        correspondent: null,
        documentType: null,
        storagePath: null,
        tags: [],
        archiveSerialNumber: null,
        originalFileName: null,
        hasArchiveFile: false,
        owner: null,
        notes: [],
        customFields: [],
        pageCount: 1,
        mimeType: "application/pdf",
        checksum: createHash("sha256").update(given.content).digest("hex"),
        versions: [],
        hasFile: true,
        hasThumbnail: true,
        ...given,
        id,
        addedUs,
      };
      documents.set(id, row);
      return row;
    },
    edit: (id, fields) => change(id, fields, true),
    editQuietly: (id, fields) => change(id, fields, false),
    trash: (id) => change(id, { deletedAtUs: nowUs() }, false),
    restore: (id) => change(id, { deletedAtUs: null }, true),
    purge(ids) {
      revision += 1;
      for (const id of ids) documents.delete(id);
    },
    addReference(kind, row) {
      revision += 1;
      const id = row.id ?? lastReference[kind] + 1;
      lastReference[kind] = Math.max(lastReference[kind], id);
      const added: ReferenceRow = {
        matchingAlgorithm: 1,
        owner: null,
        color: DEFAULT_COLOR,
        isInboxTag: false,
        parent: null,
        path: "",
        ...row,
        id,
      };
      references[kind].set(id, added);
      return added;
    },
    addCustomField(row) {
      revision += 1;
      const added = { ...row, id: customFields.size + 1 };
      customFields.set(added.id, added);
      return added;
    },
    renameReference(kind, id, name) {
      revision += 1;
      const row = references[kind].get(id);
      assert(row !== undefined, `${kind} ${id} exists`);
      row.name = name;
    },
    removeReference(kind, id) {
      revision += 1;
      references[kind].delete(id);
      for (const row of documents.values()) forget(row, kind, id);
    },
    addVersion(id, content, label) {
      const row = at(id);
      const version = {
        id: ++lastId,
        addedUs: nowUs(),
        label: label ?? null,
        content,
        checksum: createHash("sha256").update(content).digest("hex"),
      };
      change(id, { versions: [version, ...row.versions] }, false);
      return version;
    },
    touchLater(ids) {
      if (estate.worker === "up") touches.push({ ids, atMs: clock.now() + estate.workerLagMs });
    },
    settle() {
      const due = touches.filter(({ atMs }) => atMs <= clock.now());
      touches = touches.filter(({ atMs }) => atMs > clock.now());
      for (const id of due.flatMap(({ ids }) => ids)) if (documents.has(id)) change(id, {}, true);
    },
  };
  return estate;
}

function forget(row: DocumentRow, kind: ReferenceKind, id: number): void {
  if (kind === "tags") row.tags = row.tags.filter((tag) => tag !== id);
  if (kind === "correspondents" && row.correspondent === id) row.correspondent = null;
  if (kind === "document_types" && row.documentType === id) row.documentType = null;
  if (kind === "storage_paths" && row.storagePath === id) row.storagePath = null;
}
