/** The proxy of Paperless-ngx: its trash, and the files of its documents. */
import { ArchiveService } from "../../gen/steward/dedup/v1/archive_pb.ts";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { contentPolicy } from "../../kernel/listen/headers/content-policy.ts";
import { bindService, type BoundService, type PlainRoute } from "../../kernel/service.ts";
import { BAD_REQUEST } from "../../kernel/wire/issues.ts";
import type { Archive } from "../archives/archive.ts";
import type { MediaKind } from "../paperless/client.ts";
import { OPAQUE, openFile } from "./archive-files.ts";
import { paperlessOf } from "./archive-of.ts";

export interface ArchiveApiDeps {
  readonly archives: () => readonly Pick<Archive, "name" | "kind" | "writer">[];
}

const MAX_ID = 2 ** 31 - 1;
/** A browser may show a file for an hour without asking again. */
const CACHED = "private, max-age=3600";
/** From the headers to the last byte, with the time that the client takes. */
const REQUEST_MS = 600_000;

/** All methods of ArchiveService. */
export function archiveHandlers({ archives }: ArchiveApiDeps): BoundService {
  async function* stream(
    kind: MediaKind,
    request: { readonly paperlessId: number; readonly archive: string },
    signal: AbortSignal,
  ): AsyncGenerator<{ contentType?: string; chunk: Uint8Array }> {
    const writer = paperlessOf(archives(), request.archive);
    const { contentType, body } = await openFile(writer, kind, request.paperlessId, signal);
    let isFirst = true;
    for await (const chunk of body) {
      yield isFirst ? { contentType, chunk } : { chunk };
      isFirst = false;
    }
    if (isFirst) yield { contentType, chunk: new Uint8Array() };
  }
  return bindService(ArchiveService, {
    async getTrash({ archive }, { signal }) {
      return { data: { count: await paperlessOf(archives(), archive).trashCount(signal) } };
    },
    async emptyTrash({ archive }, { signal }) {
      const deleted = await paperlessOf(archives(), archive).emptyTrash(signal);
      return { data: { emptied: true, deleted } };
    },
    streamPreview: (request, { signal }) => stream("preview", request, signal),
    streamThumbnail: (request, { signal }) => stream("thumb", request, signal),
  });
}

function fileRouteOf(
  kind: MediaKind,
  description: {
    readonly operationId: string;
    readonly text: string;
    readonly contentType: string;
  },
): Omit<PlainRoute, "handle"> {
  return {
    verb: "GET",
    template: `/api/v1/paperless/documents/{paperless_id}/${kind}`,
    access: Access.OPERATOR,
    dialect: "dedup",
    limits: { requestMs: REQUEST_MS },
    describe: {
      ...description,
      tag: "ArchiveService",
      answer:
        "The file, without an envelope. Its type is the archive's where browsers show it safely, else `application/octet-stream`.",
      variables: { paperlessId: "The document's id in Paperless-ngx." },
      query: { archive: "Name of the archive; the first Paperless-ngx if not given." },
    },
  };
}

/** The routes of files without their handlers. */
export const PREVIEW_ROUTE: Omit<PlainRoute, "handle"> = fileRouteOf("preview", {
  operationId: "downloadPreview",
  text: "Downloads the first file of a document from Paperless-ngx, mostly a PDF.",
  contentType: "application/pdf",
});
export const THUMBNAIL_ROUTE: Omit<PlainRoute, "handle"> = fileRouteOf("thumb", {
  operationId: "downloadThumbnail",
  text: "Downloads the picture of a document's first page from Paperless-ngx.",
  contentType: "image/webp",
});

/** The files of documents over REST. */
export function archiveFileRoutes({ archives }: ArchiveApiDeps): PlainRoute[] {
  const routes = [
    ["preview", PREVIEW_ROUTE],
    ["thumb", THUMBNAIL_ROUTE],
  ] as const;
  return routes.map(([kind, route]) => ({
    ...route,
    async handle({ params, query }, { signal }) {
      const id = idOf(params["paperless_id"] ?? "");
      const writer = paperlessOf(archives(), query.get("archive") ?? "");
      const { contentType, body } = await openFile(writer, kind, id, signal);
      return {
        status: 200,
        headers: {
          "content-type": contentType,
          // The name that Paperless-ngx gives holds correspondent, title and date.
          "content-disposition": contentType === OPAQUE ? "attachment" : "inline",
          "cache-control": CACHED,
          "x-content-type-options": "nosniff",
          "content-security-policy": contentPolicy(),
        },
        body,
      };
    },
  }));
}

function idOf(text: string): number {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (id >= 1 && id <= MAX_ID) return id;
  const message = `${JSON.stringify(text.slice(0, 40))} cannot be the id of a document in Paperless-ngx; use paperlessId of GET /api/v1/documents`;
  throw new StewardError("invalid", message, { field: "paperlessId", rule: BAD_REQUEST });
}
