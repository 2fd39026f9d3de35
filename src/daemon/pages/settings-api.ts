/** The settings endpoints as `/settings/dedup` reads them on the server. */
import type { SettingsApi } from "../../../gateway/web/settings/api.ts";
import type {
  GetAnalysisStatusResponse,
  ListAiProvidersResponse,
  ListArchivesResponse,
  ListSettingsResponse,
} from "../../gen/dedup-json.ts";
import { AiService } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { AnalysisService } from "../../gen/steward/dedup/v1/analysis_pb.ts";
import { ConfigService } from "../../gen/steward/dedup/v1/config_pb.ts";
import type { BoundService, Call } from "../../kernel/service.ts";
import { createAsk } from "./ask-api.ts";

/** The API of one request. Rejects with sentences that a reader may see. */
export function createSettingsApi(rpc: readonly BoundService[], call: Call): SettingsApi {
  const ask = createAsk(rpc, call);
  const { listSettings, listArchives } = ConfigService.method;
  return {
    settings: async () => ((await ask(listSettings, {})) as ListSettingsResponse).data,
    archives: async () => ((await ask(listArchives, {})) as ListArchivesResponse).data,
    analysis: async () =>
      ((await ask(AnalysisService.method.getAnalysisStatus, {})) as GetAnalysisStatusResponse).data,
    providers: async () =>
      ((await ask(AiService.method.listAiProviders, {})) as ListAiProvidersResponse).data,
  };
}
