import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createNamedSerial, createSerial } from "../../../src/kernel/async/serial.ts";

/** Work that notes when it begins and ends. */
function step(name: string, log: string[]): () => Promise<string> {
  return async () => {
    log.push(`${name} begins`);
    await turn();
    log.push(`${name} ends`);
    return name;
  };
}

it("runs one piece of work after the other and gives each its own outcome", async () => {
  const serial = createSerial();
  const log: string[] = [];
  const broken = serial(() => Promise.reject(new Error("broken")));
  const others = [serial(step("a", log)), serial(step("b", log))];
  await expect(broken).rejects.toThrow("broken");
  expect(await Promise.all(others)).toEqual(["a", "b"]);
  expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
});

it("orders work under the same name only", async () => {
  const serial = createNamedSerial();
  const log: string[] = [];
  await Promise.all([
    serial("x", step("x1", log)),
    serial("x", step("x2", log)),
    serial("y", step("y1", log)),
  ]);
  expect(log.indexOf("x2 begins")).toBeGreaterThan(log.indexOf("x1 ends"));
  expect(log.indexOf("y1 begins")).toBeLessThan(log.indexOf("x1 ends"));
});
