/** Files of documents in Paperless-ngx, passed on without anything that could act on our origin. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { MediaKind } from "../paperless/client.ts";
import type { PaperlessWriter } from "../paperless/writer.ts";

/** A file that is passed on. */
export interface PassedFile {
  /** One of those that browsers show and never run, or `application/octet-stream`. */
  readonly contentType: string;
  readonly body: AsyncGenerator<Uint8Array, void, undefined>;
}

const PICTURES = ["image/webp", "image/png", "image/jpeg", "image/gif"];
const SHOWN: Readonly<Record<MediaKind, ReadonlySet<string>>> = {
  preview: new Set([
    ...PICTURES,
    "application/pdf",
    "text/plain",
    "image/tiff",
    "image/bmp",
    "image/heic",
    "image/avif",
  ]),
  thumb: new Set(PICTURES),
};
const DEFAULT: Readonly<Record<MediaKind, string>> = {
  preview: "application/pdf",
  thumb: "image/webp",
};
export const OPAQUE = "application/octet-stream";

/** Opens a file. HTML is no file of Paperless-ngx but the page of a proxy or a login. */
export async function openFile(
  writer: PaperlessWriter,
  kind: MediaKind,
  id: number,
  signal: AbortSignal,
): Promise<PassedFile> {
  const reply = await writer.media(kind, id, signal);
  const { headers, body } = reply;
  const type = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (/html|javascript|ecmascript/.test(type)) {
    reply.drop();
    throw new StewardError(
      "upstream",
      `archive ${writer.name} answers with a page instead of the ${kind} of document ${id}`,
      { remedy: "check whether a proxy or a login page answers in place of Paperless-ngx" },
    );
  }
  if (SHOWN[kind].has(type))
    return { contentType: type === "text/plain" ? "text/plain; charset=utf-8" : type, body };
  return { contentType: type === "" ? DEFAULT[kind] : OPAQUE, body };
}
