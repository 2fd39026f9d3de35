import { describe, expect, it } from "vitest";
import { dedupHealth } from "../../src/dedup/health.ts";

const configured = [{ name: "papers", path: "/srv/papers" }, { name: "mail", path: "/srv/mail.jsonl" }];
const healthOf = (away: readonly string[], trouble?: string) => dedupHealth({ trouble: () => trouble, unreachable: () => away.map((archive) => ({ archive, failure: "not found" })) }, configured);

describe("the health of the document service", () => {
  it("is good while its stores work and its archives can be reached", () => {
    expect(healthOf([])).toEqual({ ok: true });
  });

  it("is partial while an archive is away; only the remedy names it", () => {
    expect(healthOf(["mail"])).toEqual({ ok: false, partial: true, reason: "an archive cannot be read: not found", remedy: "archive \"mail\": mount /srv/mail.jsonl and let Steward's user read it, or correct dedup.archives[1].path" });
    expect(healthOf(["papers", "mail"])).toMatchObject({ partial: true, reason: "2 archives cannot be read: not found", remedy: expect.stringMatching(/papers.*; archive "mail"/) as string });
    expect(healthOf(["demo"])).toMatchObject({ remedy: 'check the archive "demo"' });
  });

  it("is not partial while a store takes no writes, whatever the archives do", () => {
    expect(healthOf(["papers"], "main: the disk is full")).toEqual({ ok: false, reason: "main: the disk is full" });
  });
});
