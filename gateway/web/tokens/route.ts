/** The route of the page `/tokens`. */
import type { TokensReport } from "../../../src/gen/tokens-json.ts";
import type { PlainRoute } from "../../../src/kernel/service.ts";
import { readPageRoute, type FollowingPageOptions, type ReadPageDeps } from "../read-page.ts";
import { tokensPage, type TokensFacts } from "./tokens-page.ts";

interface TokensRouteDeps extends ReadPageDeps {
  /** Rejects with a sentence for the reader. */
  read(signal: AbortSignal): Promise<TokensReport>;
}

/** For administrators. */
export function tokensRoute(deps: TokensRouteDeps, options: FollowingPageOptions): PlainRoute {
  return readPageRoute<TokensFacts>(
    {
      template: "/tokens",
      here: "/tokens",
      module: "tokens.js",
      json: "/api/tokens.json",
      readMs: 5_000,
      read: async (_request, signal) => ({ report: await deps.read(signal) }),
      unread: (problem) => ({ report: undefined, problem }),
      draw: (facts, state) => ({
        title: "Tokens",
        body: tokensPage(facts, state),
        facts: { refreshMs: options.refreshMs },
        asOf: facts.report?.generated_at,
      }),
    },
    deps,
    options,
  );
}
