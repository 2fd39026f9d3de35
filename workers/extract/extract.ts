/**
 * Reads files in a worker: finds out what each is, extracts its text and goes into what is
 * packed in it. Runs on the pool because the slowest formats take seconds a file.
 */
import { createHash, hash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { cutText } from "../text/decode.ts";
import { createDigester } from "../text/digester.ts";
import type { Digester } from "../text/digester.ts";
import { broken, detectFormat, HEAD_BYTES, titleByName } from "./detect.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extraction } from "./extractor.ts";
import { factsOf } from "./file-facts.ts";
import { formatByName, formats, unpackedName } from "./formats.ts";
import type { FormatName } from "./formats.ts";
import type {
  ExtractedFile,
  ExtractedNothing,
  ExtractedText,
  ExtractInput,
  ExtractOutput,
  FileFacts,
} from "./tasks.ts";
import { cleanTitle } from "./titles.ts";

/** A cheap file larger than this is read alone, so that a batch stays small. */
const BATCHED_BYTES = 128 * 1024;
/** Read at a time to hash a file of which only the beginning is kept. */
const PIECE_BYTES = 1024 * 1024;
/** Files within files: a mail in a mail in a compressed file. */
const MAX_DEPTH = 5;
/** Text of all members of one file, in times of what one document keeps. */
const MAX_TEXTS = 16;

/** A text that is not digested yet. */
export interface FoundText extends ExtractedText {
  readonly text: string;
  /**
   * Of a text that does not say all that a reader sees: SHA-256 of all that the file or member
   * holds, or of what tells it apart, in hexadecimal.
   */
  readonly beyond?: string;
}

/** What a file holds, before its texts are digested. */
export type FoundFile =
  | Exclude<ExtractedFile, { readonly kind: "read" }>
  | { readonly kind: "read"; readonly facts: FileFacts; readonly items: readonly Item[] };

type Item = FoundText | ExtractedNothing;

/** What the members of one file share. */
interface Run {
  readonly units: number;
  leftUnits: number;
  readonly items: Item[];
  readonly leaveOut: ExtractInput["leaveOut"];
  readonly cancelled: () => boolean;
}

/** Reads each file. Throws `cancelled`. */
export async function run(input: ExtractInput, control: TaskControl): Promise<ExtractOutput> {
  const digester = createDigester(input.digest, control);
  const { alone, leaveOut, digest } = input;
  const limits = { alone, leaveOut, units: digest.limits.units };
  const files: ExtractedFile[] = [];
  for (const path of input.paths) {
    if (control.cancelled()) throw stopped();
    const file = await readFile(path, limits, () => control.cancelled());
    files.push(file.kind === "read" ? { ...file, items: digestItems(file.items, digester) } : file);
  }
  return { files, digests: digester.end() };
}

function digestItems(
  items: readonly Item[],
  digester: Digester,
): (ExtractedText | ExtractedNothing)[] {
  return items.map((item) => {
    if (item.kind === "skipped") return item;
    const { text, beyond, ...found } = item;
    digester.add({ text, beyond, rereadable: found.storedBytes !== undefined });
    return found;
  });
}

/** How a file is read. */
interface FileLimits extends Pick<ExtractInput, "alone" | "leaveOut"> {
  /** How much of a text to keep, in UTF-16 units. */
  readonly units: number;
}

/** Reads one file. Throws `cancelled`. */
export async function readFile(
  path: string,
  limits: FileLimits,
  cancelled: () => boolean,
): Promise<FoundFile> {
  let file: number;
  try {
    // Without O_NONBLOCK, a pipe that took the file's place would hold the thread for ever.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return unreadable(error);
  }
  try {
    return await readOpen(file, basename(path), limits, cancelled);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return unreadable(error);
  } finally {
    closeSync(file);
  }
}

function unreadable(error: unknown): FoundFile {
  return { kind: "unreadable", code: (error as NodeJS.ErrnoException).code ?? "EIO" };
}

async function readOpen(
  file: number,
  name: string,
  { alone, leaveOut, units }: FileLimits,
  cancelled: () => boolean,
): Promise<FoundFile> {
  const stats = fstatSync(file, { bigint: true });
  const facts = factsOf(stats);
  // A file that is being written may be read, or refused, for half of its content.
  const result = (items: readonly Item[]): FoundFile =>
    factsOf(fstatSync(file, { bigint: true })).version === facts.version
      ? { kind: "read", facts, items }
      : { kind: "changed" };
  const nothing = (refusal: Refusal): FoundFile => result([skipped("", refusal)]);
  if (!stats.isFile()) return nothing(new Refusal("no file", "is a device, socket or pipe", false));
  const sizeBytes = Number(stats.size);
  const run: Run = {
    units,
    leftUnits: MAX_TEXTS * units,
    items: [],
    leaveOut,
    cancelled,
  };
  try {
    const head = readBytes(file, Math.min(sizeBytes, HEAD_BYTES));
    const { format, note } = detectFormat(name, head);
    const { cheap, limitBytes, headBytes = limitBytes } = formats[format];
    if (!alone && (cheap !== true || sizeBytes > BATCHED_BYTES)) return { kind: "costly", format };
    if (sizeBytes > limitBytes) return nothing(tooLarge(name));
    const bytes =
      sizeBytes <= head.byteLength ? head : readBytes(file, Math.min(sizeBytes, headBytes));
    const source = {
      member: "",
      name,
      bytes,
      whole: sizeBytes <= headBytes,
      digest: () => digestFile(file, sizeBytes),
    };
    const notes = note === undefined ? [] : [note];
    await extractInto(run, source, 0, { format, notes });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return nothing(error);
  }
  return result(run.items);
}

// Without an ending that says so, a large file is more likely data than a text.
function tooLarge(name: string): Refusal {
  return new Refusal("too large", "is larger than 64 MiB", formatByName(name) !== undefined);
}

function readBytes(file: number, length: number): Uint8Array {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const read = readSync(file, buffer, filled, length - filled, filled);
    if (read === 0) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** SHA-256 of a file, read piece by piece. */
function digestFile(file: number, sizeBytes: number): string {
  const digest = createHash("sha256");
  const piece = Buffer.allocUnsafeSlow(Math.min(sizeBytes, PIECE_BYTES));
  for (let at = 0; at < sizeBytes;) {
    const read = readSync(file, piece, 0, piece.byteLength, at);
    if (read === 0) break;
    digest.update(piece.subarray(0, read));
    at += read;
  }
  return digest.digest("hex");
}

interface Source {
  readonly member: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly whole: boolean;
  /** SHA-256 of all it holds, in hexadecimal, of which `bytes` may be the beginning. */
  digest(): string;
}

/**
 * Adds the text of a file and of its members, the members first: once the file itself is stored,
 * they are, too. Throws `Refusal` when the file itself gives none.
 */
async function extractInto(
  run: Run,
  source: Source,
  depth: number,
  detected: { readonly format: FormatName; readonly notes: readonly string[] },
): Promise<void> {
  const { member, name, bytes, whole } = source;
  const extracted = await extract(detected.format, bytes, {
    units: run.units,
    whole,
    named: formatByName(name) === detected.format,
    cancelled: run.cancelled,
  });
  if (extracted.inner !== undefined) {
    await extractInner(run, source, extracted.inner, depth);
    return;
  }
  for (const each of extracted.members ?? [])
    await extractMember(run, member === "" ? each.name : `${member}/${each.name}`, each, depth);
  // The file itself always has its text.
  if (run.leftUnits <= 0 && member !== "")
    throw new Refusal("too large", "is left out, because the file holds too much text");
  const text = cutText(extracted.text, run.units);
  run.leftUnits -= text.length;
  const truncated = text.length < extracted.text.length || extracted.truncated === true;
  const { createdDate, correspondent } = extracted;
  run.items.push({
    kind: "text",
    member,
    title: cleanTitle(extracted.title ?? "") || cleanTitle(titleByName(name)) || name,
    text,
    truncated,
    ...beyondOf(truncated, extracted, source),
    ...(depth === 0 && isStoredAs(text, source) && { storedBytes: bytes.byteLength }),
    ...(createdDate && { createdDate: createdDate.slice(0, 40) }),
    ...(correspondent && { correspondent: cleanTitle(correspondent) }),
    notes: [
      ...detected.notes,
      ...(extracted.notes ?? []),
      ...(text.length < extracted.text.length
        ? [`truncated to ${run.units.toLocaleString("en")} characters`]
        : []),
    ],
  });
}

function beyondOf(
  truncated: boolean,
  { omits, apart }: Extracted,
  source: Source,
): { readonly beyond?: string } {
  if (truncated || omits === true) return { beyond: source.digest() };
  return apart === undefined ? {} : { beyond: hash("sha256", apart) };
}

/** Whether the file itself holds just this text in UTF-8, so that it can be read again there. */
function isStoredAs(text: string, { member, bytes, whole }: Source): boolean {
  return (
    whole &&
    member === "" &&
    Buffer.byteLength(text) === bytes.byteLength &&
    Buffer.from(text).equals(bytes)
  );
}

/** What stands in place of a compressed file, under its name without the ending. */
async function extractInner(
  run: Run,
  { member, name }: Source,
  bytes: Uint8Array,
  depth: number,
): Promise<void> {
  if (depth === MAX_DEPTH) throw tooDeep();
  const inner = unpackedName(name);
  const { format, note } = detectFormat(inner, bytes.subarray(0, HEAD_BYTES));
  const { headBytes = bytes.byteLength } = formats[format];
  await extractInto(
    run,
    {
      member,
      name: inner,
      bytes: bytes.subarray(0, headBytes),
      whole: bytes.byteLength <= headBytes,
      digest: () => hash("sha256", bytes),
    },
    depth + 1,
    { format, notes: note === undefined ? [] : [note] },
  );
}

async function extractMember(
  run: Run,
  member: string,
  { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
  depth: number,
): Promise<void> {
  if (run.cancelled()) throw stopped();
  try {
    if (run.leaveOut) throw new Refusal(run.leaveOut.reason, run.leaveOut.detail);
    if (depth === MAX_DEPTH) throw tooDeep();
    const source = { member, name, bytes, whole: true, digest: () => hash("sha256", bytes) };
    await extractInner(run, source, bytes, depth);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    run.items.push(skipped(member, error));
  }
}

function tooDeep(): Refusal {
  return new Refusal("too deep", `is packed more than ${MAX_DEPTH} times`);
}

// What an extractor does not foresee is the fault of the file.
async function extract(
  format: FormatName,
  bytes: Uint8Array,
  extraction: Extraction,
): Promise<Extracted> {
  const extractor = await formats[format].load();
  try {
    return await extractor(bytes, extraction);
  } catch (error) {
    if (error instanceof Refusal || (error as { code?: unknown }).code === "cancelled") throw error;
    throw broken(format);
  }
}

function skipped(member: string, { reason, message, failure }: Refusal): ExtractedNothing {
  return { kind: "skipped", member, reason, detail: message, failure };
}
