/** Revokes minted tokens with the token itself, so that neither key nor configuration is needed. */
import type { StewardError } from "../../kernel/base/errors.ts";
import type { Data, SecretType } from "../logical/types.ts";
import { logicalError } from "../logical/occurred.ts";
import { DEFAULT_BASE_URL, parseBaseUrl } from "./base-url.ts";
import type { EngineContext } from "./context.ts";
import { SECRET_TYPE } from "./mint.ts";
import { invalidAnswer, platformFailure } from "./platform/failures.ts";
import type { HttpLost, HttpReply } from "./platform/http.ts";
import { revokeToken } from "./platform/revocation.ts";
import { loadConfig } from "./store.ts";

const ATTEMPTED = { failed: "unable to revoke access token", subject: "token" } as const;

export function createTokenSecret(context: EngineContext): SecretType {
  const { clock, storage } = context.host;
  return {
    name: SECRET_TYPE,
    async revoke({ data, secret, signal }) {
      const { token } = data;
      if (typeof token !== "string" || token === "")
        throw logicalError(`${ATTEMPTED.failed}: the lease does not hold it`, {
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
      const { over, outcome } = await revokeToken(context.platform, base, {
        token,
        ageMs: ageOf(secret?.internalData, clock.now()),
        signal,
      });
      context.metrics.revoked(over, (clock.monotonic() - startedMs) / 1_000);
      if (outcome.lost === "cancelled") signal.throwIfAborted();
      if (!over) throw failureOf(outcome, clock.now());
    },
  };
}

// Leases of the original plugin, and of Steward before it recorded the time, have none.
function ageOf(internalData: Data | undefined, nowMs: number): number | undefined {
  const mintedAtMs = internalData?.["minted_at_ms"];
  return typeof mintedAtMs === "number" ? nowMs - mintedAtMs : undefined;
}

function failureOf(outcome: HttpReply | HttpLost, nowMs: number): StewardError {
  return outcome.lost === undefined && outcome.status === 404
    ? invalidAnswer(ATTEMPTED, "the answer with 404 is not the API's")
    : platformFailure(ATTEMPTED, outcome, nowMs);
}
