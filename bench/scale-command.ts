/** `steward dedup` over one file, measured from outside: time, CPU and memory of its process. */
import { spawn } from "node:child_process";
import { createReadStream, createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";

/** Cost of a run. CPU and memory are those of all threads; both are sampled from /proc. */
export interface CommandCost {
  readonly documents: number;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
  readonly peakMiB: number;
  readonly groups: number;
  /** What the command noted, e.g. that pairs may be missing. */
  readonly notes: readonly string[];
}

const SAMPLE_MS = 50;
const TICKS_PER_SECOND = 100;

/** Runs the command; `members` gets the ids of each group. Throws when the command fails. */
export async function runCommand(
  file: string,
  members?: (ids: readonly string[]) => void,
): Promise<CommandCost> {
  const folder = mkdtempSync(join(tmpdir(), "steward-bench-run-"));
  const output = join(folder, "groups.json");
  const startMs = performance.now();
  const child = spawn("bin/steward", ["dedup", "--json", "--quiet", file], {
    cwd: join(import.meta.dirname, ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let [cpuSeconds, peakMiB] = [0, 0];
  const timer = setInterval(() => {
    const sample = sampleOf(child.pid ?? 0);
    cpuSeconds = Math.max(cpuSeconds, sample.cpuSeconds);
    peakMiB = Math.max(peakMiB, sample.peakMiB);
  }, SAMPLE_MS);
  try {
    const ended = new Promise<number | null>((resolve) => {
      child.once("close", resolve);
    });
    await pipeline(child.stdout, createWriteStream(output));
    const status = await ended;
    if (status !== 0) throw new Error(`steward dedup ${file} ended with ${status}`);
    const wallSeconds = (performance.now() - startMs) / 1_000;
    const { summary } = await readOutput(output, members);
    return { ...summary, wallSeconds, cpuSeconds, peakMiB };
  } finally {
    clearInterval(timer);
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Summary {
  readonly documents: number;
  readonly groups: number;
  readonly notes: readonly string[];
}

/** The output has its summary on the first line and then one group a line. */
async function readOutput(
  path: string,
  members: ((ids: readonly string[]) => void) | undefined,
): Promise<{ readonly summary: Summary }> {
  let summary: Summary | undefined;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (!summary) {
      const { documents, groups, notes } = (
        JSON.parse(`${line.replace(/,$/, "")}}`) as { summary: Summary }
      ).summary;
      summary = { documents, groups, notes };
      if (!members) break;
    } else if (line.startsWith('{"id"')) {
      const group = JSON.parse(line.replace(/,$|\]\}$/, "")) as { members: { id: string }[] };
      members?.(group.members.map(({ id }) => id));
    }
  }
  if (!summary) throw new Error("the command printed nothing");
  return { summary };
}

function sampleOf(pid: number): { cpuSeconds: number; peakMiB: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      peakMiB: Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024,
    };
  } catch {
    // The process has ended.
    return { cpuSeconds: 0, peakMiB: 0 };
  }
}
