/** What every part needs is written once; a second implementation is a defect. */
import { describe, expect, it } from "vitest";
import { authored, codeOf } from "./sources.ts";

interface Rule {
  readonly of: string;
  readonly pattern: RegExp;
  /** Where it is written once, and how it is called. */
  readonly instead: string;
  /** The files that may hold it, with the reason. */
  readonly except: Readonly<Record<string, string>>;
  /** Code that the rule must find. */
  readonly bad: string;
}

const rules: readonly Rule[] = [
  {
    of: "timers of Node",
    pattern: /"(?:node:)?timers(?:\/promises)?"|(?<![.\w])set(?:Timeout|Interval)\(/,
    instead: "kernel/base/clock.ts: clock.timer or delay; kernel/async/wait.ts: waitFor",
    except: {
      "src/kernel/base/clock.ts": "the clock itself",
      "src/kernel/async/wait.ts": "keepAlive",
      "src/kernel/state/writes/write-queue.ts": "keeps the process alive while changes are queued",
    },
    bad: "const timer = setTimeout(done, 5);",
  },
  {
    of: "deadlines on the system's clock",
    pattern: /AbortSignal\.timeout\(/,
    instead: "kernel/async/deadline.ts: withDeadline",
    except: {},
    bad: "await load(AbortSignal.timeout(5_000));",
  },
  {
    of: "races",
    pattern: /Promise\.race\(/,
    instead: "kernel/async/wait.ts: waitFor or orAborted; kernel/async/deadline.ts: withDeadline",
    except: {
      "gateway/rpc.ts": "an answer, or the end of its connection",
      "src/commands/report/output.ts": "two events of one stream",
      "src/dedup/api/sse.ts": "the next event, or a heartbeat",
      "src/kernel/supervisor/member.ts": "the start, or a failure that is reported meanwhile",
      "src/kernel/telemetry/thread/pull/pull-handler.ts": "the metrics, or the end of the request",
    },
    bad: "await Promise.race([work, late]);",
  },
  {
    of: "yielding",
    pattern: /\bsetImmediate\b|\bscheduler\.yield\(/,
    instead: "kernel/async/turns.ts: nextTurn, Turns or atEndOfTurn",
    except: { "src/kernel/async/turns.ts": "yielding itself" },
    bad: "await setImmediate();",
  },
  {
    of: "serial queues",
    pattern: /\bPromise<unknown> = Promise\.resolve\(\)|\.then\((\w+), \1\)/,
    instead: "kernel/async/serial.ts: createSerial or createNamedSerial",
    except: {
      "src/kernel/async/serial.ts": "the queue itself",
      "src/kernel/state/file/last-write.ts": "the same end for success and failure",
      "src/kernel/supervisor/member.ts": "the work under way, of which there is one",
      "gateway/web/browser/duplicates.ts": "a browser module, which cannot import the kernel",
    },
    bad: "let last: Promise<unknown> = Promise.resolve();",
  },
  {
    of: "counters of slots",
    pattern: /\b(?:running|taken|free|inFlight|active) -= 1\b/,
    instead: "kernel/async/semaphore.ts: createSemaphore",
    except: {
      "src/kernel/telemetry/thread/pull/pull-stats.ts": "a gauge, which bounds nothing",
      "src/kernel/threads/host/main-host.ts": "a gauge, which bounds nothing",
    },
    bad: "inFlight -= 1;",
  },
  {
    of: "delays that double",
    pattern: /\* 2 \*\* (?!\d)|\b\w*[wW]aitMs \* 2\b|\b2 \* [\w.#]*(?:wait|retry|delay)Ms\b/i,
    instead: "kernel/async/backoff.ts: backoffMs",
    except: { "src/kernel/async/backoff.ts": "the backoff itself" },
    bad: "const waitMs = firstMs * 2 ** (failures - 1);",
  },
  {
    of: "CORS headers",
    pattern: /access-control-(?!request)/i,
    instead: "kernel/listen/headers/cors.ts",
    except: { "src/kernel/listen/headers/cors.ts": "the headers themselves" },
    bad: 'headers["access-control-allow-origin"] = origin;',
  },
  {
    of: "IPv4 addresses inside IPv6 ones",
    pattern: /::ffff/i,
    instead: "kernel/base/ip-address.ts: unmapped or mappedIpv4",
    except: {},
    bad: 'address.slice("::ffff:".length)',
  },
];

/** The browser's modules run elsewhere, on what the browser has. */
const files = authored.filter((file) => !file.startsWith("gateway/web/browser/"));

describe.each(rules)("$of", ({ pattern, instead, except, bad }) => {
  it("are written once", () => {
    const found = files.filter((file) => except[file] === undefined && pattern.test(codeOf(file)));
    expect(found.map((file) => `${file}: use ${instead}`)).toEqual([]);
  });

  it("would be found elsewhere", () => {
    expect(bad).toMatch(pattern);
  });

  it("are still in the files that may hold them", () => {
    expect(Object.keys(except).filter((file) => !pattern.test(codeOf(file)))).toEqual([]);
  });
});
