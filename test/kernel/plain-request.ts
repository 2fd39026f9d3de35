/** A request to a plain route as the gateway would bring it. */
import type { PlainRequest } from "../../src/kernel/service.ts";

/** `GET /` without headers and body, unless said otherwise. */
export function plainRequest(more: Partial<PlainRequest> = {}): PlainRequest {
  return {
    method: "GET",
    path: "/",
    target: "/",
    params: {},
    query: new URLSearchParams(),
    headers: {},
    remote: { address: "127.0.0.1", port: 40_000 },
    secured: false,
    body: () => Promise.resolve(new Uint8Array()),
    ...more,
  };
}
