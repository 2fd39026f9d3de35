/** A command on a pseudo-terminal, through Python's `pty`: Node has none of its own. */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { vi } from "vitest";
import { createScreen } from "./screen.ts";
import type { ShownScreen } from "./screen.ts";
import { spawn } from "./spawn.ts";

/** How the command ended. */
interface PtyEnd {
  /** Negative: the number of the signal that ended it. */
  readonly code: number;
  /** Whether the terminal was left without echo. */
  readonly raw: boolean;
}

export interface Pty {
  readonly screen: ShownScreen;
  /** Everything that was written to the terminal. */
  readonly written: () => string;
  send(text: string): void;
  resize(columns: number, rows: number): void;
  signal(number: number): void;
  /** Waits until the screen shows this. */
  shows(text: string | RegExp): Promise<void>;
  readonly ended: Promise<PtyEnd>;
  /** Ends the command whatever it does. */
  kill(): void;
}

/** Starts a command; Python 3 must be there. */
export function startPty(
  command: readonly string[],
  options: {
    readonly columns?: number;
    readonly rows?: number;
    readonly env?: NodeJS.ProcessEnv;
    readonly cwd?: string;
  } = {},
): Pty {
  const { columns = 80, rows = 24 } = options;
  const driver = join(import.meta.dirname, "pty.py");
  const child = spawn("python3", [driver, `${columns}`, `${rows}`, ...command], {
    ...(options.env && { env: options.env }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const screen = createScreen(columns, rows);
  const order = (message: unknown): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  let written = "";
  const decoder = new TextDecoder();
  const ended = new Promise<PtyEnd>((resolve, reject) => {
    child.on("error", reject);
    child.stdin.on("error", () => undefined);
    createInterface({ input: child.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as { out?: string } & PtyEnd;
      if (message.out === undefined) {
        child.stdin.end();
        resolve(message);
        return;
      }
      const text = decoder.decode(Buffer.from(message.out, "base64"), { stream: true });
      written += text;
      screen.write(text);
    });
  });
  return {
    screen,
    written: () => written,
    send: (text) => order({ send: text }),
    resize(newColumns, newRows) {
      screen.resize(newColumns, newRows);
      order({ resize: [newColumns, newRows] });
    },
    signal: (number) => order({ signal: number }),
    shows: (text) =>
      vi.waitFor(
        () => {
          const found =
            typeof text === "string" ? screen.text().includes(text) : text.test(screen.text());
          if (!found) throw new Error(`the screen does not show ${text}:\n${screen.text()}`);
        },
        { timeout: 60_000, interval: 20 },
      ),
    ended,
    kill: () => void child.stdin.end(),
  };
}
