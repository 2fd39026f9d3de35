/**
 * The code blocks of a Markdown page, and one shell that runs them one after the other as a reader
 * would.
 */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { spawnGroup } from "../support/spawn.ts";

/** A fenced block. */
export interface Snippet {
  readonly language: string;
  /** The heading of the second level that it stands under. */
  readonly section: string;
  /**
   * The file that it shows, from a first line such as `# agent.hcl` or `// mint.mjs`; undefined for
   * commands.
   */
  readonly file: string | undefined;
  /** Without the indentation of a list. */
  readonly text: string;
}

/** All fenced blocks of a page, in order. */
export function snippetsOf(page: string): readonly Snippet[] {
  let section = "";
  const snippets: Snippet[] = [];
  for (const found of page.matchAll(/^## (.+)$|^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)) {
    const [, heading, indent = "", language = "", body = ""] = found;
    if (heading === undefined)
      snippets.push(
        snippetOf(section, language, body.replaceAll(new RegExp(`^ {${indent.length}}`, "gm"), "")),
      );
    else section = heading;
  }
  return snippets;
}

function snippetOf(section: string, language: string, text: string): Snippet {
  return { section, language, text, file: /^(?:#|\/\/) ([\w./-]+\.\w+)\n/.exec(text)?.[1] };
}

/** A bash that stays, so that later blocks know the variables and jobs of earlier ones. */
export interface Shell {
  /**
   * Runs commands; resolves with what they print. Rejects with all output when one fails, and the
   * shell is over then.
   */
  run(commands: string): Promise<string>;
  /** Ends the shell and the jobs that it still has. */
  close(): Promise<void>;
}

/** Starts one that ends at the first command that fails, inside pipes too. */
export function startShell(options: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): Shell {
  // A process group of its own, so that its jobs end with it.
  const child = spawnGroup("bash", ["-euo", "pipefail"], {
    ...options,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  return {
    async run(commands) {
      const mark = randomUUID();
      const from = output.length;
      child.stdin.write(`${commands}\nprintf '\\n%s\\n' ${mark}\n`);
      const printed = (): string => output.slice(from);
      await Promise.race([seen(child, () => printed().includes(mark)), ended]);
      if (!printed().includes(mark))
        throw new Error(`the shell ended in:\n${commands}\nafter printing:\n${printed()}`);
      return printed().slice(0, printed().indexOf(`\n${mark}`));
    },
    async close() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
        process.kill(-child.pid, "SIGKILL");
      await ended;
    },
  };
}

function seen(child: ChildProcess, isThere: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!isThere()) return;
      child.stdout?.off("data", look);
      resolve();
    };
    child.stdout?.on("data", look);
  });
}

/**
 * Replaces all texts at once. One after the other, a port that was put in and begins like one that
 * is to be replaced would be changed again.
 */
export function replaceEach(text: string, replacements: Readonly<Record<string, string>>): string {
  const found = Object.keys(replacements).map((each) =>
    each.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"),
  );
  return text.replaceAll(new RegExp(found.join("|"), "g"), (each) => replacements[each] ?? each);
}
