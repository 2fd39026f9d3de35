/**
 * Writes to one Paperless-ngx, one at a time: with its default database, changes at the same time
 * fail each other. A write whose outcome is unknown is never sent again blindly: after a pause the
 * archive is read, and only what is still missing is sent again.
 */
import { backoffMs } from "../../kernel/async/backoff.ts";
import { createSemaphore } from "../../kernel/async/semaphore.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { failureClasses, failureOf } from "../../kernel/client/failure.ts";
import { readId, readNamed, type NamedObject } from "./decode.ts";
import { asPaperlessError, isMissing, notPaperless } from "./failures.ts";
import { readTable, type LabelList } from "./label-lists.ts";
import type { MediaKind, PaperlessCall, PaperlessClient } from "./client.ts";
import type { StreamedReply } from "../../kernel/client/types.ts";
import {
  LIVE_FIELDS,
  missingChange,
  readLive,
  readNotes,
  type DocumentChange,
  type LiveDocument,
} from "./live-document.ts";

/** What is written, and read around it. Errors are the archive's, code `upstream`. */
export interface PaperlessWriter {
  readonly name: string;
  /** The document at this moment; undefined when it is in the trash, gone, or not visible. */
  document(id: number, signal: AbortSignal): Promise<LiveDocument | undefined>;
  /**
   * Changes a document. `change` gets the document as it is, before each attempt, and returns what
   * it must be; what it shows already is not sent. Returns the document afterwards; undefined when
   * it is gone.
   */
  update(
    id: number,
    change: (live: LiveDocument) => DocumentChange,
    signal: AbortSignal,
  ): Promise<LiveDocument | undefined>;
  /** Adds a note unless the document has the same one. False when the document is gone. */
  addNote(id: number, note: string, signal: AbortSignal): Promise<boolean>;
  /** Moves a document to the trash of the archive; `absent` when it was gone before. */
  trash(id: number, signal: AbortSignal): Promise<"trashed" | "absent">;
  /** Adds a tag to documents with as few calls as possible; those that are gone are skipped. */
  addTag(ids: readonly number[], tag: number, signal: AbortSignal): Promise<void>;
  /** The object with exactly this name, made without automatic matching when there is none. */
  ensureLabel(
    list: LabelList,
    name: string,
    signal: AbortSignal,
  ): Promise<NamedObject & { readonly created: boolean }>;
  /** Names of labels by their ids, in their order; `#7` for one that is gone. */
  labelNames(list: LabelList, ids: readonly number[], signal: AbortSignal): Promise<string[]>;
  /** All names of a list that the user sees, by id. */
  labels(list: LabelList, signal: AbortSignal): Promise<ReadonlyMap<number, string>>;
  /** Documents in the trash that the user sees. */
  trashCount(signal: AbortSignal): Promise<number>;
  /** Deletes the user's own and ownerless documents of the trash for good; their number. */
  emptyTrash(signal: AbortSignal): Promise<number>;
  /** The file of a document, as it arrives; the body must be read or dropped. */
  media(kind: MediaKind, id: number, signal: AbortSignal): Promise<StreamedReply>;
}

const ATTEMPTS = 4;
/** The database there waits 5 s for its lock before it fails. */
const BACKOFF = { firstMs: 6_000, maxMs: 60_000 };
const BULK_DOCUMENTS = 500;
const NAME_CHARACTERS = 128;
const SAME_NAMES = 100;

interface WriterDeps {
  readonly client: PaperlessClient;
  readonly clock: Clock;
}

/** How one write is repeated. */
interface Write<T> {
  /** For messages: `deleting document 7`. */
  readonly what: string;
  /** Reads what is there and sends what is missing. Called again after a failure. */
  readonly attempt: (number: number) => Promise<T>;
  /**
   * After a refusal with 400 it is attempted once more, at once: it may be done already, or a
   * document of many may be gone. Otherwise such a refusal is final.
   */
  readonly looksAgain?: boolean;
}

