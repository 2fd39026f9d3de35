/** The page at `/tokens`, over the tokens service's own API. */
import { pageAssets } from "../../../gateway/web/assets.ts";
import { tokensRoute } from "../../../gateway/web/tokens/route.ts";
import type { FollowingPageOptions } from "../../../gateway/web/read-page.ts";
import { OverviewService } from "../../gen/steward/tokens/v1/overview_service_pb.ts";
import type { TokensReport } from "../../gen/tokens-json.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { ownMessage } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createCall, type PlainRoute, type Service } from "../../kernel/service.ts";
import { writeRestJson } from "../../kernel/wire/rest-json.ts";
import { callHandler } from "./call-handler.ts";

export function tokensPageRoute(
  { tokens, clock }: { readonly tokens: Pick<Service, "rpc">; readonly clock: Clock },
  options: FollowingPageOptions,
): PlainRoute {
  return tokensRoute(
    {
      clock,
      assets: pageAssets(),
      read: async (signal) => {
        try {
          const method = OverviewService.method.getTokens;
          const call = createCall({ signal, requestId: systemIds.uuid() });
          const answer = await callHandler(tokens.rpc, method, {}, call);
          return JSON.parse(writeRestJson(method, answer)) as TokensReport;
        } catch (thrown) {
          throw new Error(ownMessage(thrown), { cause: thrown });
        }
      },
    },
    options,
  );
}
