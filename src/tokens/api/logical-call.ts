/** A call over gRPC or Connect as a request of the secrets manager: the same core, the same texts, only other wires. */
import { StewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Call } from "../../kernel/service.ts";
import { parseGoDurationMs } from "../logical/go-values.ts";
import type { Data } from "../logical/types.ts";
import { requestPath } from "../vault/core/request-path.ts";
import type { Core, CoreAnswer, CoreRequest } from "../vault/core/types.ts";

/** What a call asks for. */
export interface Asked {
  readonly verb: CoreRequest["verb"];
  readonly path: string;
  readonly data: Data;
  readonly wrapTtl?: string;
}

/** Asks the core on behalf of a call; the token is its metadata (RESOLUTIONS §2, Vault tokens). */
export function ask(core: Core, call: Call, { verb, path, data, wrapTtl }: Asked): Promise<CoreAnswer> {
  return core.handle({ verb, path: requestPath(path.replace(/^\/+/, ""), { list: verb === "list" }), data, token: tokenOf(call), remote: call.remote, wrapTtlMs: wrapMs(wrapTtl), signal: call.signal });
}

/** A mount as callers write it, with its one slash. Throws `invalid` for none. */
export function mountPath(mount: string): string {
  const plain = mount.replaceAll(/^\/+|\/+$/g, "");
  if (plain === "") throw new StewardError("invalid", "mount must name where the engine is mounted, e.g. github", { field: "mount" });
  return `${plain}/`;
}

function tokenOf(call: Call): Secret | undefined {
  const own = call.header("x-vault-token") ?? "";
  if (own !== "") return Secret.of(own, "x-vault-token");
  const authorization = call.header("authorization") ?? "";
  const bearer = authorization.startsWith("Bearer ") ? authorization.slice("Bearer ".length).trim() : "";
  return bearer === "" ? undefined : Secret.of(bearer, "authorization");
}

function wrapMs(text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return parseGoDurationMs(text) || undefined;
  } catch {
    throw new StewardError("invalid", `wrap_ttl must be a duration such as 60s, got ${JSON.stringify(text.slice(0, 40))}`, { field: "wrap_ttl" });
  }
}
