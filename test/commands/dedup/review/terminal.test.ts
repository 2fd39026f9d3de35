import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { startPty } from "../../../support/pty.ts";

const root = join(import.meta.dirname, "../../../..");

/** Opens a session on the terminal and ends it by an error that nobody catches. */
const CRASH = `
  import { openTerminal } from ${JSON.stringify(
    pathToFileURL(join(root, "src/commands/dedup/review/terminal.ts")).href,
  )};
  const terminal = openTerminal(process.stdin, process.stdout, new AbortController().signal);
  terminal.draw(["ready to crash"]);
  await terminal.next();
  setImmediate(() => {
    throw new Error("the reason of the crash");
  });
  await terminal.next();
`;

describe("the terminal", () => {
  it("is restored before the message of a crash, so that it can be read", async () => {
    const pty = startPty([join(root, "bin/node"), "--input-type=module", "--eval", CRASH], {
      env: { ...process.env, TERM: "xterm" },
    });
    await pty.shows("ready to crash");
    expect(pty.screen.isAlternate).toBe(true);
    pty.send("a");
    expect(await pty.ended).toEqual({ code: 1, raw: false });
    expect(pty.screen.isAlternate).toBe(false);
    expect(pty.screen.cursorIsVisible).toBe(true);
    expect(pty.screen.text()).toContain("the reason of the crash");
  });
});
