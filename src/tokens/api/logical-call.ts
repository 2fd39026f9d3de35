/** A call over gRPC or Connect as a request of the secrets manager: the same core, the same texts, only other wires. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Call } from "../../kernel/service.ts";
import type { Data } from "../logical/types.ts";
import { requestToken, wrapTtlMs } from "../vault/core/request-head.ts";
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
  return core.handle({ verb, path: requestPath(path.replace(/^\/+/, ""), { list: verb === "list" }), data, token: requestToken((name) => call.header(name)), remote: call.remote, wrapTtlMs: wrapTtlMs(wrapTtl, "wrap_ttl"), signal: call.signal });
}

/** A mount as callers write it, with its one slash. Throws `invalid` for none. */
export function mountPath(mount: string): string {
  const plain = mount.replaceAll(/^\/+|\/+$/g, "");
  if (plain === "") throw new StewardError("invalid", "mount must name where the engine is mounted, e.g. github", { field: "mount" });
  return `${plain}/`;
}
