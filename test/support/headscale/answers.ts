/** The wording of refusals in both flavours: problem documents, or those of a gRPC gateway. */
import type { Reply } from "../../../src/demo/control-plane/reply.ts";
import type { Flavour } from "./types.ts";

/** Why something failed, in the words of both flavours. */
interface Trouble {
  readonly status: number;
  readonly detail: string;
  /** The development flavour lists them apart, the release joins them with a colon. */
  readonly causes?: readonly string[];
  /** The release's status, when it differs. */
  readonly gatewayStatus?: number;
  /** The release's message, when it is not made of `detail` and `causes`. */
  readonly gatewayMessage?: string;
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  413: "Request Entity Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 6,
  429: 8,
  500: 2,
  501: 12,
  503: 14,
  504: 4,
};
const PLAIN = { "content-type": "text/plain; charset=utf-8" };
const PROBLEM = { "content-type": "application/problem+json" };

/** Answers of one flavour. */
export interface Answers {
  success(body: unknown): Reply;
  trouble(trouble: Trouble): Reply;
  unauthorized(): Reply;
  /** A path that nothing is at. */
  nowhere(): Reply;
  /** A method that a path does not have. */
  wrongMethod(method: string, allowed: readonly string[]): Reply;
}

/** The bodies of the development flavour end with a newline. */
export function createAnswers(flavour: Flavour): Answers {
  return flavour === "development" ? DEVELOPMENT : RELEASE;
}

/** Text that Go's router says. */
export const NO_PAGE: Reply = { status: 404, body: "404 page not found\n", headers: PLAIN };

/** An error of the development flavour's v2. */
export function v2Trouble(status: number, message: string, errors?: readonly string[]): Reply {
  return {
    status,
    body: `${JSON.stringify({ message, ...(errors === undefined ? {} : { data: [{ errors }] }), status })}\n`,
    headers: PROBLEM,
  };
}

const DEVELOPMENT: Answers = {
  success: (body) => ({ status: 200, body: `${JSON.stringify(body)}\n` }),
  trouble: ({ status, detail, causes }) => ({
    status,
    headers: PROBLEM,
    body: `${JSON.stringify({ title: TITLES[status] ?? "", status, detail, ...(causes === undefined ? {} : { errors: causes.map((message) => ({ message })) }) })}\n`,
  }),
  unauthorized: () => ({
    status: 401,
    body: `${JSON.stringify({ title: "Unauthorized", status: 401, detail: "Unauthorized" })}\n`,
    headers: PROBLEM,
  }),
  nowhere: () => NO_PAGE,
  wrongMethod: (_method, allowed) => ({ status: 405, headers: { allow: allowed.join(", ") } }),
};

const RELEASE: Answers = {
  success: (body) => ({
    status: 200,
    body: JSON.stringify(body),
    headers: { "grpc-metadata-content-type": "application/grpc" },
  }),
  trouble: ({ status, gatewayStatus = status, detail, causes = [], gatewayMessage }) =>
    gateway(
      gatewayStatus,
      CODES[gatewayStatus] ?? 2,
      gatewayMessage ?? [detail, ...causes].join(": "),
    ),
  unauthorized: () => ({ status: 401, body: "Unauthorized", headers: PLAIN }),
  nowhere: () => gateway(404, 5, "Not Found"),
  wrongMethod: (method) =>
    method === "HEAD"
      ? { status: 501, headers: { "content-type": "application/json" } }
      : gateway(501, 12, "Method Not Allowed"),
};

function gateway(status: number, code: number, message: string): Reply {
  return { status, body: JSON.stringify({ code, message, details: [] }) };
}
