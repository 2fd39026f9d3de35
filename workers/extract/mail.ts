/** A mail (RFC 5322, MIME): its subject and body, and its attachments as members. */
import PostalMime from "postal-mime";
import type { Address, Attachment, Email } from "postal-mime";
import { readText } from "../text/read-text.ts";
import { Refusal } from "./extractor.ts";
import type { Extractor, Member } from "./extractor.ts";
import { htmlToText } from "./html.ts";
import { withCharsets } from "./mail-charsets.ts";
import { createMemberNames } from "./member-names.ts";

const limits = { maxNestingDepth: 32, maxHeadersSize: 1024 * 1024, maxRfc822NestingDepth: 4 };
/** The most attachments that are read. */
const MAX_MEMBERS = 200;

/**
 * The line that a mailbox puts before each mail, with a time, and the first header of that mail.
 * Lines of a mail that look like it are marked by `>`. Bounded, since a repetition over millions of
 * characters may exceed the stack of the expression.
 */
const FURTHER_MAIL = /\nFrom (?=[^\r\n]{0,500}\d\d:\d\d)[^\r\n]{1,500}\r?\n[!-9;-~]{1,200}:/;

/** Stands for bytes that are no text in the charset that they are said to have. */
const UNREADABLE = "\ufffd";
/** Shifts to another set of characters, in a charset that ASCII is taken for. */
const ESCAPE = "\x1b";

/** A mail. What is forwarded inline belongs to its body. */
export const extract: Extractor = async (bytes, { units, whole }) => {
  const { mail, encodings } = await read(isMbox(bytes) ? onlyMailOf(bytes) : bytes);
  if (mail.headers.length === 0) throw new Refusal("broken mail", "has no headers of a mail");
  const { text: body, complete } = bodyOf(mail, units);
  const attachments = mail.attachments.slice(0, MAX_MEMBERS);
  const text = [mail.subject, body].filter(Boolean).join("\n\n");
  const isDamaged = text.includes(UNREADABLE);
  return {
    text,
    truncated: !whole || !complete,
    omits: isDamaged,
    apart: envelopeOf(mail),
    title: mail.subject,
    createdDate: dateOf(mail),
    correspondent: mail.from && nameOf(mail.from),
    notes: [
      ...[...encodings].map((encoding) => `read as ${encoding}`),
      ...(isDamaged ? ["some of its characters cannot be read"] : []),
      ...(mail.attachments.length > MAX_MEMBERS
        ? [`${mail.attachments.length - MAX_MEMBERS} of its attachments were not read`]
        : []),
    ],
    members: withUniqueNames(attachments),
  };
};

/** Day, month, year and time of RFC 5322, and a zone if there is one. */
const DATE =
  /^(?:[a-z]{3},? ?)?\d{1,2} [a-z]{3} (?:\d{2}|\d{4}) \d{1,2}:\d\d(?::\d\d)?( (?![ap]m)[a-z]+| ?[+-]\d{4})?$/i;
/** May follow a zone: `+0200 (CEST)`. */
const COMMENT = /\([^()]*\)/g;

/** By ISO 8601, a time without a zone in UTC; as it is written where that is not RFC 5322. */
function dateOf({ headers }: Email): string | undefined {
  const written = headers.find(({ key }) => key === "date")?.value;
  const plain = (written ?? "").replaceAll(COMMENT, "").replaceAll(/\s+/g, " ").trim();
  const match = DATE.exec(plain);
  if (match === null) return written;
  const at = new Date(match[1] === undefined ? `${plain} GMT` : plain);
  return Number.isNaN(at.getTime()) ? written : at.toISOString();
}

const ENVELOPE: readonly string[] = ["date", "from", "to", "cc"];

/**
 * Who wrote to whom and when: the same notice comes every month, and to several people. The way that
 * a mail took is left out, so that what came twice is still a copy.
 */
function envelopeOf({ headers }: Email): string {
  return ENVELOPE.map((name) =>
    headers
      .filter(({ key }) => key === name)
      .map(({ value }) => value.replaceAll(/\s+/g, " ").trim())
      .join(),
  ).join("\n");
}

interface ReadMail {
  readonly mail: Email;
  /** Of texts that name no charset, as far as they are not UTF-8. */
  readonly encodings: ReadonlySet<string>;
}

async function read(bytes: Uint8Array): Promise<ReadMail> {
  const mail = await parse(bytes);
  const { subject, from, text, html } = mail;
  const isDoubtful = [subject, from?.name, text, html].some(
    (part) => part?.includes(UNREADABLE) === true || part?.includes(ESCAPE) === true,
  );
  if (!isDoubtful) return { mail, encodings: new Set() };
  const { mail: named, added } = withCharsets(bytes);
  // A mail that is attached must stay as it is saved.
  return { mail: { ...(await parse(named)), attachments: mail.attachments }, encodings: added };
}

async function parse(bytes: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(bytes, { attachmentEncoding: "arraybuffer", ...limits });
  } catch {
    throw new Refusal("broken mail", "cannot be read as mail");
  }
}

function isMbox(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "From ";
}

/** The mail of a mailbox. A parser would lose further ones or take them for its text. */
function onlyMailOf(mbox: Uint8Array): Uint8Array {
  const latin = Buffer.from(mbox.buffer, mbox.byteOffset, mbox.byteLength).toString("latin1");
  if (FURTHER_MAIL.test(latin))
    throw new Refusal(
      "mailbox",
      "is a mailbox of several mails, of which each must be a file of its own",
    );
  return mbox.subarray(mbox.indexOf(10) + 1);
}

interface Body {
  readonly text: string;
  readonly complete: boolean;
}

/**
 * The alternative with more words, the plain one when they have as many: one of them may only say
 * that the other is to be read.
 */
function bodyOf({ text = "", html = "" }: Email, units: number): Body {
  const plain = { text, complete: true };
  if (html.trim() === "") return plain;
  // Markup takes several times the space of its text; what is beyond is cut off.
  const limit = 8 * units;
  const page = htmlToText(html.slice(0, limit));
  const marked = { text: page.text, complete: page.complete && html.length <= limit };
  if (wordsOf(text) < wordsOf(marked.text)) return marked;
  // What was not read of the page may say more than this text.
  return text.trim() === "" ? marked : { text, complete: marked.complete };
}

/** As the analysis counts them. */
function wordsOf(text: string): number {
  return readText(text, 1).words;
}

function nameOf(from: Address): string | undefined {
  return from.name || (from.group === undefined ? from.address : undefined) || undefined;
}

function withUniqueNames(attachments: readonly Attachment[]): Member[] {
  const memberName = createMemberNames();
  // A declared charset is not used: the saved attachment has none, and is to have the same text.
  return attachments.map(({ filename, mimeType, content }, at) => ({
    name: memberName(
      filename ?? "",
      at,
      `attachment-${at + 1}${mimeType === "message/rfc822" ? ".eml" : ""}`,
    ),
    bytes: bytesOf(content),
  }));
}

function bytesOf(content: Attachment["content"]): Uint8Array {
  if (typeof content === "string") return Buffer.from(content);
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}
