import { describe, expect, it } from "vitest";
import { createFirstRun } from "../../src/monitor/first-run.ts";

describe("the first run", () => {
  it("holds readiness back until one collector had a good run, and names those that have yet to", () => {
    const first = createFirstRun();
    expect(first.component.health?.()).toEqual({ ok: true });
    for (const name of ["devices", "users"]) first.registered(name);
    expect(first.component.health?.()).toEqual({
      ok: false,
      reason: "starting: waiting for first run: devices, users",
    });
    first.succeeded();
    expect(first.component.health?.()).toEqual({ ok: true });
  });

  it("names no more than a line holds", () => {
    const first = createFirstRun();
    for (let at = 0; at < 30; at += 1) first.registered(`c${at}`);
    expect(first.component.health?.().reason).toMatch(/c18, c19, …$/);
  });
});
