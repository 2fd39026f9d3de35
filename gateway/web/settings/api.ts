/**
 * What the page `/settings/dedup` reads: the public API, called in the process by the server and
 * over HTTP by the browser.
 */
import type {
  AiProvider,
  AnalysisStatus,
  ConfiguredArchive,
  Setting,
} from "../../../src/gen/dedup-json.ts";

/** Each method rejects with a sentence for the reader. */
export interface SettingsApi {
  settings(): Promise<readonly Setting[]>;
  archives(): Promise<readonly ConfiguredArchive[]>;
  analysis(): Promise<AnalysisStatus>;
  /** Refused while AI is off. */
  providers(): Promise<readonly AiProvider[]>;
}
