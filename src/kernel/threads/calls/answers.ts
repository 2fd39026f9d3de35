/**
 * Dispatches serialised calls to the handlers of a service; the same on the main thread and in a
 * worker thread.
 */
import {
  create,
  fromBinary,
  toBinary,
  type DescMethod,
  type MessageInitShape,
  type DescMessage,
} from "@bufbuild/protobuf";
import { StewardError } from "../../base/errors.ts";
import { bytesIn, copyPieces } from "../../base/pieces.ts";
import {
  bodyTooLarge,
  type Call,
  type JsonHandler,
  type PlainRequest,
  type PlainRoute,
  type Service,
  type StreamHandler,
  type UnaryHandler,
  type WrittenJson,
} from "../../service.ts";
import { writeRestJson } from "../../wire/rest-json.ts";
import { ownBytes, type Encoding, type PlainRow } from "./messages.ts";
import type { ThreadReply } from "../hosted-service.ts";

const NOTHING = new Uint8Array();
const PLAIN = "plain/";
/** Reply metadata for compressed JSON. */
const PACKED = "content-encoding";

/** The method name of a plain route. */
export function plainMethod(index: number): string {
  return `${PLAIN}${index}`;
}

/** The plain routes of a service without their handlers. */
export function plainRows(service: Service): PlainRow[] {
  return service.plain.map(({ verb, template, access, dialect, limits, longLived, describe }) => ({
    verb,
    template,
    access,
    dialect,
    ...(limits === undefined ? {} : { limits }),
    ...(longLived === undefined ? {} : { longLived }),
    ...(describe === undefined ? {} : { describe }),
  }));
}

/** Throws `unsupported` for a method that the service does not have. */
export type Answer = (
  method: string,
  body: Uint8Array,
  encoding: Encoding,
  call: Call,
) => Promise<ThreadReply>;

export function createAnswers(service: Service): Answer {
  const methods = new Map<string, Answer>();
  for (const bound of service.rpc) {
    for (const method of bound.desc.methods)
      methods.set(
        `${bound.desc.typeName}/${method.name}`,
        rpcAnswer(method, bound.handler(method), bound.json?.(method)),
      );
  }
  for (const [index, route] of service.plain.entries())
    methods.set(plainMethod(index), plainAnswer(route));
  return async (method, body, encoding, call) => {
    const answer = methods.get(method);
    if (answer === undefined)
      throw new StewardError("unsupported", `${service.name} has no method ${method}`);
    return await answer(method, body, encoding, call);
  };
}

function rpcAnswer(
  method: DescMethod,
  handler: UnaryHandler<DescMessage, DescMessage> | StreamHandler<DescMessage, DescMessage>,
  json: JsonHandler | undefined,
): Answer {
  const write = (encoding: Encoding, init: MessageInitShape<DescMessage>): Uint8Array => {
    const message = create(method.output, init);
    return encoding === "json"
      ? new TextEncoder().encode(writeRestJson(method, message))
      : toBinary(method.output, message);
  };
  return async (_name, body, encoding, call) => {
    const request = fromBinary(method.input, body);
    if (encoding === "json" && json !== undefined) return jsonReply(await json(request, call));
    if (method.methodKind !== "server_streaming") {
      return {
        meta: {},
        body: write(
          encoding,
          await (handler as UnaryHandler<DescMessage, DescMessage>)(request, call),
        ),
        chunks: undefined,
      };
    }
    const items = (handler as StreamHandler<DescMessage, DescMessage>)(request, call);
    return { meta: {}, body: NOTHING, chunks: mapItems(items, (item) => write(encoding, item)) };
  };
}

function jsonReply(written: Uint8Array | WrittenJson): ThreadReply {
  if (written instanceof Uint8Array) return { meta: {}, body: written, chunks: undefined };
  const { encoding, pieces, status, headers } = written;
  const meta = {
    ...(status === undefined ? {} : { status }),
    headers: { ...headers, ...(encoding === undefined ? {} : { [PACKED]: encoding }) },
  };
  return { meta, body: NOTHING, pieces, chunks: undefined };
}

export function jsonOf({ meta, body, pieces }: ThreadReply): Uint8Array | WrittenJson {
  if (pieces === undefined) return body;
  const { [PACKED]: encoding, ...headers } = meta.headers ?? {};
  return {
    encoding: encoding === "gzip" ? "gzip" : undefined,
    pieces,
    headers,
    ...(meta.status === undefined ? {} : { status: meta.status }),
  };
}

/**
 * The JSON of a reply in one buffer owned by the caller; for calls that do not accept compression.
 */
export function wholeJson({ body, pieces }: ThreadReply): Uint8Array<ArrayBuffer> {
  return pieces === undefined
    ? ownBytes(body)
    : copyPieces(pieces, new Uint8Array(bytesIn(pieces)));
}

function plainAnswer(route: PlainRoute): Answer {
  return async (_name, body, _encoding, call) => {
    const {
      status,
      headers,
      body: answer,
    } = await route.handle(readPlainRequest(body, call), call);
    const meta = { status, headers };
    if (typeof answer === "string")
      return { meta, body: new TextEncoder().encode(answer), chunks: undefined };
    // The handler may keep its buffer, so it is copied before it is transferred.
    if (answer instanceof Uint8Array)
      return { meta, body: new Uint8Array(answer), chunks: undefined };
    return {
      meta,
      body: NOTHING,
      chunks: mapItems(answer, (piece) =>
        typeof piece === "string" ? new TextEncoder().encode(piece) : new Uint8Array(piece),
      ),
    };
  };
}

/** The parts of a plain request sent as JSON; its caller is part of the call. */
type PlainHead = Pick<PlainRequest, "method" | "path" | "target" | "params" | "secured"> & {
  readonly query: string;
};

const HEAD_LENGTH_BYTES = 4;

/**
 * Serialises a request: length of the head, head as JSON, body. Throws what reading the body
 * throws.
 */
export async function writePlainRequest(request: PlainRequest): Promise<Uint8Array> {
  const { method, path, target, params, secured } = request;
  const head = Buffer.from(
    JSON.stringify({
      method,
      path,
      target,
      params,
      secured,
      query: request.query.toString(),
    } satisfies PlainHead),
  );
  const length = Buffer.alloc(HEAD_LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  return ownBytes(Buffer.concat([length, head, await request.body()]));
}

function readPlainRequest(bytes: Uint8Array, { remote, headers }: Call): PlainRequest {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bodyAt = HEAD_LENGTH_BYTES + all.readUInt32LE(0);
  const { query, ...head } = JSON.parse(
    all.toString("utf8", HEAD_LENGTH_BYTES, bodyAt),
  ) as PlainHead;
  const body = new Uint8Array(all.subarray(bodyAt));
  return {
    ...head,
    headers,
    remote,
    query: new URLSearchParams(query),
    body(limitBytes = body.length) {
      if (body.length > limitBytes) return Promise.reject(bodyTooLarge(limitBytes));
      return Promise.resolve(body);
    },
  };
}

async function* mapItems<T, U>(
  source: AsyncIterable<T>,
  map: (item: T) => U,
): AsyncGenerator<U, void, undefined> {
  for await (const item of source) yield map(item);
}
