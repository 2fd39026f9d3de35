/** What the tests of the pool share: the tasks of `fixtures` by name, and a log that is not read. */
import { createLog } from "../../../src/kernel/base/log.ts";
import type { Task } from "../../../src/kernel/pool/types.ts";

export const log = createLog({
  level: "error",
  format: "json",
  write: () => undefined,
  now: () => 0,
});

export function task<I, O>(name: string): Task<I, O> {
  return { name, file: new URL(`./fixtures/${name}.ts`, import.meta.url) };
}
