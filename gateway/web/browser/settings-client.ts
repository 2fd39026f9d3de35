/** The settings endpoints over HTTP, as the page reads and changes them. */
import type {
  ConnectionTest,
  DedupConfigPreview,
  GetAnalysisStatusResponse,
  ImportConfigResponse,
  ListArchivesResponse,
  ListSettingsResponse,
  PreviewDedupConfigResponse,
  TestConnectionResponse,
  UpdateDedupConfigResponse,
} from "../../../src/gen/dedup-json.ts";
import type { SettingsApi } from "../settings/api.ts";
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
  importFile(body: unknown): Promise<ImportConfigResponse>;
}

export const settingsClient: SettingsApi & SettingsActions = {
  settings: async () => (await call<ListSettingsResponse>("GET", "/config/settings")).data,
  archives: async () => (await call<ListArchivesResponse>("GET", "/archives")).data,
  analysis: async () => (await call<GetAnalysisStatusResponse>("GET", "/analysis/status")).data,
  preview: async (change) =>
    (await call<PreviewDedupConfigResponse>("POST", "/config/dedup/preview", { change })).data,
  saveAnalysis: (change) => call("PUT", "/config/dedup", change),
  saveTexts: (settings) => call("PUT", "/config", { settings }),
  test: async (archive) =>
    (await call<TestConnectionResponse>("POST", "/config/test-connection", { archive })).data,
  importFile: (body) => call("POST", "/import/config", body),
};
