/**
 * The way of a request through the secrets manager, in the order that makes it safe (KERNEL §4): mount, token, existence, policy,
 * wrap rules, audit on disk, backend, lease, audit on disk, answer. HTTP, gRPC and Connect are only ways to build such a request.
 */
import { StewardError, toStewardError } from "../../../kernel/base/errors.ts";
import { authorize, isAttempt } from "./authorize.ts";
import { mint } from "./mint.ts";
import type { Core, CoreAnswer, CoreDeps, Journey } from "./types.ts";

/** Leads requests. */
export function createCore(deps: CoreDeps): Core {
  return {
    async handle(request) {
      const requestId = deps.ids.uuid();
      const journey = await authorize(deps, request, requestId);
      try {
        return await serve(deps, journey);
      } catch (error) {
        if (isFailedAttempt(journey, error)) deps.attempts.failed(request.remote?.address);
        throw error;
      } finally {
        // A token's last use is over, whatever came of it.
        const { entry } = journey.standing;
        if (entry?.numUses === -1) await deps.tokens.revoke(entry.key);
      }
    },
  };
}

/** A login that was refused, or the like; what fails for other reasons says nothing about who asks. */
function isFailedAttempt({ mount, standing }: Journey, error: unknown): boolean {
  return standing.declared?.unauthenticated === true && isAttempt(mount) && error instanceof StewardError && (error.code === "invalid" || error.code === "denied");
}

async function serve(deps: CoreDeps, journey: Journey): Promise<CoreAnswer> {
  const { audit } = deps;
  try {
    return await mint(deps, journey);
  } catch (thrown) {
    const error = toStewardError(thrown);
    // What cannot be audited is not said; the client learns that the audit failed.
    await audit.response(journey.audited, { error: error.message });
    throw thrown;
  }
}
