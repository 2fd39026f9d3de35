/** `steward flows top`: what uses the network most. */
import type { FlowCounts, FlowLabel, FlowReport, FlowResult } from "../../gen/flows-json.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { formatDuration } from "../../kernel/config/values/units.ts";
import type { CommandContext } from "../command.ts";
import { counted, formatCount, formatTraffic } from "../report/text.ts";
import type { RemoteArguments } from "./options.ts";
import { ifFound, runRemote } from "./run.ts";
import { tableLines, type Column } from "./table.ts";

/** By what the traffic is ranked. */
export type Ranking = "devices" | "pairs" | "ports" | "users" | "tags" | "relays";

export interface FlowsArguments extends RemoteArguments {
  readonly by: Ranking;
  /** Undefined is the daemon's default. */
  readonly windowMs: number | undefined;
  /** Empty is all. */
  readonly network: string;
  readonly limit: number;
}

interface Table {
  readonly columns: readonly Column[];
  readonly rows: (result: FlowResult) => readonly (readonly string[])[];
}

const FIGURES: readonly Column[] = [
  { head: "SENT", figures: true },
  { head: "RECEIVED", figures: true },
  { head: "CONNECTIONS", figures: true },
];

const TABLES: Readonly<Record<Ranking, Table>> = {
  devices: {
    columns: [
      { head: "DEVICE" },
      { head: "SENT", figures: true },
      { head: "RECEIVED", figures: true },
    ],
    rows: ({ nodes }) =>
      nodes.map(({ node, sent, received }) => [
        node,
        formatTraffic(bytesOf(sent)),
        formatTraffic(bytesOf(received)),
      ]),
  },
  pairs: {
    columns: [{ head: "FROM" }, { head: "TO" }, { head: "TRAFFIC" }, ...FIGURES],
    rows: ({ pairs }) =>
      pairs.map(({ src, dst, traffic_type: type, counts }) => [src, dst, type, ...figures(counts)]),
  },
  ports: {
    columns: [{ head: "PORT" }, { head: "TRANSPORT" }, { head: "SERVICE" }, ...FIGURES],
    rows: ({ ports }) =>
      ports.map(({ port, transport, service, counts }) => [
        port,
        transport,
        service,
        ...figures(counts),
      ]),
  },
  users: { columns: [{ head: "USER" }, ...FIGURES], rows: ({ users }) => labels(users) },
  tags: { columns: [{ head: "TAG" }, ...FIGURES], rows: ({ tags }) => labels(tags) },
  relays: {
    columns: [
      { head: "PEER" },
      { head: "DIRECT", figures: true },
      { head: "RELAYED", figures: true },
    ],
    rows: ({ peer_paths: peers }) =>
      peers.map(({ peer, direct, relayed }) => [
        peer,
        formatTraffic(bytesOf(direct)),
        formatTraffic(bytesOf(relayed)),
      ]),
  },
};

export function flowsTop(options: FlowsArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async ({ daemon, signal, print, printJson, style }) => {
    const { by, network, windowMs, limit } = options;
    const report = await ifFound(
      daemon.json<FlowReport>(
        {
          path: "/api/flows.json",
          query: {
            top: limit,
            recent: 0,
            ...(network === "" ? {} : { network }),
            ...(windowMs === undefined ? {} : { window: formatDuration(windowMs) }),
          },
        },
        signal,
      ),
    );
    if (report === undefined) throw notStored(network);
    if (printJson(report)) return 0;
    const { columns, rows } = TABLES[by];
    const shown = rows(report.result);
    if (shown.length > 0) for (const line of tableLines(columns, shown)) print(line);
    const { totals } = report.result;
    const window = report.window.replace(/(?<=h)0m0s$|(?<=m)0s$/, "");
    print(
      style.quiet(
        totals.flows === 0
          ? `no traffic in the last ${window}`
          : `${formatTraffic(bytesOf(totals))} in ${counted(totals.flows, "connection")} within ${window}${report.network === "*" ? "" : ` of ${report.network}`}`,
      ),
    );
    return 0;
  });
}

function notStored(network: string): StewardError {
  return network === ""
    ? new StewardError("not_found", "this daemon stores no flows", {
        remedy:
          "a network with flow logs is needed, and flows.enabled, services.monitor, admin.enabled and admin.landing_page must be true",
      })
    : new StewardError(
        "not_found",
        `this daemon stores no flows of a network ${JSON.stringify(network.slice(0, 40))}`,
        {
          remedy: "steward flows top --json names the networks",
        },
      );
}

function labels(rows: readonly FlowLabel[]): readonly (readonly string[])[] {
  return rows.map(({ label, counts }) => [label, ...figures(counts)]);
}

function figures(counts: FlowCounts): string[] {
  return [
    formatTraffic(counts.tx_bytes),
    formatTraffic(counts.rx_bytes),
    formatCount(counts.flows),
  ];
}

function bytesOf({ tx_bytes: sent, rx_bytes: received }: FlowCounts): number {
  return sent + received;
}
