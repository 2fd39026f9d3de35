import { describe, expect, it } from "vitest";
import { changes } from "../../../../gateway/web/landing/changes.ts";
import { needs } from "../../../../gateway/web/landing/needs.ts";
import type { DayFacts } from "../../../../gateway/web/landing/day.ts";
import type { LandingFacts } from "../../../../gateway/web/landing/process-summary.ts";
import type { Capability, Device } from "../../../../src/gen/status-json.ts";
import { healthyStatus, NOW, summary } from "../fixtures/status.ts";
import { renderHtml } from "../render-html.ts";

const nowMs = Date.parse(NOW);
const DAY_MS = 86_400_000;
const state = { params: new URLSearchParams(), nowMs, zone: "UTC", panel: undefined };
const healthy = healthyStatus();
const { key_expires_at: _, ...auth } = healthy.api.auth;
const quiet = (): LandingFacts => ({
  status: { ...healthy, devices: [], capability_matrix: [], api: { ...healthy.api, auth } },
  summary: {
    archive: summary.archive && { ...summary.archive, pending: 0 },
    tokens: summary.tokens && {
      ...summary.tokens,
      irrevocable: 0,
      failedMintAt: undefined,
      refusedMintAt: undefined,
    },
  },
  summaryAtMs: nowMs,
});
const items = (html: string): string[] =>
  [...html.matchAll(/<li>(.*?)<\/li>/gs)].map(([, item = ""]) =>
    item
      .replaceAll(/<svg.*?<\/svg>/gs, "")
      .replaceAll(/<(?!a\b|\/a)[^>]*>/g, "")
      .trim(),
  );
const device = (name: string, days: number, more: Partial<Device> = {}): Device =>
  ({
    name,
    key_expires_at: new Date(nowMs + days * DAY_MS).toISOString(),
    ...more,
  }) as Device;

describe("what needs the reader", () => {
  it("is nothing when nothing waits", () => {
    expect(renderHtml(needs(quiet(), state))).toContain("Nothing waits for you.");
  });

  it("is every key that ends within 14 days, the first of them first", () => {
    const facts = quiet();
    const shown = (...devices: Device[]): string[] =>
      items(
        renderHtml(
          needs({ ...facts, status: facts.status && { ...facts.status, devices } }, state),
        ),
      );
    expect(shown(device("far", 15), device("never", 1, { key_expiry_disabled: true }))).toEqual([]);
    expect(shown(device("oak.example", 2))).toEqual([
      '<a href="/devices/oak.example">The key of oak.example expires in 2 d.</a>',
    ]);
    const [several = ""] = shown(
      ...["d", "c", "b", "a"].map((name, index) => device(name, 4 - index)),
    );
    expect(several).toMatch(
      /^<a href="\/devices">4 keys of devices end within 14 days: a, b, c and 1 other; the first expires in 1 d\.<\/a>$/,
    );
  });

  it("is Steward's own credential before it ends", () => {
    const facts = quiet();
    const key_expires_at = new Date(nowMs + 3 * DAY_MS).toISOString();
    const status = facts.status && {
      ...facts.status,
      api: { ...facts.status.api, auth: { ...facts.status.api.auth, key_expires_at } },
    };
    expect(items(renderHtml(needs({ ...facts, status }, state)))).toEqual([
      expect.stringContaining("own credential for the control plane expires in 3 d."),
    ]);
  });

  it("is an operation that is denied, but none that fails for another reason", () => {
    const facts = quiet();
    const states = ["scope_denied", "transient_failure", "request_rejected", "credential_rejected"];
    const status = facts.status && {
      ...facts.status,
      capability_matrix: states.map((each) => ({ state: each, actionable: true }) as Capability),
    };
    expect(items(renderHtml(needs({ ...facts, status }, state)))).toEqual([
      expect.stringContaining("1 operation denied by the control plane for want of a scope."),
    ]);
  });

  it("names collectors, groups, mints and leases with where to go, what is bad first", () => {
    const facts = quiet();
    const status = facts.status && {
      ...facts.status,
      collectors: facts.status.collectors.map((row, index) => ({
        ...row,
        has_run: true,
        last_success: index > 0,
      })),
    };
    const found = items(
      renderHtml(
        needs(
          {
            ...facts,
            status,
            summary: {
              archive: summary.archive && { ...summary.archive, pending: 7 },
              tokens: summary.tokens && {
                ...summary.tokens,
                irrevocable: 2,
                failedMintAt: undefined,
                refusedMintAt: NOW,
              },
            },
          },
          state,
        ),
      ),
    );
    expect(found.map((item) => item.replaceAll(/<[^>]*>/g, ""))).toEqual([
      expect.stringMatching(/^2 leases could not be revoked/),
      expect.stringMatching(/^1 collector failing: /),
      expect.stringMatching(/^A mint was refused /),
      "7 groups of near-duplicates to review.",
    ]);
    expect(found.flatMap((item) => /href="([^"]*)"/.exec(item)?.[1] ?? [])).toEqual([
      "/tokens",
      "/monitor#collectors",
      "/tokens",
      "/duplicates",
    ]);
  });
});

describe("what changed since yesterday", () => {
  const none: DayFacts = {
    came: { count: 0, names: [] },
    left: { count: 0, names: [] },
  };
  const shown = (day: DayFacts | undefined): string =>
    renderHtml(changes({ ...quiet(), day }, state));

  it("is said to be unknown, or nothing", () => {
    expect(shown(undefined)).toContain("Not known: the last day could not be read.");
    expect(shown(none)).toContain("Nothing was seen to change.");
  });

  it("is who came and left, what there is more or less of, and the newest events", () => {
    const found = items(
      shown({
        ...none,
        came: { count: 7, names: ["a", "b", "c", "d", "e"] },
        left: { count: 1, names: ["f"] },
        documents: { points: [10, 12], yesterday: 10 },
        groups: { points: [3, 2], yesterday: 3 },
        events: [
          {
            time: NOW,
            source: "audit",
            severity: "info",
            action: "UPDATE",
            target_name: "acl",
            actor_name: "ada",
            seq: 2,
          },
          { time: NOW, source: "webhook", severity: "warn", summary: "Node <b> expired", seq: 1 },
        ],
      }),
    ).map((item) => item.replaceAll(/<[^>]*>/g, ""));
    expect(found).toEqual([
      "7 devices joined: a, b, c, d, e and 2 others.",
      "1 device left: f.",
      "2 documents more than yesterday.",
      "1 group of near-duplicates fewer than yesterday.",
      expect.stringMatching(/^UPDATE acl, by ada /),
      expect.stringMatching(/^Node &lt;b&gt; expired /),
    ]);
  });
});
