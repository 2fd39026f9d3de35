/**
 * Messages between the main thread and the thread of a service. Data only: bodies are
 * transferred, ports are the only live objects.
 *
 *     call ─▶ reply                       one answer
 *     call ─▶ reply(more), chunk…, end    a stream; at most `CREDIT` chunks in transit, `credit` adds more
 *     cancel ─▶                           the call is dropped; nothing is sent back
 */
import type { MessagePort } from "node:worker_threads";
import type { ErrorMessage } from "../../base/error-message.ts";
import type { Call, PlainRoute } from "../../service.ts";
import type { ComponentState } from "../../supervisor/component.ts";
import type { LogMessage } from "../log-lines.ts";

/** Chunks of one stream that may be under way. */
export const CREDIT = 4;

/**
 * How the answer of an rpc is written: protobuf, or the REST JSON of its package. Requests are
 * always protobuf.
 */
export type Encoding = "proto" | "json";

/** The head of a plain route's answer; empty for an rpc. */
export interface ReplyMeta {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A plain route without its handler. */
export type PlainRow = Omit<PlainRoute, "handle" | "allowedOrigins">;

/** Who calls, as far as a handler may ask. */
export type Caller = Pick<Call, "remote" | "headers">;

/** How the parts of a service stand. */
export interface StateMessage {
  readonly kind: "state";
  readonly components: readonly ComponentState[];
  readonly ready: { readonly ok: boolean; readonly reasons: readonly string[] };
}

/**
 * A call. `method` is `package.Service/Method`, or `plain/<index>` of the rows that `started`
 * names.
 */
export interface CallMessage {
  readonly kind: "call";
  readonly id: number;
  readonly method: string;
  readonly encoding: Encoding;
  readonly requestId: string;
  /** Nobody in particular when not given. */
  readonly caller?: Caller;
  /** Milliseconds left until the caller gives up. */
  readonly deadlineMs: number;
  readonly body: Uint8Array;
}

/** From the main thread. */
export type ToThread =
  | CallMessage
  | { readonly kind: "cancel"; readonly id: number }
  | { readonly kind: "credit"; readonly id: number }
  | { readonly kind: "listen" | "unlisten"; readonly topic: string }
  | { readonly kind: "ports"; readonly ports: Readonly<Record<string, MessagePort>> }
  | { readonly kind: "stop"; readonly deadlineMs: number };

/** From the service's thread. */
export type FromThread =
  | {
      readonly kind: "started";
      readonly services: readonly string[];
      readonly plain: readonly PlainRow[];
    }
  | { readonly kind: "broken"; readonly error: ErrorMessage }
  | {
      readonly kind: "reply";
      readonly id: number;
      readonly meta: ReplyMeta;
      readonly body: Uint8Array;
      readonly pieces?: readonly Uint8Array<SharedArrayBuffer>[] | undefined;
      readonly more: boolean;
    }
  | { readonly kind: "chunk"; readonly id: number; readonly body: Uint8Array }
  | { readonly kind: "end"; readonly id: number; readonly error?: ErrorMessage }
  | StateMessage
  | LogMessage
  | { readonly kind: "event"; readonly topic: string; readonly body: Uint8Array }
  | { readonly kind: "stopped" };

/** Bytes as they are posted, with the buffers that move along. */
export function postedBytes(body: Uint8Array): {
  readonly bytes: Uint8Array;
  readonly moved: readonly ArrayBuffer[];
} {
  const bytes = ownBytes(body);
  return { bytes, moved: bytes.byteLength === 0 ? [] : [bytes.buffer] };
}

/** Bytes that hold their whole buffer, so that they can move and nothing else is copied along. */
export function ownBytes(body: Uint8Array): Uint8Array<ArrayBuffer> {
  return body.buffer instanceof ArrayBuffer &&
    body.byteLength === body.buffer.byteLength &&
    !Buffer.isBuffer(body)
    ? (body as Uint8Array<ArrayBuffer>)
    : new Uint8Array(body);
}
