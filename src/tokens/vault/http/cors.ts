/** CORS for `/v1/*` by `sys/config/cors`, with Vault's methods and headers. */
import { StewardError } from "../../../kernel/base/errors.ts";
import type { PlainAnswer, PlainRequest, RequestHeaders } from "../../../kernel/service.ts";
import type { VaultCors } from "../system/cors.ts";
import {
  isAllowedOrigin,
  originHeaders,
  preflightHeaders,
} from "../../../kernel/listen/headers/cors.ts";

const METHODS = ["DELETE", "GET", "OPTIONS", "POST", "PUT", "LIST", "SCAN"];
const HEADERS: readonly string[] = [
  "Content-Type",
  "X-Requested-With",
  "X-Vault-Token",
  "Authorization",
  "X-Vault-Wrap-Format",
  "X-Vault-Wrap-TTL",
  "X-Vault-Policy-Override",
  "X-Vault-Namespace",
  "X-Vault-No-Request-Forwarding",
];
const MAX_AGE_SECONDS = 300;

/** Lower-case origins; empty while CORS is disabled. */
export function originsOf({ enabled, allowedOrigins }: VaultCors): readonly string[] {
  return enabled ? allowedOrigins.map((origin) => origin.toLowerCase()) : [];
}

/** Response to a preflight request. Throws `denied` for an origin that is not allowed. */
export function preflight(cors: VaultCors, request: PlainRequest): PlainAnswer {
  const origin = originOf(request.headers);
  if (origin === undefined || !isAllowed(cors, origin))
    throw new StewardError("denied", "origin not allowed", { rule: "cors" });
  return {
    status: 200,
    body: "",
    headers: {
      ...originHeaders(origin),
      ...preflightHeaders({
        methods: METHODS,
        headers: [...HEADERS, ...cors.allowedHeaders],
        maxAgeSeconds: MAX_AGE_SECONDS,
      }),
      "cache-control": "no-store",
    },
  };
}

/** Headers that let a page read the response; empty for other origins. */
export function readableBy(
  cors: VaultCors,
  headers: RequestHeaders,
): Readonly<Record<string, string>> {
  const origin = originOf(headers);
  return origin !== undefined && isAllowed(cors, origin) ? originHeaders(origin) : {};
}

function isAllowed({ enabled, allowedOrigins }: VaultCors, origin: string): boolean {
  return enabled && isAllowedOrigin(origin, allowedOrigins);
}

function originOf({ origin }: RequestHeaders): string | undefined {
  return Array.isArray(origin) ? origin[0] : origin;
}
