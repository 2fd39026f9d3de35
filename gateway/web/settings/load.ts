/** Collects what `/settings/dedup` shows. A part that cannot be read leaves its reason. */
import type {
  AiProvider,
  AnalysisStatus,
  ConfiguredArchive,
  Setting,
} from "../../../src/gen/dedup-json.ts";
import { read, type Read } from "../review/load.ts";
import type { SettingsApi } from "./api.ts";

export interface SettingsFacts {
  readonly settings: Read<readonly Setting[]>;
  readonly archives: Read<readonly ConfiguredArchive[]>;
  readonly analysis: Read<AnalysisStatus>;
  /** Undefined while AI is off. */
  readonly providers: Read<readonly AiProvider[]> | undefined;
}

/** `ai`: a language model makes suggestions. */
export async function loadSettings(
  api: SettingsApi,
  { ai }: { readonly ai: boolean },
): Promise<SettingsFacts> {
  const [settings, archives, analysis, providers] = await Promise.all([
    read(() => api.settings()),
    read(() => api.archives()),
    read(() => api.analysis()),
    ai ? read(() => api.providers()) : undefined,
  ]);
  return { settings, archives, analysis, providers };
}
