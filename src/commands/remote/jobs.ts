/** `steward jobs` and `steward sync`: the jobs of the daemon, and one that is followed to its end. */
import type { Job, ListJobsResponse, StartSyncResponse } from "../../gen/dedup-json.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { pathOf } from "../../kernel/client/http/url.ts";
import type { CommandContext } from "../command.ts";
import { formatElapsed, formatPercent } from "../report/text.ts";
import { readEvents } from "./events.ts";
import { sameDaemon, type RemoteArguments } from "./options.ts";
import { runRemote, type RemoteSession } from "./run.ts";
import { formatWhen, tableLines } from "./table.ts";

export interface JobsArguments extends RemoteArguments {
  readonly action: "list" | "show" | "cancel";
  /** Of `show` and `cancel`. */
  readonly id: string;
  readonly follow: boolean;
  readonly limit: number | undefined;
}

export interface SyncArguments extends RemoteArguments {
  readonly force: boolean;
  readonly follow: boolean;
}

/** Exits 0, or 1 when the job that was followed did not complete. */
export function jobs(options: JobsArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async (session) => {
    if (options.action === "cancel") return await cancel(options.id, session);
    if (options.action === "show")
      return options.follow
        ? await follow(options.id, session)
        : show((await jobOf(options.id, session)).data, session);
    return options.follow ? await followRunning(session) : await list(options, session);
  });
}

/** Exits 0 once the sync was started or, when it is followed, completed. */
export function sync(options: SyncArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async (session) => {
    const { daemon, signal, print, printJson } = session;
    const started = await daemon.json<StartSyncResponse>(
      { method: "POST", path: "/api/v1/sync", body: { force: options.force } },
      signal,
    );
    const { jobId } = started.data;
    if (options.follow) return await follow(jobId, session);
    if (!printJson(started))
      print(`sync started: steward jobs --follow ${jobId}${sameDaemon(options)}`);
    return 0;
  });
}

async function list({ limit }: JobsArguments, session: RemoteSession): Promise<number> {
  const answer = await listed(session, { limit });
  if (session.printJson(answer)) return 0;
  if (answer.data.length === 0) session.print("no jobs yet");
  else
    for (const line of tableLines(
      [
        { head: "ID" },
        { head: "TYPE" },
        { head: "STATUS" },
        { head: "DONE", figures: true },
        { head: "STARTED" },
        { head: "TOOK", figures: true },
        { head: "MESSAGE" },
      ],
      answer.data.map((job) => rowOf(job, session.nowMs)),
    ))
      session.print(line);
  return 0;
}

function rowOf(job: Job, nowMs: number): string[] {
  return [
    job.id,
    nameOf(job),
    job.status,
    formatPercent(job.progress),
    formatWhen(job.startedAt, nowMs),
    tookMs(job, nowMs),
    job.errorMessage ?? job.progressMessage,
  ];
}

function show(job: Job, { print, printJson, nowMs }: RemoteSession): number {
  if (printJson({ data: job })) return 0;
  print(`${nameOf(job)} ${job.id}: ${job.status}, ${formatPercent(job.progress)}`);
  print(
    `started ${formatWhen(job.startedAt, nowMs)}${job.startedAt === null ? "" : `, took ${tookMs(job, nowMs)}`}`,
  );
  const message = job.errorMessage ?? job.progressMessage;
  if (message !== "") print(printable(message));
  if (job.result !== null) print(JSON.stringify(job.result, undefined, 2));
  return 0;
}

async function cancel(
  id: string,
  { daemon, signal, print, printJson }: RemoteSession,
): Promise<number> {
  const answer = await daemon.json<{ readonly data: { readonly status: string } }>(
    { method: "POST", path: pathOf`/api/v1/jobs/${id}/cancel` },
    signal,
  );
  if (!printJson(answer)) print(`${id}: ${answer.data.status}`);
  return 0;
}

async function followRunning(session: RemoteSession): Promise<number> {
  const { data } = await listed(session, { status: "running", limit: 1 });
  const [job] = data;
  if (job !== undefined) return await follow(job.id, session);
  if (!session.printJson({ data: [] })) session.print("no job is running");
  return 0;
}

/** One event of a job's progress. */
interface Progress {
  readonly progress: number;
  readonly message: string;
  readonly status: string;
}

/**
 * Prints each message of a job once, with `--json` every event as one line. 0 when it completed, else
 * 1.
 */
export async function follow(id: string, session: RemoteSession): Promise<number> {
  const { daemon, signal, print, printJsonLine } = session;
  for (;;) {
    const stream = await daemon.stream({ path: pathOf`/api/v1/jobs/${id}/progress` }, signal);
    let last = "";
    for await (const { event, data } of readEvents(stream.body)) {
      const step = JSON.parse(data) as Progress;
      const line = `${formatPercent(step.progress).padStart(5)}  ${printable(step.message)}`;
      if (!printJsonLine(step) && line !== last) print(line);
      last = line;
      if (event === "complete") return finish((await jobOf(id, session)).data, session);
    }
    // The stream has a largest age; a job may be older.
    signal.throwIfAborted();
  }
}

function finish(job: Job, { print, printJsonLine, style, nowMs }: RemoteSession): number {
  const good = job.status === "completed";
  if (!printJsonLine(job))
    print(
      `${nameOf(job)} ${(good ? style.good : style.bad)(job.status)} after ${tookMs(job, nowMs)}${job.errorMessage === null ? "" : `: ${printable(job.errorMessage)}`}`,
    );
  return good ? 0 : 1;
}

function jobOf(id: string, { daemon, signal }: RemoteSession): Promise<{ readonly data: Job }> {
  return daemon.json({ path: pathOf`/api/v1/jobs/${id}` }, signal);
}

function listed(
  { daemon, signal }: RemoteSession,
  query: Readonly<Record<string, string | number | undefined>>,
): Promise<ListJobsResponse> {
  return daemon.json({ path: "/api/v1/jobs", query }, signal);
}

function nameOf({ type, operation }: Job): string {
  // Null where the type says it all.
  return ((operation as string | null) ?? type).replaceAll("_", " ");
}

function tookMs({ startedAt, completedAt }: Job, nowMs: number): string {
  if (startedAt === null) return "";
  return formatElapsed(
    (completedAt === null ? nowMs : Date.parse(completedAt)) - Date.parse(startedAt),
  );
}
