/** A real Prometheus that scrapes a port of this machine, for as long as a test needs it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../free-port.ts";
import { spawn } from "../spawn.ts";

const ASK_AGAIN_MS = 50;

/** One series of an answer. */
interface Found {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One exemplar of an answer. */
interface FoundExemplar {
  /** Of the series. */
  readonly series: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly seconds: number;
}

/** A running Prometheus. */
export interface Prometheus extends AsyncDisposable {
  /** Asks until that many series answer; the test's own time limit ends the asking. */
  query(expression: string, series: number): Promise<Found[]>;
  /** Asks once; empty while Prometheus does not answer. */
  queryOnce(expression: string): Promise<Found[]>;
  /**
   * Asks until one series of the selector has an exemplar; the test's own time limit ends the
   * asking.
   */
  exemplars(selector: string): Promise<FoundExemplar[]>;
}

/**
 * Starts one that scrapes the paths every 500 ms, which a busy machine needs for a large
 * exposition.
 */
export async function runPrometheus(
  targetPort: number,
  paths: readonly string[],
): Promise<Prometheus> {
  const directory = await mkdtemp(join(tmpdir(), "steward-prometheus-"));
  const jobs = paths.map(
    (path, index) =>
      `  - job_name: job${index}\n    metrics_path: ${path}\n    static_configs: [{ targets: ["127.0.0.1:${targetPort}"] }]\n`,
  );
  await writeFile(
    join(directory, "prometheus.yml"),
    `global: { scrape_interval: 2s, scrape_timeout: 2s }\nscrape_configs:\n${jobs.join("")}`,
  );
  const port = await freePort();
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(directory, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(directory, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--enable-feature=exemplar-storage",
    ],
    { stdio: "ignore" },
  );
  const gone = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  return {
    async query(expression, series) {
      for (;;) {
        const found = await ask(port, expression);
        if (found.length >= series) return found;
      }
    },
    queryOnce: async (expression) => await ask(port, expression),
    async exemplars(selector) {
      for (;;) {
        const found = await askExemplars(port, selector);
        if (found.length > 0) return found;
        await sleep(ASK_AGAIN_MS);
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function ask(port: number, expression: string): Promise<Found[]> {
  try {
    const answer = await fetch(
      `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`,
    );
    const body = (await answer.json()) as {
      readonly data?: {
        readonly result: readonly {
          readonly metric: Record<string, string>;
          readonly value: readonly [number, string];
        }[];
      };
    };
    return (body.data?.result ?? []).map(({ metric, value }) => ({
      labels: metric,
      value: Number(value[1]),
    }));
  } catch {
    return [];
  }
}

interface ExemplarAnswer {
  readonly data?: readonly {
    readonly seriesLabels: Record<string, string>;
    readonly exemplars: readonly {
      readonly labels: Record<string, string>;
      readonly value: string;
      readonly timestamp: number;
    }[];
  }[];
}

async function askExemplars(port: number, selector: string): Promise<FoundExemplar[]> {
  try {
    const end = Math.ceil(Date.now() / 1_000);
    const answer = await fetch(
      `http://127.0.0.1:${port}/api/v1/query_exemplars?query=${encodeURIComponent(selector)}&start=${end - 3_600}&end=${end}`,
    );
    const { data = [] } = (await answer.json()) as ExemplarAnswer;
    return data.flatMap(({ seriesLabels, exemplars }) =>
      exemplars.map(({ labels, value, timestamp }) => ({
        series: seriesLabels,
        labels,
        value: Number(value),
        seconds: timestamp,
      })),
    );
  } catch {
    return [];
  }
}
