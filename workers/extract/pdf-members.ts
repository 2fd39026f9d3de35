/** The files in a PDF: those of a portfolio are documents of their own. */
import type { getDocumentProxy } from "unpdf";
import { stopped } from "../control.ts";
import type { Extraction, Member } from "./extractor.ts";
import { createMemberNames } from "./member-names.ts";

/** The most files of a portfolio that are read. */
const MAX_MEMBERS = 200;
/** All files that are unpacked of one portfolio. */
const UNPACKED_BYTES = 64 * 1024 * 1024;
/** Files without content or room, whose unpacking may take long, before no more are tried. */
const MAX_FAILURES = 5;

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/** Names by the keys that pdf.js has for their content. Broken lists are no reason to refuse. */
export async function embeddedNames(document: PdfDocument): Promise<ReadonlyMap<string, string>> {
  try {
    const attachments = (await document.getAttachments()) ?? new Map<string, never>();
    return new Map([...attachments].map(([key, { filename }]) => [key, filename]));
  } catch {
    return new Map();
  }
}

/** The files of a portfolio, with unique names. Those without content are left out. */
export async function readMembers(
  document: PdfDocument,
  names: ReadonlyMap<string, string>,
  { cancelled }: Extraction,
): Promise<Member[]> {
  const members: Member[] = [];
  const memberName = createMemberNames();
  let leftBytes = UNPACKED_BYTES;
  let failures = 0;
  for (const [at, [key, filename]] of [...names].slice(0, MAX_MEMBERS).entries()) {
    if (cancelled()) throw stopped();
    const bytes = await contentOf(document, key);
    if (bytes === undefined || bytes.byteLength > leftBytes) {
      failures += 1;
      if (failures === MAX_FAILURES) break;
      continue;
    }
    leftBytes -= bytes.byteLength;
    members.push({ name: memberName(filename, at, `file-${at + 1}`), bytes });
  }
  return members;
}

async function contentOf(document: PdfDocument, key: string): Promise<Uint8Array | undefined> {
  try {
    return (await document.getAttachmentContent(key)) ?? undefined;
  } catch {
    return undefined;
  }
}
