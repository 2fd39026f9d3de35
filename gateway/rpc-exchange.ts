/**
 * Adapts Node's HTTP to the rpc library: requests with a signal that fires only when the client has
 * left, responses whose trailers have readable messages.
 */
import type { ContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { Code as RpcCode, ConnectError } from "@connectrpc/connect";
import { StewardError } from "../src/kernel/base/errors.ts";
import type { BodyAllowance } from "../src/kernel/listen/admission/body-budget.ts";
import type { ServerRequest, ServerResponse } from "../src/kernel/listen/exchange.ts";
import type { RequestHeaders } from "../src/kernel/service.ts";
import { bodyChunks, goneSignal, type Head } from "./node-http.ts";

/**
 * The request in the library's form. The library's own conversion aborts a signal after every call,
 * including finished ones, and an abort without a reason creates an error with a stack.
 */
export function rpcRequest(
  request: ServerRequest,
  response: ServerResponse,
  { head, body, contextValues }: { head: Head; body: BodyAllowance; contextValues: ContextValues },
): UniversalServerRequest {
  return {
    httpVersion: request.httpVersion,
    method: head.method,
    url: `${head.secured ? "https" : "http"}://${String(head.headers["host"])}${request.url ?? ""}`,
    header: fetchHeaders(head.headers),
    body: allowedChunks(request, body),
    signal: goneSignal(response),
    contextValues,
  };
}

/** The chunks of a body, each reserved in the budget before it is stored. */
async function* allowedChunks(
  request: ServerRequest,
  body: BodyAllowance,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bodyChunks(request)) {
    try {
      body.reserve(chunk.length);
    } catch (thrown) {
      throw thrown instanceof StewardError
        ? new ConnectError(thrown.message, RpcCode.ResourceExhausted)
        : thrown;
    }
    yield chunk;
  }
}

/** As Fetch API headers. HTTP/2 pseudo-headers, which begin with a colon, are dropped. */
function fetchHeaders(headers: RequestHeaders): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    if (typeof value === "string") all.append(name, value);
    else for (const one of value) all.append(name, one);
  }
  return all;
}

/**
 * The same response with a message that every client shows unchanged: the library also escapes
 * characters that gRPC does not, and grpc-js shows such a text with its escapes. Trailers are known
 * last, so they are rewritten when read.
 */
export function withReadableMessage(answer: UniversalServerResponse): UniversalServerResponse {
  const { trailer } = answer;
  if (trailer === undefined) return answer;
  return {
    ...answer,
    get trailer() {
      const message = trailer.get("grpc-message");
      if (message === null) return trailer;
      const readable = new Headers(trailer);
      readable.set("grpc-message", encodeGrpcMessage(decodeURIComponent(message)));
      return readable;
    },
  };
}

/**
 * Percent-encodes what the gRPC protocol requires (PROTOCOL-HTTP2, Percent-Byte-Unencoded), and no
 * more.
 */
export function encodeGrpcMessage(text: string): string {
  return [...Buffer.from(text)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
}
