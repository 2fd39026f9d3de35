/** Collects what a page shows from the API. A part that cannot be read leaves its reason. */
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
import { NotThere, type ReviewApi } from "./api.ts";
import { PAGE_GROUPS, readFilters, readOffset } from "./filters.ts";

/** A part of a page, or why it could not be read. */
export type Read<T> = { readonly value: T } | { readonly problem: string; readonly gone: boolean };

/** What syncs and analyses did and do. */
export interface Activity {
  readonly sync: SyncStatus;
  readonly analysis: AnalysisStatus;
  /** Documents that changed since the last analysis. */
  readonly waiting: number;
  /** The newest sync and the newest analysis, where they failed. */
  readonly failed: readonly Job[];
  /** Groups in the delete plan. */
  readonly accepted: number;
}

/** A group with the texts of two of its documents. */
export interface OpenGroup {
  readonly group: Group;
  /** The document beside the primary; undefined where there is none. */
  readonly other: string | undefined;
  readonly texts: Read<MemberTexts> | undefined;
}

export interface DuplicatesFacts {
  readonly list: Read<ListGroupsResponse>;
  readonly activity: Read<Activity>;
  readonly open: Read<OpenGroup> | undefined;
}

export interface PlanFacts {
  readonly plan: Read<GetDeletePlanResponse>;
}

export interface DocumentsFacts {
  readonly list: Read<ListDocumentsResponse>;
  readonly waiting: boolean;
}

export interface DocumentFacts {
  readonly document: Read<Document>;
}

/** Accepted groups on one page of the plan. */
const PAGE_PLANNED = 50;
/** Documents on one page. */
const PAGE_DOCUMENTS = 50;
const RECENT_JOBS = 20;

export async function loadDuplicates(
  api: ReviewApi,
  params: URLSearchParams,
): Promise<DuplicatesFacts> {
  const id = params.get("group");
  // An analysis that ends between the two may leave an activity that is too old, which is read
  // again, and never a list that is older than the activity says.
  const activity = await loadActivity(api);
  const [list, open] = await Promise.all([
    read(() => api.groups(readFilters(params), PAGE_GROUPS)),
    id === null || id === "" ? undefined : loadGroup(api, id, params.get("with") ?? undefined),
  ]);
  return { list, activity, open };
}

/** A group, and the texts of its primary and of one other document: the given one, else the first. */
export function loadGroup(
  api: ReviewApi,
  id: string,
  wanted: string | undefined,
): Promise<Read<OpenGroup>> {
  return read(async () => {
    const group = await api.group(id);
    const primary = group.members.find(({ isPrimary }) => isPrimary);
    const others = group.members.filter(({ isPrimary }) => !isPrimary);
    const other = (others.find(({ documentId }) => documentId === wanted) ?? others[0])?.documentId;
    const texts =
      primary === undefined || other === undefined
        ? undefined
        : await read(() => api.texts(id, primary.documentId, other));
    return { group, other, texts };
  });
}

export function loadActivity(api: ReviewApi): Promise<Read<Activity>> {
  const accepted = { ...readFilters(new URLSearchParams()), shown: "accepted" } as const;
  return read(async () => {
    const [sync, analysis, waiting, jobs, plan] = await Promise.all([
      api.sync(),
      api.analysis(),
      api.documents({ search: "", offset: 0, limit: 1, pending: true }),
      api.jobs(),
      api.groups(accepted, 1),
    ]);
    return {
      sync,
      analysis,
      waiting: waiting.meta.total,
      failed: (["sync", "analysis"] as const).flatMap((type) => {
        const newest = jobs.slice(0, RECENT_JOBS).find((job) => job.type === type);
        return newest?.status === "failed" ? [newest] : [];
      }),
      accepted: plan.meta.total,
    };
  });
}

export async function loadPlan(api: ReviewApi, params: URLSearchParams): Promise<PlanFacts> {
  return {
    plan: await read(() => api.plan({ offset: readOffset(params), limit: PAGE_PLANNED })),
  };
}

export async function loadDocuments(
  api: ReviewApi,
  params: URLSearchParams,
): Promise<DocumentsFacts> {
  const waiting = params.get("waiting") === "true";
  const query = {
    search: (params.get("q") ?? "").slice(0, 200),
    offset: readOffset(params),
    limit: PAGE_DOCUMENTS,
    pending: waiting,
  };
  return { list: await read(() => api.documents(query)), waiting };
}

export async function loadDocument(api: ReviewApi, id: string): Promise<DocumentFacts> {
  return { document: await read(() => api.document(id)) };
}

/** The part, or why it could not be read. Never rejects. */
export async function read<T>(from: () => Promise<T>): Promise<Read<T>> {
  try {
    return { value: await from() };
  } catch (thrown) {
    const problem = thrown instanceof Error ? thrown.message : String(thrown);
    return { problem, gone: thrown instanceof NotThere };
  }
}

/** The value of a part that could be read. */
export function valueOf<T>(part: Read<T> | undefined): T | undefined {
  return part !== undefined && "value" in part ? part.value : undefined;
}

/** Why a part could not be read. */
export function problemOf(part: Read<unknown> | undefined): string | undefined {
  return part !== undefined && "problem" in part ? part.problem : undefined;
}
