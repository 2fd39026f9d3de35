/**
 * Answers of a person on a terminal. What is visible is edited by the terminal itself, line by
 * line; a secret is read key by key, without echo.
 */
import type { ReadStream } from "node:tty";
import { orAborted } from "../../kernel/async/wait.ts";
import { errorWithRemedy, StewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import type { Answers, Question } from "./answers.ts";

/** Text that waits for a question, and the longest answer; more is dropped. */
const WAITING_LENGTH = 65_536;

/** Keys that act while a secret is typed. */
const ENTER = /[\r\n]/;
const INTERRUPT = "\u0003";
const END = "\u0004";
const ERASE = new Set(["\u007f", "\b"]);
const ERASE_ALL = "\u0015";
/**
 * Arrows, Delete and the like are sequences: ESC `[` or ESC `O`, parameters, and a final character
 * (ECMA-48); F1 of Linux's console is ESC `[[A`.
 */
const ESCAPE = "\u001b";
const SEQUENCE = new Set(["[", "O"]);
const PARAMETER = /[ -?]/;
const FINAL = /[@-~]/;

/**
 * Asks on the terminal. A question without an answer is asked again; one that is asked again offers
 * what was answered before. Reading rejects with the signal's reason, and with `cancelled` when the
 * terminal closes.
 */
export function openTerminalAnswers(
  input: ReadStream,
  write: (text: string) => void,
  signal: AbortSignal,
): Answers {
  const keys = createKeys(input, signal);
  const before = new Map<string, string>();
  const secrets = new Map<string, Secret>();
  return {
    async read({ id, text, usual, choices }: Question) {
      const offered = before.get(id) ?? usual;
      const options = choices === undefined ? "" : ` (${choices.join(", ")})`;
      for (;;) {
        const shown = offered === undefined || offered === "" ? "" : ` [${printable(offered)}]`;
        write(`${text}${options}${shown}: `);
        const line = await keys.line();
        if (line.includes(ESCAPE)) {
          write("  Only Backspace and Ctrl-U edit an answer.\n  Try again.\n");
          continue;
        }
        const answer = line.trim() || offered;
        if (answer === undefined) continue;
        before.set(id, answer);
        return answer;
      }
    },
    async readSecret({ id, text }) {
      const offered = secrets.get(id);
      for (;;) {
        // Before the question shows: whatever is typed after it must not be echoed.
        input.setRawMode(true);
        try {
          write(`${text}${offered === undefined ? "" : " [as before]"}, not shown: `);
          const typed = (await keys.hidden()).trim();
          write("\r\n");
          const secret = typed === "" ? offered : Secret.of(typed, id);
          if (secret === undefined) continue;
          secrets.set(id, secret);
          return secret;
        } finally {
          input.setRawMode(false);
        }
      }
    },
    refuse(error) {
      // A question that its own answer fails has nothing to offer again.
      if (error.field !== undefined) before.delete(error.field);
      write(`  ${printable(errorWithRemedy(error))}\n  Try again.\n`);
    },
    finish() {
      // Every answer was to a question.
    },
    close: () => keys.close(),
  };
}

interface Keys {
  /** What was typed up to Enter. */
  line(): Promise<string>;
  /** The same in raw mode, where nobody else reacts to control keys. */
  hidden(): Promise<string>;
  close(): void;
}

function createKeys(input: ReadStream, signal: AbortSignal): Keys {
  let waiting = "";
  let ended = false;
  let wake = (): void => {};
  const onData = (text: string): void => {
    waiting = (waiting + text).slice(0, WAITING_LENGTH);
    wake();
  };
  const onEnd = (): void => {
    ended = true;
    wake();
  };
  input.setEncoding("utf8").on("data", onData).on("end", onEnd).resume();

  async function next(): Promise<string> {
    for (;;) {
      const [key] = waiting;
      if (key !== undefined) {
        waiting = waiting.slice(key.length);
        return key;
      }
      if (ended) throw new StewardError("cancelled", "the terminal is closed");
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await orAborted(promise, signal);
    }
  }

  /** The next key that belongs to no sequence. */
  async function nextKey(): Promise<string> {
    let key = await next();
    while (key === ESCAPE) {
      key = await next();
      if (!SEQUENCE.has(key)) continue;
      key = await next();
      if (key === "[") key = await next();
      while (PARAMETER.test(key)) key = await next();
      // A control key in the middle acts as ever.
      if (FINAL.test(key)) key = await next();
    }
    return key;
  }

  return {
    async line() {
      let line = "";
      for (let key = await next(); !ENTER.test(key); key = await next()) line += key;
      return line;
    },
    async hidden() {
      let typed: string[] = [];
      for (;;) {
        const key = await nextKey();
        if (ENTER.test(key)) return typed.join("");
        if (key === INTERRUPT) process.kill(process.pid, "SIGINT");
        else if (key === END) ended = true;
        else if (ERASE.has(key)) typed.pop();
        else if (key === ERASE_ALL) typed = [];
        else if (key >= " ") typed.push(key);
      }
    },
    close() {
      input.off("data", onData).off("end", onEnd).pause();
    },
  };
}
