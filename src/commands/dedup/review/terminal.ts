/**
 * A full-screen session on a terminal: keys one by one, whole screens drawn, and the terminal as it
 * was before after whatever ends the process, but SIGKILL.
 */
import { writeSync } from "node:fs";
import { emitKeypressEvents } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { orAborted, waitFor } from "../../../kernel/async/wait.ts";
import { systemClock } from "../../../kernel/base/clock.ts";

/** A key: its name as of `node:readline` (`return`, `up`, `escape`), or the character typed. */
export interface Key {
  readonly name: string;
  readonly ctrl: boolean;
}

/** Room for text. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** An open session. */
export interface Terminal {
  size(): Size;
  /** Shows lines from the top; each must fit the columns, and all the rows. */
  draw(lines: readonly string[]): void;
  /** The next key; undefined when the screen has another size and must be drawn again. */
  next(): Promise<Key | undefined>;
  /** Gives the terminal to the shell; resolves when the process is continued. */
  suspend(): Promise<void>;
  /** Restores the terminal. Idempotent. */
  close(): void;
}

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const TOP = "\u001b[H";
const END_OF_LINE = "\u001b[K";
const END_OF_SCREEN = "\u001b[J";

/** Keys that wait while a decision is stored; more are dropped. */
const WAITING_KEYS = 64;
/** How long a process that was to stop may go on before it is clear that it does not. */
const UNSTOPPED_MS = 200;
/** What an old or unknown terminal counts as. */
const FALLBACK: Size = { columns: 80, rows: 24 };

/** Opens a session. Rejects `next` with the signal's reason. */
export function openTerminal(
  input: ReadStream,
  output: WriteStream & { readonly fd: number },
  signal: AbortSignal,
): Terminal {
  const waiting: (Key | undefined)[] = [];
  let wake: (() => void) | undefined;
  let isOpen = false;

  const push = (key: Key | undefined): void => {
    if (waiting.length < WAITING_KEYS) waiting.push(key);
    wake?.();
  };
  const onKey = (text: string | undefined, { name = "", ctrl = false, meta }: KeyPress): void => {
    // Escape and a key in quick succession look like a key with Alt, which means nothing here.
    if (meta === true && name !== "escape") push({ name: "escape", ctrl: false });
    // As the terminal does when it is not in raw mode.
    if (ctrl && name === "c") process.kill(process.pid, "SIGINT");
    else push({ name: isPrinted(text) ? text.toLowerCase() : name, ctrl });
  };
  const onResize = (): void => push(undefined);
  const onEnd = (): void => push({ name: "d", ctrl: true });

  // Synchronously: no other output gets out of a process that exits.
  const restore = (): void => {
    if (!isOpen) return;
    isOpen = false;
    input.setRawMode(false);
    try {
      writeSync(output.fd, LEAVE);
    } catch {
      // The terminal is gone.
    }
  };
  const take = (): void => {
    isOpen = true;
    input.setRawMode(true);
    output.write(ENTER);
  };
  emitKeypressEvents(input);
  input.on("keypress", onKey).on("end", onEnd).resume();
  output.on("resize", onResize);
  process.on("exit", restore).on("uncaughtExceptionMonitor", restore);
  take();
  return {
    size: () => ({
      // A line that ends in the last column would lose its end to the erasure that follows.
      columns: Math.max(1, (output.columns || FALLBACK.columns) - 1),
      rows: output.rows || FALLBACK.rows,
    }),
    draw: (lines) =>
      void output.write(
        `${TOP}${lines.map((line) => `${line}${END_OF_LINE}`).join("\r\n")}${END_OF_SCREEN}`,
      ),
    async next() {
      while (waiting.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await orAborted(promise, signal);
      }
      signal.throwIfAborted();
      return waiting.shift();
    },
    async suspend() {
      restore();
      const { promise, resolve } = Promise.withResolvers<void>();
      process.once("SIGCONT", resolve);
      process.kill(process.pid, "SIGTSTP");
      // Without a shell that controls jobs the system ignores the request to stop.
      await waitFor(promise, { clock: systemClock, timeoutMs: UNSTOPPED_MS, signal });
      process.off("SIGCONT", resolve);
      take();
    },
    close() {
      restore();
      input.off("keypress", onKey).off("end", onEnd).pause();
      output.off("resize", onResize);
      process.off("exit", restore).off("uncaughtExceptionMonitor", restore);
    },
  };
}

/** What `node:readline` says of a key. */
interface KeyPress {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
}

function isPrinted(text: string | undefined): text is string {
  return text !== undefined && text > " " && text !== "\u007f";
}
