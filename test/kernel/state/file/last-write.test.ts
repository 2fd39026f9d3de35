import { beforeEach, expect, it, vi } from "vitest";

let { haltWrites, whileStoring } = await import("../../../../src/kernel/state/file/last-write.ts");

// What is halted stays so for the life of a process: each test gets a fresh one.
beforeEach(async () => {
  vi.resetModules();
  ({ haltWrites, whileStoring } = await import("../../../../src/kernel/state/file/last-write.ts"));
});

it("a halt waits for what is being stored, well or not, and lets nothing begin after it", async () => {
  const [well, badly] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const stored = whileStoring(() => well.promise);
  const failed = whileStoring(() => badly.promise);
  let isQuiet: boolean | undefined;
  const halting = haltWrites(10_000).then((quiet) => (isQuiet = quiet));
  const late = vi.fn(() => Promise.resolve());
  await expect(whileStoring(late)).rejects.toMatchObject({ code: "not_ready" });
  expect([late.mock.calls.length, isQuiet]).toEqual([0, undefined]);
  well.resolve("stored");
  badly.reject(new Error("no room"));
  await halting;
  expect(isQuiet).toBe(true);
  expect(await stored).toBe("stored");
  await expect(failed).rejects.toThrow("no room");
});

it("a halt says that something is still being stored when its time is over", async () => {
  void whileStoring(() => new Promise(() => {}));
  expect(await haltWrites(5)).toBe(false);
});

it("a halt has nothing to wait for when nothing is stored", async () => {
  await whileStoring(() => Promise.resolve());
  expect(await haltWrites(10_000)).toBe(true);
});
