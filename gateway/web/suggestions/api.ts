/**
 * What the pages `/suggestions` and `/suggestions/costs` read: the public API, called in the process
 * by the server and over HTTP by the browser.
 */
import type {
  AiConfig,
  AiCosts,
  AiResultDetail,
  AiStats,
  Document,
  Job,
  ListAiResultsResponse,
} from "../../../src/gen/dedup-json.ts";
import type { Filters } from "./filters.ts";

/** Each method rejects with a sentence for the reader, or with `NotThere`. */
export interface SuggestionsApi {
  config(): Promise<AiConfig>;
  stats(): Promise<AiStats>;
  results(filters: Filters, limit: number): Promise<ListAiResultsResponse>;
  result(id: string): Promise<AiResultDetail>;
  /** As last synced. */
  document(id: string): Promise<Document>;
  /** `days` bounds the costs by day. */
  costs(days: number): Promise<AiCosts>;
  /** Newest first. */
  jobs(): Promise<readonly Job[]>;
}
