import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import { afterEach, describe, expect, it } from "vitest";
import { openTerminalAnswers } from "../../../src/commands/init/terminal-answers.ts";
import { until, type Answers } from "../../../src/commands/init/answers.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";

interface Typed {
  readonly answers: Answers;
  readonly written: () => string;
  /** As it was when each piece was written. */
  readonly rawWhileWriting: () => readonly boolean[];
  readonly type: (text: string) => void;
  readonly abort: () => void;
  readonly isRaw: () => boolean;
  readonly end: () => void;
}

const opened: Answers[] = [];
afterEach(() => opened.splice(0).forEach((answers) => answers.close()));

function open(): Typed {
  let raw = false;
  let written = "";
  const modes: boolean[] = [];
  const stream = new PassThrough();
  const input = Object.assign(stream, { setRawMode: (on: boolean) => void (raw = on) });
  const controller = new AbortController();
  const write = (text: string): void => {
    modes.push(raw);
    written += text;
  };
  const answers = openTerminalAnswers(input as unknown as ReadStream, write, controller.signal);
  opened.push(answers);
  return {
    answers,
    written: () => written,
    rawWhileWriting: () => modes,
    type: (text) => void stream.write(text),
    abort: () => controller.abort(new StewardError("cancelled", "interrupted")),
    isRaw: () => raw,
    end: () => void stream.end(),
  };
}

const URL_QUESTION = { id: "a.url", text: "Address" };

describe("answers on a terminal", () => {
  it("are lines without blanks around them; an empty one is the usual answer", async () => {
    const { answers, type, written } = open();
    type("  https://one  \n\n");
    expect(await answers.read(URL_QUESTION)).toBe("https://one");
    expect(
      await answers.read({ id: "b", text: "Kind", usual: "none", choices: ["none", "x"] }),
    ).toBe("none");
    expect(written()).toBe("Address: Kind (none, x) [none]: ");
  });

  it("are asked for until there is one", async () => {
    const { answers, type, written } = open();
    type("\n\nlast\n");
    expect(await answers.read(URL_QUESTION)).toBe("last");
    expect(written()).toBe("Address: Address: Address: ");
  });

  it("are offered again after a failure that is not their own", async () => {
    const { answers, type } = open();
    type("https://one\n\nhttps://two\n\n");
    const own = new StewardError("invalid", "wrong", { field: "a.url" });
    expect(await answers.read(URL_QUESTION)).toBe("https://one");
    answers.refuse(new StewardError("upstream", "down"));
    expect(await answers.read(URL_QUESTION)).toBe("https://one");
    answers.refuse(own);
    expect(await answers.read(URL_QUESTION)).toBe("https://two");
    expect(await answers.read(URL_QUESTION)).toBe("https://two");
  });

  it("of secrets are read without echo, with erasing, and never shown", async () => {
    const { answers, type, written, isRaw, rawWhileWriting } = open();
    const reading = answers.readSecret({ id: "k", text: "Key" });
    expect(isRaw()).toBe(true);
    type("wrong\u0015sX\u007fecret-é\t\r");
    expect((await reading).use((value) => value)).toBe("secret-é");
    expect(isRaw()).toBe(false);
    expect(rawWhileWriting()).toEqual([true, true]);
    type("\r");
    const again = await answers.readSecret({ id: "k", text: "Key" });
    expect(again.use((value) => value)).toBe("secret-é");
    expect(written()).toBe("Key, not shown: \r\nKey [as before], not shown: \r\n");
  });

  it.each([
    ["arrows", ["\u001b[Ds\u001b[1;5Ce\u001bOAcret"]],
    ["Delete and function keys", ["se\u001b[3~cr\u001bOP\u001b[15~\u001b[[Aet"]],
    ["a sequence in pieces", ["sec\u001b", "[", "1;", "5", "Dret"]],
    ["Alt with an arrow, and Escape alone", ["sec\u001b\u001b[Dr\u001bet\u001b"]],
  ])("of secrets have no character of %s", async (_name, pieces) => {
    const { answers, type } = open();
    const reading = answers.readSecret({ id: "k", text: "Key" });
    for (const piece of pieces) {
      type(piece);
      await setImmediate();
    }
    type("\r");
    expect((await reading).use((value) => value)).toBe("secret");
  });

  it("of secrets end with Ctrl-D in the middle of a sequence", async () => {
    const { answers, type } = open();
    const reading = answers.readSecret({ id: "k", text: "Key" });
    type("secret\u001b[1;\u0004");
    await expect(reading).rejects.toMatchObject({ code: "cancelled" });
  });

  it("are asked for again when an arrow key is part of them", async () => {
    const { answers, type, written } = open();
    type("/srv/stward\u001b[D\u001b[De\n/srv/steward\n");
    expect(await answers.read({ id: "state", text: "Folder" })).toBe("/srv/steward");
    expect(written()).toBe(
      "Folder:   Only Backspace and Ctrl-U edit an answer.\n  Try again.\nFolder: ",
    );
  });

  it("end with the signal and with the terminal, which is left as it was", async () => {
    const first = open();
    const reading = first.answers.readSecret({ id: "k", text: "Key" });
    first.abort();
    await expect(reading).rejects.toMatchObject({ code: "cancelled" });
    expect(first.isRaw()).toBe(false);
    const second = open();
    const line = second.answers.read(URL_QUESTION);
    second.end();
    await expect(line).rejects.toMatchObject({ code: "cancelled" });
    const third = open();
    const hidden = third.answers.readSecret({ id: "k", text: "Key" });
    third.type("half\u0004");
    await expect(hidden).rejects.toMatchObject({ code: "cancelled" });
    expect(third.isRaw()).toBe(false);
  });

  it("are asked for again after a failure, but not after a mistake of ours", async () => {
    const { answers, written } = open();
    let attempts = 0;
    const value = await until(answers, () => {
      attempts += 1;
      return attempts < 3
        ? Promise.reject(new StewardError("upstream", "down", { remedy: "start it" }))
        : Promise.resolve("up");
    });
    expect(value).toBe("up");
    expect(written()).toBe("  down; start it\n  Try again.\n".repeat(2));
    await expect(until(answers, () => Promise.reject(new TypeError("bug")))).rejects.toThrow("bug");
  });
});
