/** `/v1/*` as one plain route for all methods. */
import { Access } from "../../../gen/steward/options/v1/options_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { PlainAnswer, PlainRequest, PlainRoute } from "../../../kernel/service.ts";
import { AUTHENTICATED_BODY_BYTES, carriesLiveToken } from "../core/admission.ts";
import type { Core } from "../core/types.ts";
import type { VaultCors } from "../system/cors.ts";
import { writeCoreAnswer, writeHelp } from "./envelope.ts";
import { originsOf, preflight, readableBy } from "./cors.ts";
import { readVaultRequest } from "./read-request.ts";

/** Deadline of a request. */
const REQUEST_MS = 90_000;

export interface VaultRouteDeps {
  readonly core: Core;
  /** CORS settings in force. */
  readonly cors: () => VaultCors;
}

/** Throws errors; the surface's dialect serializes them. */
export function vaultRoute(deps: VaultRouteDeps): PlainRoute {
  return {
    verb: "*",
    template: "/v1/{rest=**}",
    access: Access.SELF,
    dialect: "vault",
    limits: { bodyBytes: AUTHENTICATED_BODY_BYTES, requestMs: REQUEST_MS },
    hasCredential: (headers) => carriesLiveToken(deps.core, headers),
    allowedOrigins: () => originsOf(deps.cors()),
    failureHeaders: (headers) => readableBy(deps.cors(), headers),
    async handle(request, call) {
      const cors = deps.cors();
      if (request.method === "OPTIONS" && cors.enabled) return preflight(cors, request);
      const answer = await serve(deps.core, request, call.signal);
      return {
        ...answer,
        headers: { ...answer.headers, ...readableBy(cors, request.headers) },
        ...(request.method === "HEAD" ? { body: "" } : {}),
      };
    },
  };
}

async function serve(core: Core, request: PlainRequest, signal: AbortSignal): Promise<PlainAnswer> {
  const { verb, ...read } = await readVaultRequest(request, (head) => core.maxBodyBytes(head));
  if (verb === "header" && read.path !== "sys/health")
    throw new StewardError("unsupported", "HEAD is answered by sys/health alone");
  const answer = await core.handle({
    ...read,
    verb: verb === "header" ? "read" : verb,
    remote: request.remote,
    signal,
  });
  return await (verb === "help" ? writeHelp(answer) : writeCoreAnswer(answer));
}
