/** The island of `/tokens`: the report as a list that has no older pages. */
import type { TokensReport } from "../../../src/gen/tokens-json.ts";
import { tokensPage, type TokensFacts } from "../tokens/tokens-page.ts";
import { startLiveList } from "./live-list.ts";

interface LiveTokens extends TokensFacts {
  readonly olderCursor: undefined;
}

const factsOf = (report: TokensReport): LiveTokens => ({ report, olderCursor: undefined });

startLiveList<TokensReport, LiveTokens>({
  path: "/api/tokens.json",
  params: [],
  factsOf,
  withNewer: (_, report) => factsOf(report),
  withOlder: (facts) => facts,
  view: tokensPage,
});
