import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import {
  createNotifier,
  type Notifier,
  type NotifierDeps,
} from "../../../src/kernel/supervisor/notify.ts";
import { createManualClock } from "./manual-clock.ts";
import { spawn } from "../../support/spawn.ts";

const clock = createManualClock();
const has = (program: string): boolean =>
  spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

function notifier(
  environment: Record<string, string>,
  more: Partial<NotifierDeps> = {},
): { notifier: Notifier; sent: string[]; lines: string[] } {
  const sent: string[] = [];
  const lines: string[] = [];
  const log = createLog({
    level: "debug",
    format: "text",
    now: () => 0,
    write: (line) => lines.push(line),
  });
  const send = async (assignments: readonly string[]): Promise<void> =>
    void sent.push(assignments.join(" "));
  return {
    sent,
    lines,
    notifier: createNotifier({ clock, log, environment, pid: 7, send, ...more }),
  };
}

const socket = { NOTIFY_SOCKET: "/run/systemd/notify" };

describe("systemd", () => {
  it("is told nothing when it does not listen", async () => {
    const { notifier: silent, sent } = notifier({ WATCHDOG_USEC: "1000000" });
    silent.ready("up");
    silent.stopping();
    await clock.advance(0);
    expect([silent.active, silent.watchdog, sent]).toEqual([false, undefined, []]);
  });

  it("is told in order, on one line each", async () => {
    const { notifier: told, sent } = notifier(socket);
    told.ready("listening on\nhttp://127.0.0.1:8400");
    told.status("x".repeat(500));
    told.stopping();
    await clock.advance(0);
    expect(sent).toEqual([
      "READY=1 STATUS=listening on http://127.0.0.1:8400",
      `STATUS=${"x".repeat(200)}`,
      "STOPPING=1",
    ]);
  });

  it("that cannot be told is no failure and is said once", async () => {
    const { notifier: told, lines } = notifier(socket, {
      send: () => Promise.reject(new Error("no such program")),
    });
    told.ready("up");
    told.stopping();
    await clock.advance(0);
    expect(lines.filter((line) => line.includes("cannot notify systemd"))).toHaveLength(1);
  });

  describe("by the program it brings", () => {
    /** Sends both messages of a life with a `systemd-notify` that does this; gives the log. */
    async function sendBy(folder: string, program: string): Promise<string[]> {
      writeFileSync(join(folder, "systemd-notify"), `#!/bin/sh\n${program}\n`);
      chmodSync(join(folder, "systemd-notify"), 0o755);
      const lines: string[] = [];
      const log = createLog({
        level: "warn",
        format: "text",
        now: () => 0,
        write: (line) => lines.push(line),
      });
      const told = createNotifier({
        clock,
        log,
        pid: 7,
        environment: { ...socket, PATH: `${folder}:${process.env["PATH"]}` },
      });
      told.ready("up");
      told.stopping();
      // The second begins when the first has ended, and was judged.
      await vi.waitFor(
        () => expect(readFileSync(join(folder, "said"), "utf8")).toContain("STOPPING=1\n"),
        { timeout: 60_000, interval: 5 },
      );
      return lines;
    }

    function notifyFolder(): string {
      const folder = mkdtempSync(join(tmpdir(), "steward-notify-"));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      return folder;
    }

    it("is told, and waited for until it has read the message", async () => {
      const folder = notifyFolder();
      expect(await sendBy(folder, `echo "$NOTIFY_SOCKET $*" >> ${folder}/said`)).toEqual([]);
      expect(readFileSync(join(folder, "said"), "utf8")).toBe(
        "/run/systemd/notify READY=1 STATUS=up\n/run/systemd/notify STOPPING=1\n",
      );
    });

    it.each([
      ["does not confirm it", "Failed to invoke barrier: Connection timed out", 0],
      ["does not take it", "Failed to notify init system: Connection refused", 1],
    ])("that %s: %s", async (_, message, warnings) => {
      const folder = notifyFolder();
      const program = `echo "$*" >> ${folder}/said; echo "${message}" >&2; exit 1`;
      expect(await sendBy(folder, program)).toHaveLength(warnings);
    });
  });

  it.runIf(has("systemd-notify") && has("python3"))("hears it on its socket", async () => {
    const folder = mkdtempSync(join(tmpdir(), "steward-notify-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "socket");
    const listener = spawn("python3", [
      "-c",
      `import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.settimeout(20); s.bind(${JSON.stringify(path)}); print("bound", flush=True); print(s.recv(999).decode(), flush=True)`,
    ]);
    const lines = createInterface(listener.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe("bound");
    const log = createLog({ level: "error", format: "text", now: () => 0, write: () => {} });
    createNotifier({
      clock,
      log,
      pid: 7,
      environment: { NOTIFY_SOCKET: path, PATH: process.env["PATH"] },
    }).ready("up");
    expect([(await lines.next()).value, (await lines.next()).value]).toEqual([
      "READY=1",
      "STATUS=up",
    ]);
  });
});

describe("the watchdog", () => {
  const environment = { ...socket, WATCHDOG_USEC: "20000000", WATCHDOG_PID: "7" };
  const begin = (told: Notifier): Promise<void> | undefined =>
    told.watchdog?.start(new AbortController().signal, () => {});
  const start = async (told: Notifier): Promise<void> => {
    told.ready("up");
    await begin(told);
  };

  it("hears a sign of life twice in its time, from start to stop", async () => {
    const { notifier: told, sent } = notifier(environment);
    await start(told);
    await clock.advance(35_000);
    expect(sent).toEqual(["READY=1 STATUS=up", ...Array(4).fill("WATCHDOG=1")]);
    await told.watchdog?.stop(1000);
    await clock.advance(35_000);
    expect(sent).toHaveLength(5);
  });

  it("is given more time for a start that goes on, until the start is over", async () => {
    const { notifier: told, sent } = notifier(environment);
    await begin(told);
    await clock.advance(25_000);
    expect(sent).toEqual(Array(3).fill("EXTEND_TIMEOUT_USEC=20000000"));
    told.ready("up");
    await clock.advance(10_000);
    expect(sent.slice(3)).toEqual(["READY=1 STATUS=up", "WATCHDOG=1"]);
    await told.watchdog?.stop(1000);
  });

  it("is given no more time once a start has failed", async () => {
    const { notifier: told, sent } = notifier(environment);
    await begin(told);
    told.stopping();
    await clock.advance(10_000);
    expect(sent).toEqual(["EXTEND_TIMEOUT_USEC=20000000", "STOPPING=1", "WATCHDOG=1"]);
    await told.watchdog?.stop(1000);
  });

  it("hears nothing while the process is not well, and no second sign while the first is on its way, for at most 10 s", async () => {
    let alive = false;
    const sent: string[] = [];
    const { notifier: told } = notifier(
      { ...environment, WATCHDOG_USEC: "6000000" },
      {
        alive: () => alive,
        send: (assignments) => {
          if (assignments[0] === "READY=1") return Promise.resolve();
          sent.push(...assignments);
          return new Promise(() => {});
        },
      },
    );
    await start(told);
    await clock.advance(20_000);
    expect(sent).toEqual([]);
    alive = true;
    await clock.advance(12_000);
    expect(sent).toEqual(["WATCHDOG=1"]);
    await clock.advance(2_000);
    expect(sent).toEqual(["WATCHDOG=1", "WATCHDOG=1"]);
    await told.watchdog?.stop(1000);
  });

  it.each([[{ WATCHDOG_PID: "8" }], [{ WATCHDOG_USEC: "0" }], [{ WATCHDOG_USEC: "soon" }]])(
    "is none of ours with %j",
    (more) => {
      expect(notifier({ ...environment, ...more }).notifier.watchdog).toBeUndefined();
    },
  );
});
