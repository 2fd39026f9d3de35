/** `steward status`: whether the daemon is well, and a line for each service. */
import type { GetDashboardResponse, ListGroupsResponse } from "../../gen/dedup-json.ts";
import type { StatusJson } from "../../gen/status-json.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import type { CommandContext } from "../command.ts";
import { counted, formatCount } from "../report/text.ts";
import type { RemoteArguments } from "./options.ts";
import { ifFound, runRemote, type RemoteSession } from "./run.ts";
import { formatWhen, tableLines } from "./table.ts";

type Dashboard = GetDashboardResponse["data"];

interface SealStatus {
  readonly initialized: boolean;
  readonly sealed: boolean;
}

/** What the services say; undefined for one that is off. */
interface Answers {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly reasons: string;
  readonly status: StatusJson | undefined;
  readonly dashboard: Dashboard | undefined;
  /** Groups without a verdict; those in the delete plan are pending, too. */
  readonly groupsToReview: number | undefined;
  readonly seal: SealStatus | undefined;
}

const TO_REVIEW = {
  path: "/api/v1/duplicates",
  query: { status: "pending", plan: "out", limit: "1" },
};

/** Exits 0 when the daemon is ready, 1 when it is not. */
export function status(options: RemoteArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async (session) => {
    const answers = await ask(session);
    if (!session.printJson(answers))
      for (const line of report(answers, session)) session.print(line);
    return answers.ready ? 0 : 1;
  });
}

async function ask({ daemon, signal }: RemoteSession): Promise<Answers> {
  const [readiness, document, dashboard, groups, seal] = await Promise.all([
    daemon.bytes({ path: "/readyz" }, signal).then(
      () => ({ ready: true, reasons: "" }),
      (error: unknown) => {
        if (!(error instanceof StewardError) || error.code !== "not_ready") throw error;
        return { ready: false, reasons: error.message.replace("the daemon refuses: ", "") };
      },
    ),
    answered(daemon.json<StatusJson>({ path: "/api/status.json" }, signal)),
    answered(daemon.json<GetDashboardResponse>({ path: "/api/v1/dashboard" }, signal)),
    answered(daemon.json<ListGroupsResponse>(TO_REVIEW, signal)),
    answered(daemon.json<SealStatus>({ path: "/v1/sys/seal-status" }, signal)),
  ]);
  return {
    ...readiness,
    status: document,
    dashboard: dashboard?.data,
    groupsToReview: groups?.meta.total,
    seal,
  };
}

/** A service that is off or refuses everything leaves the others their lines. */
async function answered<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await ifFound(asked);
  } catch (error) {
    if (error instanceof StewardError && error.code === "not_ready") return undefined;
    throw error;
  }
}

function report(answers: Answers, { style, nowMs }: RemoteSession): string[] {
  const { status: document, ready, reasons } = answers;
  const word = ready ? (document?.health ?? "ready") : "not ready";
  const paint = word === "ready" || word === "healthy" ? style.good : style.bad;
  return [
    `${nameOf(document)}: ${paint(word)}${document === undefined ? "" : `, up for ${document.service.uptime}`}`,
    ...(reasons === "" ? [] : [`  ${printable(reasons)}`]),
    ...(document?.health_problems ?? []).map(
      ({ reason, remedy = "" }) =>
        `  ${printable(reason)}${remedy === "" ? "" : `; ${printable(remedy)}`}`,
    ),
    "",
    ...tableLines(
      [{ head: "SERVICE" }, { head: "STATE" }, { head: "DETAILS" }],
      rows(answers, nowMs),
    ),
  ];
}

function nameOf(document: StatusJson | undefined): string {
  if (document === undefined) return "Steward";
  const { version, demo } = document.service;
  return `Steward ${version}${demo === true ? " (demo)" : ""}`;
}

function rows(answers: Answers, nowMs: number): string[][] {
  const { status: document, dashboard, seal } = answers;
  const state = (service: string, on: boolean): string =>
    document?.services[service] ?? (on ? "ready" : "off");
  return [
    ["monitor", state("monitor", document !== undefined), monitorDetails(document)],
    ["dedup", state("dedup", dashboard !== undefined), dedupDetails(answers, nowMs)],
    ["tokens", state("tokens", seal !== undefined), sealDetails(seal)],
  ];
}

function monitorDetails(document: StatusJson | undefined): string {
  if (document === undefined || document.networks.length === 0) return "no network is configured";
  const online = document.devices.filter((device) => device.online).length;
  const { active, failing } = document.fleet;
  return [
    counted(document.networks.length, "network"),
    `${counted(document.devices.length, "device")}, ${formatCount(online)} online`,
    `${counted(active, "collector")}${failing > 0 ? `, ${formatCount(failing)} failing` : ""}`,
  ].join("; ");
}

function dedupDetails({ dashboard, groupsToReview }: Answers, nowMs: number): string {
  if (dashboard === undefined) return "";
  const { totalDocuments, lastSyncAt, analysisStale } = dashboard;
  return [
    counted(totalDocuments, "document"),
    ...(groupsToReview === undefined ? [] : [`${counted(groupsToReview, "group")} to review`]),
    `last sync ${formatWhen(lastSyncAt, nowMs)}`,
    ...(analysisStale ? ["settings changed since the last analysis"] : []),
  ].join("; ");
}

function sealDetails(seal: SealStatus | undefined): string {
  if (seal === undefined) return "";
  return seal.sealed ? "sealed" : "unsealed";
}
