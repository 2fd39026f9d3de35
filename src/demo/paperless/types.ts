/** Rows of the simulated Paperless-ngx, and its options. */
import type { Secret } from "../../kernel/base/secret.ts";
import type { ControlPlaneDeps } from "../control-plane/server.ts";
import type { ReferenceKind } from "./operations.ts";

/** The two releases whose answers were captured. */
export type Release = "3.0.5" | "2.20.15";

/** A value of a custom field: its type depends on the field. */
export interface CustomValue {
  readonly field: number;
  readonly value: unknown;
}

interface Note {
  readonly id: number;
  readonly note: string;
  /** Microseconds since 1970, as all times here. */
  readonly createdUs: number;
  readonly user: number;
}

/** A newer file of a document: a row with an id of its own that no list shows. */
interface FileVersion {
  readonly id: number;
  readonly addedUs: number;
  readonly label: string | null;
  readonly content: string;
  readonly checksum: string;
}

/** A document, in the trash or not. */
export interface DocumentRow {
  readonly id: number;
  title: string;
  /** Of the first file; the text shown is that of the newest version. */
  content: string;
  /** `YYYY-MM-DD`. */
  created: string;
  modifiedUs: number;
  readonly addedUs: number;
  deletedAtUs: number | null;
  correspondent: number | null;
  documentType: number | null;
  storagePath: number | null;
  tags: number[];
  archiveSerialNumber: number | null;
  readonly originalFileName: string | null;
  readonly hasArchiveFile: boolean;
  owner: number | null;
  notes: Note[];
  customFields: CustomValue[];
  readonly pageCount: number | null;
  readonly mimeType: string;
  readonly checksum: string;
  versions: FileVersion[];
  /** The file and the thumbnail exist on the disk. */
  hasFile: boolean;
  hasThumbnail: boolean;
}

/** A tag, correspondent, document type or storage path. */
export interface ReferenceRow {
  readonly id: number;
  name: string;
  readonly matchingAlgorithm: number;
  readonly owner: number | null;
  /** Tags only. */
  readonly color: string;
  readonly isInboxTag: boolean;
  readonly parent: number | null;
  /** Storage paths only. */
  readonly path: string;
}

export interface FieldRow {
  readonly id: number;
  readonly name: string;
  readonly dataType: string;
  readonly extraData: unknown;
}

/** What a user may do with all that is visible to him. */
export interface User {
  readonly id: number;
  readonly username: string;
  readonly password: Secret;
  readonly token: Secret;
  readonly superuser: boolean;
  readonly mayView: boolean;
  readonly mayChange: boolean;
}

/** A document to start with; missing fields get defaults. */
export type NewDocument = Partial<DocumentRow> & Pick<DocumentRow, "title" | "content">;

/** What the archive holds, changed by requests and by tests. */
export interface Estate {
  readonly release: Release;
  readonly users: readonly User[];
  /** Live and trashed documents by id. */
  readonly documents: ReadonlyMap<number, DocumentRow>;
  readonly references: Readonly<Record<ReferenceKind, Map<number, ReferenceRow>>>;
  readonly customFields: ReadonlyMap<number, FieldRow>;
  /** Offset of the times shown: `berlin` has +01:00 in winter and +02:00 in summer. */
  zone: "utc" | "berlin";
  /**
   * Whether Redis runs. Without it writes fail in the ways of the real archive: a PATCH and a new
   * tag answer 500 although they are stored, a DELETE answers 400.
   */
  redis: "up" | "down";
  /** Whether the task worker runs. Without it a bulk edit never moves `modified`. */
  worker: "up" | "down";
  /** The newest release that it knows; `0.0.0` without access to the internet. */
  remoteVersion: { readonly version: string; readonly updateAvailable: boolean };
  /** When the classifier was trained and the archive checked; null in a new installation. */
  checkedAt: string | null;
  /** After this time a bulk edit moves `modified`. */
  workerLagMs: number;
  /** How long a PATCH of tags locks the database; another one meanwhile fails. 0: not at all. */
  tagWriteMs: number;
  /** How long the one that fails waits for the lock. */
  busyMs: number;
  /** Changes with every write; for caches. */
  readonly revision: number;
  add(document: NewDocument): DocumentRow;
  /** Changes fields as a user would: `modified` moves. */
  edit(id: number, change: Partial<DocumentRow>): void;
  /** Changes fields without moving `modified`, as a bulk edit does before the worker has run. */
  editQuietly(id: number, change: Partial<DocumentRow>): void;
  trash(id: number): void;
  /** Takes documents out of the trash for good. */
  purge(ids: readonly number[]): void;
  restore(id: number): void;
  addReference(
    kind: ReferenceKind,
    row: Partial<ReferenceRow> & Pick<ReferenceRow, "name">,
  ): ReferenceRow;
  addCustomField(row: Omit<FieldRow, "id">): FieldRow;
  /** Documents keep their `modified`. */
  renameReference(kind: ReferenceKind, id: number, name: string): void;
  /** Takes it from all documents, which keep their `modified`. */
  removeReference(kind: ReferenceKind, id: number): void;
  /** A newer file of a document; its text replaces the one shown. */
  addVersion(id: number, content: string, label?: string): FileVersion;
  /** Moves `modified` of these documents once the worker's lag has passed. */
  touchLater(ids: readonly number[]): void;
  /** Now in microseconds; never twice the same. */
  nowUs(): number;
}

/** How to start it. */
export interface PaperlessOptions extends ControlPlaneDeps {
  /** Default: 3.0.5. */
  readonly release?: Release;
  /** 0 when not given: any that is free. */
  readonly port?: number;
  /** Fills the archive before it listens. */
  readonly fill?: (estate: Estate) => void;
  /** Default: a superuser `archivist`, a `viewer`, and a user `nobody` without rights. */
  readonly users?: readonly User[];
}
