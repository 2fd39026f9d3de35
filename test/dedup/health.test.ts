import { describe, expect, it } from "vitest";
import { dedupHealth } from "../../src/dedup/health.ts";
import type { FailedRun } from "../../src/dedup/last-runs.ts";

const configured = [
  { name: "papers", path: "/srv/papers" },
  { name: "mail", path: "/srv/mail.jsonl" },
  { name: "scans", url: "https://scans.test" },
];
const healthOf = (away: readonly string[], trouble?: string, failed: readonly FailedRun[] = []) =>
  dedupHealth(
    {
      failedRuns: () => failed,
      trouble: () => trouble,
      unreachable: () => away.map((archive) => ({ archive, failure: "not found" })),
    },
    configured,
  );

describe("the health of the document service", () => {
  it("is good while its stores work and its archives can be reached", () => {
    expect(healthOf([])).toEqual({ ok: true });
  });

  it("is partial while an archive is away; only the remedy names it", () => {
    expect(healthOf(["mail"])).toEqual({
      ok: false,
      partial: true,
      reason: "an archive cannot be read: not found",
      remedy:
        'archive "mail": mount /srv/mail.jsonl and let Steward\'s user read it, or correct dedup.archives[1].path',
    });
    expect(healthOf(["papers", "mail"])).toMatchObject({
      partial: true,
      reason: "2 archives cannot be read: not found",
      remedy: expect.stringMatching(/papers.*; archive "mail"/) as string,
    });
    expect(healthOf(["scans"])).toMatchObject({
      remedy:
        'archive "scans": start Paperless-ngx at https://scans.test, or correct its url in dedup.archives',
    });
    expect(healthOf(["demo"])).toMatchObject({ remedy: 'check the archive "demo"' });
  });

  it("is partial after a sync or an analysis that failed, unless an archive that is away explains it", () => {
    const failed = [{ type: "sync", jobId: "j1", error: "/srv/papers/a.txt: permission denied" }];
    expect(healthOf([], undefined, failed)).toEqual({
      ok: false,
      partial: true,
      reason: "the last sync failed",
      remedy: "/srv/papers/a.txt: permission denied; once that is mended: POST /api/v1/sync",
    });
    expect(healthOf(["papers"], undefined, failed)).toMatchObject({
      reason: "an archive cannot be read: not found",
    });
  });

  it("is not partial while a store takes no writes, whatever the archives do", () => {
    expect(healthOf(["papers"], "main: the disk is full")).toEqual({
      ok: false,
      reason: "main: the disk is full",
    });
  });
});
