/**
 * What a simulated estate does not do by itself and a metric needs: streams whose totals grow,
 * attributes that end, flows that contradict each other.
 */
import { fillBucket, type Estate } from "./monitor-estate.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MONTH_MS = 30 * 24 * HOUR_MS;

/** Flows that contradict each other, were taken down before they began, and make no sense. */
function oddFlows({ clock, tailscale: { estate } }: Estate): object[] {
  const nowMs = clock.now();
  const [first] = estate.network.devices.at(nowMs);
  const startMs = nowMs - MINUTE_MS;
  const times = {
    start: new Date(startMs).toISOString(),
    end: new Date(startMs + 5_000).toISOString(),
  };
  const connection = {
    proto: 6,
    src: "100.64.0.9:1234",
    dst: "100.64.0.10:443",
    txPkts: 1,
    txBytes: 100,
    rxPkts: 1,
    rxBytes: 100,
  };
  const flow = (change: object, logged = startMs + 6_000): object => ({
    logged: new Date(logged).toISOString(),
    nodeId: first?.nodeId ?? "",
    ...times,
    virtualTraffic: [{ ...connection, ...change }],
  });
  // Which machines use the exit at this minute, the network decides.
  const exit = {
    logged: new Date(startMs + 6_000).toISOString(),
    nodeId: first?.nodeId ?? "",
    ...times,
    exitTraffic: [{ src: "100.64.0.9:0", txPkts: 1, txBytes: 100, rxPkts: 1, rxBytes: 100 }],
  };
  return [
    flow({}),
    flow({ txBytes: 7 }),
    flow({ txBytes: -1 }),
    flow({ src: "100.64.0.11:9" }, startMs - 6_000),
    exit,
  ];
}

/** Arranges all of it, in the control plane and in the bucket. */
export function arrangeOddities(estate: Estate): void {
  const {
    clock,
    tailscale: { estate: control },
  } = estate;
  const nowMs = clock.now();
  let isRead = 1;
  control.change("stream_status", (body) => {
    isRead += 1;
    const totals = Object.fromEntries(
      [
        "numBytesSent",
        "numEntriesSent",
        "numTotalRequests",
        "numFailedRequests",
        "numSpoofedEntries",
        "numMaxBodyRequests",
      ].map((name) => [name, isRead]),
    );
    return { ...(body as object), ...totals, lastError: "the collector answered 500" };
  });
  const expiry = new Date(nowMs + HOUR_MS).toISOString();
  control.change("attributes", (body) => ({
    attributes: {
      ...(body as { attributes: object }).attributes,
      "custom:score": 7,
      "custom:temporary": "yes",
    },
    expiries: { "custom:temporary": expiry },
  }));
  const odd = oddFlows(estate);
  for (const record of odd) control.flow(record, { startMs: nowMs - MINUTE_MS });
  const audit = control.network.audit({ fromMs: nowMs - MONTH_MS, toMs: nowMs });
  fillBucket(
    estate,
    odd,
    audit.slice(-3).map((event) => ({
      eventTime: new Date(event.atMs).toISOString(),
      type: "CONFIG",
      eventGroupID: event.groupId,
      origin: event.origin,
      actor: event.actor,
      target: event.target,
      action: event.action,
    })),
  );
}
