/** Revokes minted tokens with the token itself, so that neither key nor configuration is needed. */
import type { SecretType } from "../logical/types.ts";
import { logicalError } from "../logical/occurred.ts";
import { DEFAULT_BASE_URL, parseBaseUrl } from "./base-url.ts";
import type { EngineContext } from "./context.ts";
import { SECRET_TYPE } from "./mint.ts";
import { platformFailure } from "./platform/failures.ts";
import { revokeToken } from "./platform/platform.ts";
import { loadConfig } from "./store.ts";

/** Already ended: revoked or expired, or the installation was removed. */
const OVER: ReadonlySet<number> = new Set([401, 404]);

export function createTokenSecret(context: EngineContext): SecretType {
  const { clock, storage } = context.host;
  return {
    name: SECRET_TYPE,
    async revoke({ data, secret, signal }) {
      const { token } = data;
      if (typeof token !== "string" || token === "")
        throw logicalError("unable to revoke access token: the lease does not hold it", {
          rule: "lease",
        });
      // Leases of the original plugin do not record the base URL.
      const recorded = secret?.internalData["base_url"];
      const base = parseBaseUrl(
        typeof recorded === "string" && recorded !== ""
          ? recorded
          : ((await loadConfig(storage))?.baseUrl ?? DEFAULT_BASE_URL),
      );
      const startedMs = clock.monotonic();
      const outcome = await revokeToken(context.platform, base, token, signal);
      const over =
        outcome.lost === undefined &&
        ((outcome.status >= 200 && outcome.status < 300) || OVER.has(outcome.status));
      context.metrics.revoked(over, (clock.monotonic() - startedMs) / 1_000);
      if (outcome.lost === "cancelled") signal.throwIfAborted();
      if (!over)
        throw platformFailure(
          { failed: "unable to revoke access token", subject: "token" },
          outcome,
          clock.now(),
        );
    },
  };
}
