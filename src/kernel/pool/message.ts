/** What travels between the pool and a worker thread. */
import type { ErrorMessage } from "../base/error-message.ts";
import type { ControlWords } from "./control.ts";

/** One attempt as the worker gets it. */
export interface AttemptMessage {
  readonly file: string;
  readonly input: unknown;
  readonly words: ControlWords;
}

/** What comes back. */
export type AttemptReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorMessage };
