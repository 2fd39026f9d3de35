/** Messages between the pool and its workers. */
import type { ErrorMessage } from "../base/error-message.ts";
import type { ControlWords } from "./control.ts";

export interface AttemptMessage {
  readonly file: string;
  readonly input: unknown;
  readonly words: ControlWords;
}

/** To a worker process, which shares no memory. */
export type ProcessMessage = Omit<AttemptMessage, "words">;

/** Exit status of a worker process whose thread has no heap left. */
export const EXHAUSTED_STATUS = 3;

export type AttemptReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorMessage };
