/** AI suggestions over the API. */
import { AiService } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { bindService } from "../../kernel/service.ts";
import type { BoundService } from "../../kernel/service.ts";
import { BAD_REQUEST } from "../../kernel/wire/issues.ts";
import { aiEnabled } from "../ai/keys.ts";
import type { AiApiDeps } from "./ai-deps.ts";
import { costMethods } from "./ai-costs.ts";
import { resultMethods } from "./ai-results.ts";
import { reviewMethods } from "./ai-review.ts";
import { runMethods } from "./ai-run.ts";

/** All methods of AiService; while AI is off each of them is refused before its request is read. */
export function aiHandlers(deps: AiApiDeps): BoundService {
  const service = bindService(AiService, {
    ...runMethods(deps),
    ...resultMethods(deps),
    ...reviewMethods(deps),
    ...costMethods(deps),
  });
  if (deps.config.get(aiEnabled)) return service;
  const refusal = new StewardError("invalid", "AI is off", {
    rule: BAD_REQUEST,
    remedy: "set AI_ENABLED or dedup.ai.enabled to true and restart",
  });
  return { ...service, refusal };
}
