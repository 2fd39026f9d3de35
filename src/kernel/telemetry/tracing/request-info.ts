/** A served request as metrics and spans describe it. */

export type RequestProtocol = "rest" | "connect" | "grpc" | "grpc-web";

/** A request whose headers were read. */
export interface BegunRequest {
  /** Name of the span; by default method and route, or the rpc. */
  readonly name?: string;
  readonly protocol: RequestProtocol;
  /**
   * The template of the route or the path of the rpc, never the request path: bounded in number.
   */
  readonly route: string;
  /** Upper case. */
  readonly method: string;
  readonly requestId: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface EndedRequest {
  /** The HTTP status, or for gRPC the name of its status: `200`, `not_found`. */
  readonly code: string;
  /** A server error, not a client error. */
  readonly failed: boolean;
  /** Further attributes of the span, with names that the code fixes. */
  readonly attributes?: Readonly<Record<string, string | number>>;
}
