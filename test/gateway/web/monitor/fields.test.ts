import type { DescMessage } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { landing } from "../../../../gateway/web/landing/landing.ts";
import { monitorPage } from "../../../../gateway/web/monitor/monitor-page.ts";
import type { StatusJson } from "../../../../src/gen/status-json.ts";
import { StatusSchema } from "../../../../src/gen/steward/monitor/v1/status_pb.ts";
import { jsonName } from "../../../../src/kernel/wire/style.ts";
import { fullStatus, healthyStatus, summary, NOW, offStatus } from "../fixtures/status.ts";
import { renderHtml } from "../render-html.ts";

type Path = readonly (string | number)[];

/** Both pages over the status, one below the other. */
function draw(status: StatusJson, query = ""): string {
  return [landing, monitorPage]
    .map((page) =>
      renderHtml(
        page(
          { status, summary: { archive: summary.archive }, summaryAtMs: Date.parse(NOW) },
          {
            params: new URLSearchParams(query),
            nowMs: Date.parse(NOW),
            zone: "UTC",
            panel: undefined,
          },
        ),
      ),
    )
    .join("");
}

/** Of a long list two rows, and those that have other fields, say as much as all. */
function shortened<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, shortened(each as unknown)]),
    ) as T;
  const shapes = new Set<string>();
  return value
    .filter((each: unknown, index) => shapes.size < shapes.add(shapeOf(each)).size || index < 2)
    .map((each: unknown) => shortened(each)) as T;
}

/** The names of the fields that have a value. */
function shapeOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .flatMap(([key, each]) => (each === null ? [] : [key]))
    .toSorted()
    .join(" ");
}

/** Every field of a value once, with the first place it is found at. */
function leaves(
  value: unknown,
  path: Path = [],
  found: Map<string, Path> = new Map(),
): Map<string, Path> {
  if (typeof value !== "object" || value === null) {
    const field = path.filter((step) => typeof step === "string").join(".");
    if (!found.has(field)) found.set(field, path);
    return found;
  }
  for (const [key, each] of Array.isArray(value) ? value.entries() : Object.entries(value))
    leaves(each, [...path, key], found);
  return found;
}

/** The value with another leaf. */
function changed<T>(value: T, [key, ...rest]: Path): T {
  if (key === undefined) return other(value) as T;
  const copy = (
    Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }
  ) as Record<string | number, unknown>;
  copy[key] = changed(copy[key], rest);
  return copy as T;
}

function other(leaf: unknown): unknown {
  if (typeof leaf === "boolean") return !leaf;
  if (typeof leaf === "number") return leaf * 3 + 17;
  if (typeof leaf !== "string") return "other";
  return Number.isNaN(Date.parse(leaf)) || !/^\d{4}-/.test(leaf)
    ? (OTHER_WORDS[leaf] ?? `${leaf}x`)
    : new Date(Date.parse(leaf) - 86_400_000 * 3).toISOString();
}

/** Words of a closed list have no other spelling. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  degraded: "healthy",
  critical: "warning",
  ok: "warning",
  scope_denied: "supported",
  insufficient: "satisfied",
  available: "current",
};

/** What is not said in words, and why. */
const SILENT: ReadonlySet<string> = new Set([
  // The interval of the asking itself, and the moment that all ages count from.
  "schema_version",
  "refresh_ms",
  "generated_at",
  // The product's own name is on the page whatever it is; the banner comes from the configuration,
  // not from the status.
  "service.name",
  "service.demo",
  // `health_problems` says the same, with what to do.
  "health_reasons",
  // Chooses the card that a problem belongs to.
  "health_problems.part",
]);

describe("the landing page", () => {
  const status = shortened(fullStatus());
  const drawn = draw(status);
  // What networks have is drawn where one of them is chosen.
  const [drawnHome, drawnLab] = [draw(status, "network=home"), draw(status, "network=lab")];

  it("shows every field of the status: another value, another page", () => {
    const fields = leaves(status);
    const unseen = [...fields]
      .filter(([, path]) => {
        const other = changed(status, path);
        return (
          draw(other) === drawn &&
          draw(other, "network=home") === drawnHome &&
          draw(other, "network=lab") === drawnLab
        );
      })
      .map(([field]) => field);
    expect(fields.size).toBeGreaterThan(300);
    expect(unseen.filter((field) => !SILENT.has(field))).toEqual([]);
  });

  it("is tested with every field that the declaration knows", () => {
    // The history of series is the process's: a network's part never has it.
    expect([...missing(StatusSchema, [status])]).toEqual([
      "networks.cardinality.total_series",
      "networks.cardinality.growth",
    ]);
  });

  it("says nothing odd when everything is off, and what to do about it", () => {
    const text = draw(offStatus());
    expect(text).not.toMatch(/undefined|NaN|null|Infinity|\[object/);
    expect(text).toContain("No collector runs.");
    expect(text).toContain("set otlp.endpoint");
    expect(text).toContain("No devices are known yet");
  });

  it("says nothing odd when everything is on", () => {
    for (const each of [drawn, drawnHome, draw(healthyStatus())])
      expect(each.replaceAll(/<[^>]*>/g, " ")).not.toMatch(/undefined|NaN|null|Infinity|\[object/);
  });

  it("shows one network's part when the address names it, and all when it names none that there is", () => {
    expect(drawnHome).toContain("acl");
    expect(drawnHome).not.toContain(">auditlogs</strong><small>What");
    expect(
      draw(status, "network=nowhere")
        .replaceAll("network=nowhere&amp;", "")
        .replaceAll("?network=nowhere", "?"),
    ).toBe(drawn);
  });
});

/** Fields of a message that no value has, by their path. */
function* missing(desc: DescMessage, values: readonly unknown[], path = ""): Generator<string> {
  const objects = values.filter(
    (value): value is Record<string, unknown> => typeof value === "object" && value !== null,
  );
  for (const field of desc.fields) {
    const name = jsonName(field);
    const found = objects.map((value) => value[name]).filter((value) => value !== undefined);
    if (found.length === 0) yield `${path}${name}`;
    const message =
      field.fieldKind === "message" || field.fieldKind === "list" || field.fieldKind === "map"
        ? field.message
        : undefined;
    if (
      message === undefined ||
      message.typeName.startsWith("google.protobuf.") ||
      found.length === 0
    )
      continue;
    const inner =
      field.fieldKind === "list"
        ? found.flat()
        : field.fieldKind === "map"
          ? found.flatMap((map) => Object.values(map as object) as unknown[])
          : found;
    yield* missing(message, inner, `${path}${name}.`);
  }
}
