/** The settings endpoints over HTTP, as the page reads and changes them. */
import type {
  AiProviderTest,
  ConnectionTest,
  DedupConfigPreview,
  GetAnalysisStatusResponse,
  ImportConfigResponse,
  ListAiProvidersResponse,
  ListArchivesResponse,
  ListSettingsResponse,
  ListJobsResponse,
  PreviewDedupConfigResponse,
  TestAiProviderResponse,
  TestConnectionResponse,
  UpdateDedupConfigResponse,
} from "../../../src/gen/dedup-json.ts";
import type { SettingsApi } from "../settings/api.ts";
import type { AnalysisCounts } from "../settings/page.ts";
import { call } from "./document-api.ts";

/** Analysis settings by the API's names, e.g. `minWords`. */
export type AnalysisChange = Readonly<Record<string, number | boolean | string>>;

/** What the reader changes. Each rejects with a sentence, or with `RefusedFields`. */
interface SettingsActions {
  preview(change: AnalysisChange): Promise<DedupConfigPreview>;
  saveAnalysis(change: AnalysisChange): Promise<UpdateDedupConfigResponse>;
  /** By the names of all settings as text, e.g. `ai.model`. */
  saveTexts(settings: Readonly<Record<string, string>>): Promise<void>;
  test(archive: string): Promise<ConnectionTest>;
  /** The provider that the settings choose. */
  testProvider(): Promise<AiProviderTest>;
  /** Of an analysis that was completed. */
  result(jobId: string): Promise<AnalysisCounts>;
  importFile(body: unknown): Promise<ImportConfigResponse>;
}

export const settingsClient: SettingsApi & SettingsActions = {
  settings: async () => (await call<ListSettingsResponse>("GET", "/config/settings")).data,
  archives: async () => (await call<ListArchivesResponse>("GET", "/archives")).data,
  analysis: async () => (await call<GetAnalysisStatusResponse>("GET", "/analysis/status")).data,
  providers: async () => (await call<ListAiProvidersResponse>("GET", "/ai/providers")).data,
  preview: async (change) =>
    (await call<PreviewDedupConfigResponse>("POST", "/config/dedup/preview", { change })).data,
  saveAnalysis: (change) => call("PUT", "/config/dedup", change),
  saveTexts: (settings) => call("PUT", "/config", { settings }),
  test: async (archive) =>
    (await call<TestConnectionResponse>("POST", "/config/test-connection", { archive })).data,
  testProvider: async () =>
    (await call<TestAiProviderResponse>("POST", "/ai/test-connection")).data,
  result: async (jobId) =>
    (
      await call<{ readonly data: ListJobsResponse["data"][number] }>(
        "GET",
        `/jobs/${encodeURIComponent(jobId)}`,
      )
    ).data.result as AnalysisCounts,
  importFile: (body) => call("POST", "/import/config", body),
};
