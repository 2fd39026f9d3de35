/** Cursors of pages in order of time: `v2:<milliseconds>:<number>` as base64url. */
import type { FlowPosition } from "./types.ts";

const FORM = /^v2:(\d{1,15}):(\d{1,15})$/;
/** Longer texts are no cursor. */
const MAX_LENGTH = 64;

/** A page continues below this position. */
export function writeCursor({ timeMs, seq }: FlowPosition): string {
  return Buffer.from(`v2:${timeMs}:${seq}`).toString("base64url");
}

/** Undefined for anything that is no cursor of this version. */
export function readCursor(cursor: string): FlowPosition | undefined {
  if (cursor.length > MAX_LENGTH) return undefined;
  const [, timeMs, seq] = FORM.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  return timeMs === undefined || seq === undefined
    ? undefined
    : { timeMs: Number(timeMs), seq: Number(seq) };
}
