import { expect, it } from "vitest";
import { describeUncaught } from "../../src/daemon/end-process.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";

function thrownBy(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

it("an error that nobody caught is told without what it may quote", () => {
  const parsed = describeUncaught(thrownBy(() => JSON.parse("canary secret")));
  expect(parsed).toMatchObject({ kind: "SyntaxError", text: undefined });
  expect(parsed.stack).toMatch(/^ {4}at /);
  expect(JSON.stringify(parsed)).not.toContain("canary");
  const refused = Object.assign(new TypeError("received canary"), {
    code: "ERR_INVALID_ARG_VALUE",
  });
  expect(JSON.stringify(describeUncaught(refused))).not.toContain("canary");
  expect(
    JSON.stringify(describeUncaught(Object.assign(new Error("one line\n    canary: of several")))),
  ).not.toContain("canary");
  expect(describeUncaught("canary")).toEqual({ kind: "string", text: undefined, stack: undefined });
});

it("our own errors and slips of the language say what they are", () => {
  expect(describeUncaught(new StewardError("internal", "assertion failed: x"))).toMatchObject({
    text: "assertion failed: x",
  });
  expect(describeUncaught(thrownBy(() => (undefined as unknown as { x: number }).x))).toMatchObject(
    { kind: "TypeError", text: "Cannot read properties of undefined (reading 'x')" },
  );
});
