/**
 * The undo file of a plan: one line for each move, durable before the move. From it and the disk
 * follows what was moved, so an interrupted run can be finished and a finished one taken back.
 */
import { open, readFile, stat, truncate, unlink } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import { syncFolder } from "../../kernel/base/system/folder.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { TrashPlace } from "../trash/types.ts";

const FORMAT = "steward-delete-undo";
const VERSION = 1;

/** The largest undo file that is read. */
export const UNDO_FILE_BYTES = 512 * 1024 * 1024;

/** A move that was about to be made. */
export interface UndoRecord extends TrashPlace {
  readonly from: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** An undo file. */
export interface UndoLog {
  readonly path: string;
  /** The last record of each file, in the order in which the files were moved. */
  readonly records: ReadonlyMap<string, UndoRecord>;
  /** Resolves when the record is durable. */
  append(record: UndoRecord): Promise<void>;
  remove(): Promise<void>;
}

/** What the names of undo files end in. */
export const UNDO_ENDING = ".undo";

/** The name of a plan's undo file. */
export function undoPathOf(planPath: string): string {
  return `${planPath}${UNDO_ENDING}`;
}

/**
 * The undo file of a plan, empty when there is none yet; it is created by the first record. `plan`
 * is the SHA-256 of the plan's bytes: throws `conflict` for the undo file of another plan; without it
 * any will do. Throws `invalid` for what is no undo file.
 */
export async function openUndoLog(path: string, plan?: string): Promise<UndoLog> {
  const text = await readWhole(path);
  const records = new Map<string, UndoRecord>();
  const whole = text?.slice(0, text.lastIndexOf("\n") + 1);
  if (whole !== undefined) {
    const [head = "", ...lines] = whole.split("\n");
    checkHead(head, path, plan);
    for (const [index, line] of lines.entries())
      if (line !== "") keep(records, parseRecord(line, `${path}: line ${index + 2}`));
  }
  let wholeBytes = Buffer.byteLength(whole ?? "");
  // A kill or a failed write cut the last line; its move was not begun.
  let endsInPart = text !== whole;
  return {
    path,
    records,
    async append(record) {
      const fresh = wholeBytes === 0;
      if (endsInPart && !fresh) await truncate(path, wholeBytes);
      endsInPart = true;
      const first = { format: FORMAT, version: VERSION, plan };
      const head = fresh ? `${JSON.stringify(first)}\n` : "";
      const lines = `${head}${JSON.stringify(record)}\n`;
      await appendDurably(path, lines, fresh);
      endsInPart = false;
      wholeBytes += Buffer.byteLength(lines);
      keep(records, record);
    },
    remove: () => unlink(path),
  };
}

function keep(records: Map<string, UndoRecord>, record: UndoRecord): void {
  records.delete(record.from);
  records.set(record.from, record);
}

/** Undefined when there is no such file, or a kill cut its first line. */
async function readWhole(path: string): Promise<string | undefined> {
  try {
    if ((await stat(path)).size > UNDO_FILE_BYTES)
      throw new StewardError("invalid", `${path} is larger than an undo file can be`, {
        remedy: "move it away",
      });
    const text = await readFile(path, "utf8");
    return text.includes("\n") ? text : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function appendDurably(path: string, text: string, fresh: boolean): Promise<void> {
  const file = await open(path, fresh ? "w" : "a", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  if (fresh) syncFolder(dirname(path));
}

function checkHead(line: string, path: string, plan: string | undefined): void {
  const head = parseObject(line, `${path}: line 1`);
  if (head["format"] !== FORMAT || head["version"] !== VERSION)
    throw new StewardError("invalid", `${path} is no undo file of a delete plan`, {
      remedy: "move it away, or name the plan differently",
    });
  if (plan !== undefined && head["plan"] !== plan)
    throw new StewardError("conflict", `${path} belongs to another plan of the same name`, {
      remedy: "take that plan back with the plan file it was made from, or move the undo file away",
    });
}

function parseRecord(line: string, where: string): UndoRecord {
  const record = parseObject(line, where);
  const { from, to, info, infoPath, sizeBytes, sha256 } = record;
  const isPath = (value: unknown): boolean => typeof value === "string" && isAbsolute(value);
  const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
  if (
    !isPath(from) ||
    !isPath(to) ||
    !(info === undefined || isPath(info)) ||
    !isText(infoPath) ||
    !Number.isSafeInteger(sizeBytes) ||
    typeof sha256 !== "string"
  )
    throw damaged(where);
  return record as unknown as UndoRecord;
}

function parseObject(line: string, where: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Named below.
  }
  throw damaged(where);
}

function damaged(where: string): StewardError {
  return new StewardError("corrupt", `${where} is damaged`, {
    remedy: "restore the files from the trash by hand",
  });
}
