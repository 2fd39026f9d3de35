/** Messages between the pool and its worker threads. */
import type { ErrorMessage } from "../base/error-message.ts";
import type { ControlWords } from "./control.ts";

export interface AttemptMessage {
  readonly file: string;
  readonly input: unknown;
  readonly words: ControlWords;
}

export type AttemptReply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorMessage };
