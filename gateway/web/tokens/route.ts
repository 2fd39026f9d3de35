/** The route of the page `/tokens`. */
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import type { TokensReport } from "../../../src/gen/tokens-json.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import type { PlainRoute } from "../../../src/kernel/service.ts";
import { within } from "../../until-aborted.ts";
import type { Assets } from "../assets.ts";
import { html } from "../html.ts";
import { moment } from "../pieces/time.ts";
import { pageAnswer } from "../shell.ts";
import { tokensPage, type TokensFacts } from "./tokens-page.ts";

const READ_MS = 5_000;

interface TokensRouteDeps {
  /** Rejects with a sentence for the reader. */
  read(signal: AbortSignal): Promise<TokensReport>;
  readonly assets: Assets;
  readonly clock: Clock;
}

export interface TokensRouteOptions {
  readonly demo: boolean;
  readonly version: string;
  /** Between two looks of the island; 0 is its default. */
  readonly refreshMs: number;
  /** The other pages of the listener. */
  readonly links: readonly { readonly href: string; readonly label: string }[];
}

/** For administrators, with the monitor's errors. */
export function tokensRoute(deps: TokensRouteDeps, options: TokensRouteOptions): PlainRoute {
  const { demo, version, links, refreshMs } = options;
  return {
    verb: "GET",
    template: "/tokens",
    access: Access.ADMIN,
    dialect: "monitor",
    async handle({ query, headers }, { signal }) {
      const facts = await within(READ_MS, signal, deps.clock, (inTime) => deps.read(inTime)).then(
        (report): TokensFacts => ({ report }),
        (thrown: unknown): TokensFacts => ({
          report: undefined,
          problem: thrown instanceof Error ? thrown.message : String(thrown),
        }),
      );
      // Whole seconds: the same page in the same second has the same entity tag.
      const nowMs = Math.floor(deps.clock.now() / 1000) * 1000;
      const state = { params: query, nowMs, zone: "UTC", panel: undefined };
      return await pageAnswer(
        {
          title: "Tokens",
          demo,
          version,
          nav: links.map((link) => ({ ...link, here: link.href === "/tokens" })),
          module: "tokens.js",
          facts: { refreshMs },
          body: tokensPage(facts, state),
          foot: html`<span>As of ${moment(facts.report?.generated_at, state)}</span><a href="/api/tokens.json">JSON</a>`,
        },
        deps.assets,
        headers,
      );
    },
  };
}
