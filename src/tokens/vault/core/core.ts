/**
 * The request pipeline: mount, token, existence, policy, wrapping rules, durable audit, backend,
 * lease, durable audit, response. HTTP, gRPC and Connect only build such requests.
 */
import { toStewardError } from "../../../kernel/base/errors.ts";
import { liveEntry, maxBodyBytes } from "./admission.ts";
import { authorize, unauthenticatedContext } from "./authorize.ts";
import { handleAuthorized } from "./handle-authorized.ts";
import { resolvePath } from "./mounted-path.ts";
import { serveOpen } from "./open-path.ts";
import type { Core, CoreAnswer, CoreDeps, RequestContext } from "./types.ts";

export function createCore(deps: CoreDeps): Core {
  return {
    async handle(request) {
      const requestId = deps.ids.uuid();
      const mounted = resolvePath(deps, request);
      // From the lookup to the response: unmounting waits for it, so that it also revokes what this
      // request creates.
      using _request = mounted && deps.mounts.enter(mounted.mount);
      const arrived = { request, requestId, mounted };
      const open = unauthenticatedContext(deps, arrived);
      if (open !== undefined) return await serveOpen(deps, open, () => serve(deps, open));
      const context = await authorize(deps, arrived);
      try {
        return await serve(deps, context);
      } finally {
        // A token's last use is consumed, whatever the outcome.
        const { entry } = context.authorization;
        if (entry?.numUses === -1) await deps.tokens.revoke(entry.key);
      }
    },
    isLive: (token) => liveEntry(deps, { token }) !== undefined,
    maxBodyBytes: (head) => maxBodyBytes(deps, head),
  };
}

async function serve(deps: CoreDeps, context: RequestContext): Promise<CoreAnswer> {
  const { audit } = deps;
  try {
    return await handleAuthorized(deps, context);
  } catch (thrown) {
    const error = toStewardError(thrown);
    // A result that cannot be audited is not returned; the client sees the audit failure.
    await audit.response(context.audited, { error: error.message });
    throw thrown;
  }
}
