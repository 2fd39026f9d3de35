import { describe, expect, it } from "vitest";
import { LastChecks } from "../../../src/tokens/overview/last-checks.ts";
import type { Mount } from "../../../src/tokens/vault/mounts/mounts.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const signal = new AbortController().signal;

function setUp(answer: () => Promise<unknown>) {
  const clock = createManualClock();
  const wall = { backMs: 0 };
  let asked = 0;
  const mount = {
    uuid: "u",
    point: "github/",
    backend: {
      handle: () => {
        asked += 1;
        return answer();
      },
    },
  } as unknown as Mount;
  const checks = new LastChecks({
    clock: { ...clock, now: () => clock.now() - wall.backMs },
    ids: systemIds,
  });
  return { clock, wall, mount, checks, asked: () => asked };
}
const found = { data: { ok: true, checks: [{ name: "app", ok: true, detail: "x", remedy: "" }] } };

describe("The doctor's last findings", () => {
  it("are asked once for all who ask at a time, and again after a minute", async () => {
    const { clock, mount, checks, asked } = setUp(() => Promise.resolve(found));
    const [one, two] = await Promise.all([checks.of(mount, signal), checks.of(mount, signal)]);
    expect([one, two]).toEqual([one, one]);
    expect(one?.checks.map(({ name }) => name)).toEqual(["app"]);
    await clock.advance(59_000);
    await checks.of(mount, signal);
    expect(asked()).toBe(1);
    await clock.advance(1_000);
    await checks.of(mount, signal);
    expect(asked()).toBe(2);
  });

  it("are asked again after a minute, whatever becomes of the wall clock", async () => {
    const { clock, wall, mount, checks, asked } = setUp(() => Promise.resolve(found));
    await checks.of(mount, signal);
    await clock.advance(61_000);
    wall.backMs = 3_600_000;
    await checks.of(mount, signal);
    expect(asked()).toBe(2);
  });

  it("do not keep a reader waiting for longer than two seconds, and come later", async () => {
    let answer: (value: unknown) => void = () => undefined;
    const { clock, mount, checks, asked } = setUp(
      () => new Promise((resolve) => (answer = resolve)),
    );
    const first = checks.of(mount, signal);
    await clock.advance(2_000);
    expect(await first).toBeUndefined();
    answer(found);
    expect((await checks.of(mount, signal))?.checks).toHaveLength(1);
    expect(asked()).toBe(1);
  });

  it("say that the examination failed or took too long", async () => {
    const failing = setUp(() => Promise.reject(new Error("no slot")));
    expect((await failing.checks.of(failing.mount, signal))?.checks).toMatchObject([{ ok: false }]);
    const silent = setUp(() => new Promise(() => undefined));
    const first = silent.checks.of(silent.mount, signal);
    await silent.clock.advance(15_000);
    await first;
    expect((await silent.checks.of(silent.mount, signal))?.checks).toMatchObject([
      { ok: false, remedy: "read the mount's doctor" },
    ]);
  });

  it("of mounts that are gone are forgotten", async () => {
    const { mount, checks, asked } = setUp(() => Promise.resolve(found));
    await checks.of(mount, signal);
    checks.keep([]);
    await checks.of(mount, signal);
    expect(asked()).toBe(2);
  });
});
