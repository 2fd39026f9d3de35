/**
 * What the pages `/duplicates` and `/documents` read: the public API, called in the process by the
 * server and over HTTP by the browser.
 */
import type {
  AnalysisStatus,
  Document,
  GetDeletePlanResponse,
  Group,
  Job,
  ListDocumentsResponse,
  ListGroupsResponse,
  MemberTexts,
  SyncStatus,
} from "../../../src/gen/dedup-json.ts";
import type { Filters } from "./filters.ts";

interface DocumentQuery {
  /** Part of the title. */
  readonly search: string;
  readonly offset: number;
  readonly limit: number;
  /** Only those that wait for the next analysis. */
  readonly pending: boolean;
}

/** Each method rejects with a sentence for the reader, or with `NotThere`. */
export interface ReviewApi {
  groups(filters: Filters, limit: number): Promise<ListGroupsResponse>;
  /** Without the members' texts. */
  group(id: string): Promise<Group>;
  texts(id: string, docA: string, docB: string): Promise<MemberTexts>;
  plan(page: { readonly offset: number; readonly limit: number }): Promise<GetDeletePlanResponse>;
  documents(query: DocumentQuery): Promise<ListDocumentsResponse>;
  document(id: string): Promise<Document>;
  sync(): Promise<SyncStatus>;
  analysis(): Promise<AnalysisStatus>;
  /** Newest first. */
  jobs(): Promise<readonly Job[]>;
}

/** The API has no such group or document. */
export class NotThere extends Error {
  override readonly name = "NotThere";
}

/** A group or document has changed, so that the request is no longer possible. */
export class Changed extends Error {
  override readonly name = "Changed";
}
