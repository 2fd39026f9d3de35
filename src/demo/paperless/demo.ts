/** The demo's documents in the simulated Paperless-ngx. */
import { inventArchive } from "../archive.ts";
import type { ReferenceKind } from "./operations.ts";
import type { Estate } from "./types.ts";

/** Every so many documents one waits in the inbox. */
const INBOX_EVERY = 9;

/** Fills the archive with invented documents: the same ones, with the same times, for a seed. */
export function fillDemo(seed: number): (estate: Estate) => void {
  return (estate) => {
    const inbox = estate.addReference("tags", {
      name: "inbox",
      color: "#1f78b4",
      isInboxTag: true,
    });
    const idOf = createLookup(estate);
    for (const [index, file] of inventArchive({ seed }).files.entries()) {
      const [folder = "", name = ""] = file.path.split("/");
      const year = String(new Date(file.writtenAtMs).getUTCFullYear());
      estate.add({
        title: file.title,
        content: file.plain,
        addedUs: file.writtenAtMs * 1_000,
        documentType: idOf("document_types", folder),
        tags: [idOf("tags", year), ...(index % INBOX_EVERY === 0 ? [inbox.id] : [])],
        originalFileName: name,
      });
    }
  };
}

/** Ids by name; what is not there yet is added. */
function createLookup(estate: Estate): (kind: ReferenceKind, name: string) => number {
  return (kind, name) => {
    const known = [...estate.references[kind].values()].find((row) => row.name === name);
    return (known ?? estate.addReference(kind, { name })).id;
  };
}
