/** Collects what `/settings/dedup` shows. A part that cannot be read leaves its reason. */
import type { AnalysisStatus, ConfiguredArchive, Setting } from "../../../src/gen/dedup-json.ts";
import { read, type Read } from "../review/load.ts";
import type { SettingsApi } from "./api.ts";

export interface SettingsFacts {
  readonly settings: Read<readonly Setting[]>;
  readonly archives: Read<readonly ConfiguredArchive[]>;
  readonly analysis: Read<AnalysisStatus>;
}

export async function loadSettings(api: SettingsApi): Promise<SettingsFacts> {
  const [settings, archives, analysis] = await Promise.all([
    read(() => api.settings()),
    read(() => api.archives()),
    read(() => api.analysis()),
  ]);
  return { settings, archives, analysis };
}
