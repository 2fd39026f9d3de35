/** Files of documents: a small PDF of the text, and a thumbnail. */
import { createHash } from "node:crypto";
import { headerOf, type Call, type Reply } from "../control-plane/reply.ts";
import { isVisible } from "./access.ts";
import { detail, INSUFFICIENT, plain } from "./answers.ts";
import type { Operation } from "./operations.ts";
import type { DocumentRow, Estate, User } from "./types.ts";
import { drawThumbnail } from "./thumbnail.ts";
import { fileName } from "./views.ts";

const LINES = 60;
const LINE_CHARACTERS = 90;

/** Preview, download or thumbnail. A document in the trash and a newer version have a preview. */
export function media(
  call: Call<Operation>,
  kind: "preview" | "download" | "thumb",
  estate: Estate,
  user: User,
): Reply {
  const id = Number(call.params[0]);
  const row =
    estate.documents.get(id) ??
    [...estate.documents.values()].find((one) => one.versions.some((version) => version.id === id));
  if (row === undefined) return detail(404, "Not found.");
  if (!isVisible(row, user)) return plain(403, INSUFFICIENT);
  return kind === "thumb" ? thumbnail(call, row, estate) : file(call, kind, row, estate);
}

function file(
  call: Call<Operation>,
  kind: "preview" | "download",
  row: DocumentRow,
  estate: Estate,
): Reply {
  if (!row.hasFile) return detail(404, "Not found.");
  const body = renderPdf(row.versions[0]?.content ?? row.content);
  const name = fileName(row, estate);
  const ascii = name.replaceAll(/[^\x20-\x7e]|["\\]/g, "?");
  const validators =
    kind === "download" || row.deletedAtUs !== null
      ? {}
      : {
          "last-modified": new Date(row.modifiedUs / 1_000).toUTCString(),
          ...(row.hasArchiveFile ? { etag: `"${row.checksum}"` } : {}),
          "cache-control": "no-cache",
        };
  if (isFresh(call, validators)) return { status: 304, headers: validators };
  return {
    status: 200,
    body,
    headers: {
      ...validators,
      "content-type": row.mimeType,
      "content-disposition": `${kind === "preview" ? "inline" : "attachment"}; filename="${ascii}"; filename*=utf-8''${encodeURIComponent(name)}`,
    },
  };
}

function thumbnail(call: Call<Operation>, row: DocumentRow, estate: Estate): Reply {
  if (!row.hasThumbnail) return detail(404, "Not found.");
  const newer = estate.release === "3.0.5";
  const picture = drawThumbnail(row.versions[0]?.content ?? row.content);
  const validators = {
    "last-modified": new Date(row.addedUs / 1_000).toUTCString(),
    "cache-control": "no-cache",
    ...(newer ? { etag: `"${createHash("sha256").update(picture).digest("hex")}"` } : {}),
  };
  if (isFresh(call, validators)) return { status: 304, headers: validators };
  return {
    status: 200,
    body: picture,
    headers: {
      ...validators,
      "content-type": "image/webp",
      ...(newer
        ? { "content-disposition": `inline; filename="${String(row.id).padStart(7, "0")}.webp"` }
        : {}),
    },
  };
}

function isFresh(call: Call<Operation>, validators: Readonly<Record<string, string>>): boolean {
  const { etag, "last-modified": modified } = validators;
  const tags = headerOf(call, "if-none-match");
  if (tags !== undefined) return etag !== undefined && tags.includes(etag);
  const since = Date.parse(headerOf(call, "if-modified-since") ?? "");
  return modified !== undefined && since >= Date.parse(modified);
}

/** One page in Helvetica with the first lines of a text. */
function renderPdf(text: string): Buffer {
  const lines = (text.match(new RegExp(`.{1,${LINE_CHARACTERS}}`, "gu")) ?? []).slice(0, LINES);
  const drawn = lines
    .map((line) => `(${line.replaceAll(/[^\x20-\x7e]/g, "?").replaceAll(/[\\()]/g, "\\$&")}) '`)
    .join("\n");
  const stream = `BT /F1 10 Tf 12 TL 40 800 Td\n${drawn}\nET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  return Buffer.from(
    `${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`,
    "latin1",
  );
}