export function createPaperlessWriter({ client, clock }: WriterDeps): PaperlessWriter {
  const { name } = client;
  const writers = createSemaphore(1);

  async function write<T>(
    { what, attempt, looksAgain = false }: Write<T>,
    signal: AbortSignal,
  ): Promise<T> {
    using _turn = await writers.acquire(signal);
    let isSecondLookLeft = looksAgain;
    for (let number = 1; ; number++)
      try {
        return await attempt(number);
      } catch (error) {
        const failure = failureOf(error);
        if (failure === undefined || signal.aborted) throw error;
        if (failure.class === "rejected" && failure.status === 400 && isSecondLookLeft) {
          isSecondLookLeft = false;
          continue;
        }
        const isPassing = failureClasses[failure.class].passing;
        if (!isPassing || number >= ATTEMPTS) throw asPaperlessError(name, error, what);
        const waitMs = failure.retryAfterMs ?? backoffMs(number, BACKOFF);
        await delay(clock, Math.min(waitMs, BACKOFF.maxMs), signal);
      }
  }

  /** Errors are those of the HTTP client. */
  async function read(id: number, signal: AbortSignal): Promise<LiveDocument | undefined> {
    let value: unknown;
    try {
      ({ value } = await client.send(
        {
          operation: "document",
          method: "GET",
          path: `/api/documents/${id}/`,
          query: { fields: LIVE_FIELDS },
        },
        signal,
      ));
    } catch (error) {
      if (isMissing(failureOf(error))) return undefined;
      throw error;
    }
    const live = readLive(value);
    if ("wrong" in live) throw notPaperless(name, `document ${id} ${live.wrong}`);
    return live;
  }

  /** The body of an answer; undefined when the object is missing. */
  async function sendTo(call: PaperlessCall, signal: AbortSignal): Promise<unknown> {
    try {
      return (await client.send(call, signal)).value ?? null;
    } catch (error) {
      if (isMissing(failureOf(error))) return undefined;
      throw error;
    }
  }

  async function findLabel(
    list: LabelList,
    label: string,
    signal: AbortSignal,
  ): Promise<NamedObject | undefined> {
    const query = { name__iexact: label, page_size: SAME_NAMES, ordering: "id" };
    const { value } = await client.send(
      { operation: list, method: "GET", path: `/api/${list}/`, query },
      signal,
    );
    const { results } = (value ?? {}) as { readonly results?: unknown };
    if (!Array.isArray(results)) throw notPaperless(name, `the list of ${list} has no results`);
    // Names that differ by case are different objects; of several owners' the oldest counts.
    return results
      .map(readNamed)
      .filter((one): one is NamedObject => !("wrong" in one) && one.name === label)
      .toSorted((a, b) => a.id - b.id)[0];
  }

  return {
    name,
    async document(id, signal) {
      try {
        return await read(id, signal);
      } catch (error) {
        throw asPaperlessError(name, error);
      }
    },
    update: (id, change, signal) =>
      write(
        {
          what: `changing document ${id}`,
          attempt: async () => {
            const live = await read(id, signal);
            const body = live && missingChange(live, change(live));
            if (live === undefined || body === undefined) return live;
            const value = await sendTo(
              {
                operation: "patch_document",
                method: "PATCH",
                path: `/api/documents/${id}/`,
                query: { fields: LIVE_FIELDS },
                body,
              },
              signal,
            );
            if (value === undefined) return undefined;
            const changed = readLive(value);
            return "wrong" in changed ? await read(id, signal) : changed;
          },
        },
        signal,
      ),
    addNote: (id, note, signal) =>
      write(
        {
          what: `adding a note to document ${id}`,
          attempt: async () => {
            const path = `/api/documents/${id}/notes/`;
            const notes = await sendTo({ operation: "notes", method: "GET", path }, signal);
            if (notes === undefined) return false;
            if (readNotes(notes).some((one) => one.note === note)) return true;
            const call = { operation: "add_note", method: "POST", body: { note } } as const;
            return (await sendTo({ ...call, path }, signal)) !== undefined;
          },
        },
        signal,
      ),
    trash: (id, signal) =>
      write(
        {
          what: `deleting document ${id}`,
          // Another deletion at the same time may have been faster.
          looksAgain: true,
          attempt: async (number) => {
            if (number > 1 && (await read(id, signal)) === undefined) return "trashed";
            const call = { operation: "delete_document", method: "DELETE" } as const;
            const value = await sendTo({ ...call, path: `/api/documents/${id}/` }, signal);
            if (value !== undefined || number > 1) return "trashed";
            return "absent";
          },
        },
        signal,
      ),
    async addTag(ids, tag, signal) {
      for (let at = 0; at < ids.length; at += BULK_DOCUMENTS)
        await write(
          {
            what: `adding tag ${tag} to documents`,
            // One document that is gone refuses the call for all.
            looksAgain: true,
            attempt: async () => {
              const slice = ids.slice(at, at + BULK_DOCUMENTS);
              const missing = await untagged(slice, tag, signal);
              if (missing.length === 0) return;
              const body = { documents: missing, method: "add_tag", parameters: { tag } };
              const path = "/api/documents/bulk_edit/";
              await client.send({ operation: "bulk_edit", method: "POST", path, body }, signal);
            },
          },
          signal,
        );
    },
    async ensureLabel(list, wanted, signal) {
      const label = wanted.trim();
      if (label === "" || Array.from(label).length > NAME_CHARACTERS)
        throw new StewardError(
          "invalid",
          `a name in ${list} must have 1 to ${NAME_CHARACTERS} characters; choose another one`,
        );
      return await write(
        {
          what: `creating an object in ${list}`,
          // Another one made it meanwhile: the second look finds it.
          looksAgain: true,
          attempt: async (number) => {
            const found = await findLabel(list, label, signal);
            if (found !== undefined) return { ...found, created: number > 1 };
            const body = { name: label, matching_algorithm: 0 };
            const { value } = await client.send(
              { operation: `create_${list}`, method: "POST", path: `/api/${list}/`, body },
              signal,
            );
            const made = readNamed(value);
            if ("wrong" in made) throw notPaperless(name, `a new object in ${list} ${made.wrong}`);
            return { ...made, created: true };
          },
        },
        signal,
      );
    },
    async labelNames(list, ids, signal) {
      const names: string[] = [];
      for (const id of ids)
        try {
          const call = { operation: list, method: "GET", path: `/api/${list}/${id}/` } as const;
          const label = readNamed(await sendTo(call, signal));
          names.push("wrong" in label ? `#${id}` : label.name);
        } catch (error) {
          throw asPaperlessError(name, error);
        }
      return names;
    },
    labels: (list, signal) => readTable(client, list, signal),
    async trashCount(signal) {
      const page = await client.page("trash", { page_size: 1 }, signal);
      return page?.count ?? 0;
    },
    async emptyTrash(signal) {
      using _turn = await writers.acquire(signal);
      const body = { action: "empty" };
      try {
        // Sent once: whatever is thrown away after it is not meant.
        const { value } = await client.send(
          { operation: "trash_action", method: "POST", path: "/api/trash/", body },
          signal,
        );
        const { doc_ids: ids } = (value ?? {}) as { readonly doc_ids?: unknown };
        if (!Array.isArray(ids)) throw notPaperless(name, "emptying the trash gave no list");
        return ids.length;
      } catch (error) {
        throw asPaperlessError(name, error, "emptying the trash");
      }
    },
    media: (kind, id, signal) => client.media(kind, id, signal),
  };

  /** Those of the documents that are there and lack the tag. */
  async function untagged(
    ids: readonly number[],
    tag: number,
    signal: AbortSignal,
  ): Promise<number[]> {
    const query = { id__in: ids.join(","), page_size: ids.length, fields: "id,tags" };
    const page = await client.page("documents", query, signal);
    const asked = new Set(ids);
    return (page?.results ?? []).flatMap((entry) => {
      const id = readId(entry);
      const { tags } = entry as { readonly tags?: unknown };
      return id === undefined || !asked.has(id) || (Array.isArray(tags) && tags.includes(tag))
        ? []
        : [id];
    });
  }
}
