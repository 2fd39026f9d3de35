/** Stores in memory or on disk: flows, events, names and places of addresses. */
import { formatBytes, formatCount, formatNumber, formatWords, UNKNOWN } from "../format.ts";
import { html, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { keyValues, listView } from "../pieces/key-values.ts";
import { part } from "../pieces/section.ts";
import { onOff, stateText } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import type { EventStore, FlowStore, Geoip, ReverseDns } from "../../../src/gen/status-json.ts";

/** A disabled store, without its counters: all of them are zero. */
function off(title: string, name: string): View {
  return part(title, keyValues([[name, stateText("unknown", "off")]]));
}

/** Flows. */
export function flowStore(store: FlowStore): View {
  const { backend } = store;
  if (!store.enabled) return off("Flows", "Store");
  return part(
    "Flows",
    keyValues([
      ["Store", onOff(store.enabled)],
      ["Minutes stored", `${formatCount(store.buckets)} of ${formatCount(store.capacity)}`],
      ["Covered", store.covered === undefined ? "nothing yet" : formatWords(store.covered)],
      ["Retention", text(store.retention)],
      ["Connections seen", formatCount(store.observations)],
      ["Merged into __other__", formatCount(store.truncated)],
      ["Newest kept in full", formatCount(store.max_recent)],
      ["Profile", store.capacity_profile === "" ? "–" : store.capacity_profile],
      [
        "Estimated maximum size",
        html`<span title=${`${store.estimated_bytes} bytes`}>${formatBytes(store.estimated_bytes)}</span>`,
      ],
      ...(backend === undefined
        ? []
        : [
            [
              "Backend",
              `${backend.kind === "" ? "–" : backend.kind}${backend.persistent ? ", on disk" : ""}`,
            ] as const,
            [
              "Backend state",
              stateText(
                backend.healthy ? "good" : "bad",
                backend.healthy
                  ? "healthy"
                  : `unhealthy${backend.errors === undefined ? "" : `: ${backend.errors.join("; ")}`}`,
              ),
            ] as const,
            ["Queued", formatCount(backend.queued ?? 0)] as const,
            ["Dropped", formatCount(backend.queue_drops ?? 0)] as const,
            ["Rows", formatCount(backend.rows ?? 0)] as const,
            [
              "Size",
              html`<span title=${`${backend.size_bytes ?? 0} bytes`}>${formatBytes(backend.size_bytes ?? 0)}</span>`,
            ] as const,
            ...(backend.healthy && backend.errors !== undefined
              ? [["Errors", backend.errors.join("; ")] as const]
              : []),
          ]),
    ]),
  );
}

/** Events. */
export function eventStore(store: EventStore): View {
  if (!store.enabled) return off("Events", "Store");
  return part(
    "Events",
    keyValues([
      ["Store", onOff(store.enabled)],
      ["Stored", `${formatCount(store.retained)} of ${formatCount(store.capacity)}`],
      ["Recorded", formatCount(store.recorded)],
      ["Evicted", formatCount(store.evicted)],
    ]),
  );
}

/** Reverse DNS, with its purge. */
export function reverseDns(cache: ReverseDns, state: PageState): View {
  if (!cache.enabled) return off("Reverse DNS", "Cache");
  return part("Reverse DNS", [
    keyValues([
      ["Cache", onOff(cache.enabled)],
      ["Names", `${formatCount(cache.size)} of ${formatCount(cache.capacity)}`],
      [
        "Hit rate",
        cache.hits + cache.misses === 0
          ? UNKNOWN
          : html`<span title=${`${cache.hit_rate_pct} %`}>${formatNumber(cache.hit_rate_pct)} %</span>`,
      ],
      [
        "Hits, misses, negative",
        `${formatCount(cache.hits)}, ${formatCount(cache.misses)}, ${formatCount(cache.negatives)}`,
      ],
      [
        "Queries",
        `${formatCount(cache.query_success)} answered, ${formatCount(cache.query_fail)} failed`,
      ],
      [
        "Evicted",
        `${formatCount(cache.evicted_expired)} expired, ${formatCount(cache.evicted_purged)} purged`,
      ],
      ["Dropped (cache full)", formatCount(cache.overflows)],
      ["TTL", `${text(cache.ttl)}, negative ${text(cache.negative_ttl)}`],
      ["Last purge", moment(cache.last_purge, state)],
    ]),
    html`<p class="scripted"><button type="button" data-open="purge">Purge the names…</button></p>`,
  ]);
}

/** GeoIP. */
export function geoip(geo: Geoip, state: PageState): View {
  if (!geo.enabled) return off("GeoIP", "Lookup");
  return part(
    "GeoIP",
    keyValues([
      ["Lookup", onOff(geo.enabled)],
      ["Download", onOff(geo.download_enabled)],
      ["In flow metrics", onOff(geo.geo_dims)],
      ["Countries", database(geo.country_path, geo.country_type, geo.country_age)],
      ["Country data built", moment(geo.country_build_time, state, "–")],
      ["Networks", database(geo.asn_path, geo.asn_type, geo.asn_age)],
      ["Network data built", moment(geo.asn_build_time, state, "–")],
      [
        "Country hits, misses",
        `${formatCount(geo.country_hits)}, ${formatCount(geo.country_misses)}`,
      ],
      ["Network hits, misses", `${formatCount(geo.asn_hits)}, ${formatCount(geo.asn_misses)}`],
      ["Skipped", formatCount(geo.skipped)],
      ["Reloads", `${formatCount(geo.reloads)}, ${formatCount(geo.reload_failures)} failed`],
    ]),
  );
}

function database(
  path: string | undefined,
  type: string | undefined,
  age: string | undefined,
): View {
  const known = [type, path, age === undefined ? undefined : `${formatWords(age)} old`].filter(
    (each) => each !== undefined,
  );
  return listView(known, "not loaded");
}

function text(value: string | undefined): string {
  return value === undefined || value === "" ? UNKNOWN : formatWords(value);
}
