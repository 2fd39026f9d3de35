/**
 * Reports the state of the process to systemd (sd_notify(3)): READY, STOPPING, watchdog keep-alives,
 * and that a start goes on. Node has no Unix datagram sockets, so `systemd-notify` sends; the unit
 * needs `NotifyAccess=all`.
 */
import { execFile } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Component } from "./component.ts";
import { withDeadline } from "../async/deadline.ts";
import { createSerial } from "../async/serial.ts";
import { StewardError } from "../base/errors.ts";

/** Timeout for one message; `systemd-notify` itself waits 5 s for the manager. */
const SEND_MS = 10_000;
const MAX_STATUS_LENGTH = 200;

/** Sends assignments such as `READY=1`. Rejects on failure. */
type SendNotice = (assignments: readonly string[], signal: AbortSignal) => Promise<void>;

/** Never throws and never waits; a no-op without `NOTIFY_SOCKET`. */
export interface Notifier {
  /** Whether a service manager listens. */
  readonly active: boolean;
  /** The process has started. */
  ready(status: string): void;
  /** Shown beside the unit's state. */
  status(status: string): void;
  /** The stop has begun. */
  stopping(): void;
  /**
   * Sends watchdog keep-alives between its start and stop, and extends `TimeoutStartSec` with each
   * until `ready`; undefined when the unit has no `WatchdogSec`.
   */
  readonly watchdog: Component | undefined;
}

export interface NotifierDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The id of this process, to check whether the watchdog addresses it. */
  readonly pid: number;
  readonly send?: SendNotice;
  /**
   * False withholds keep-alives, so that systemd restarts the unit. A blocked event loop has the
   * same effect.
   */
  readonly alive?: () => boolean;
}

export function createNotifier(deps: NotifierDeps): Notifier {
  const { environment, log } = deps;
  const socket = environment["NOTIFY_SOCKET"];
  if (!socket)
    return { active: false, ready() {}, status() {}, stopping() {}, watchdog: undefined };
  const sendNow = deps.send ?? systemdNotify(environment);
  let warned = false;
  let starting = true;
  const deadline = {
    clock: deps.clock,
    timeoutMs: SEND_MS,
    reason: () => new StewardError("deadline", `not sent within ${SEND_MS} ms`),
  };
  // One after the other, so that STOPPING never overtakes READY.
  const inOrder = createSerial();
  const send = (...assignments: string[]): Promise<void> =>
    inOrder(() => withDeadline(deadline, (signal) => sendNow(assignments, signal))).catch(
      (error: unknown) => {
        if (!warned)
          log.warn("cannot notify systemd", { assignments: assignments.join(" "), error });
        warned = true;
      },
    );
  const statusOf = (text: string): string =>
    `STATUS=${text.replaceAll(/\s+/g, " ").slice(0, MAX_STATUS_LENGTH)}`;
  return {
    active: true,
    ready(text) {
      starting = false;
      void send("READY=1", statusOf(text));
    },
    status: (text) => void send(statusOf(text)),
    stopping() {
      starting = false;
      void send("STOPPING=1");
    },
    watchdog: createWatchdog(deps, send, () => starting),
  };
}

function createWatchdog(
  { clock, environment, pid, alive = () => true }: NotifierDeps,
  send: (...assignments: string[]) => Promise<void>,
  starting: () => boolean,
): Component | undefined {
  const limitMs = Number(environment["WATCHDOG_USEC"]) / 1000;
  const meant = environment["WATCHDOG_PID"];
  if (!(limitMs > 0) || (meant !== undefined && meant !== String(pid))) return undefined;
  let timer: Disposable | undefined;
  let sending = false;
  const beat = (): void => {
    // Half the limit, as sd_watchdog_enabled(3) advises.
    timer = clock.timer(clock.monotonic() + limitMs / 2, beat);
    if (sending || !alive()) return;
    sending = true;
    // systemd hears the watchdog only after READY; stores may be read for longer than TimeoutStartSec.
    const assignment = starting() ? `EXTEND_TIMEOUT_USEC=${limitMs * 1000}` : "WATCHDOG=1";
    void send(assignment).then(() => {
      sending = false;
    });
  };
  return {
    name: "watchdog",
    needs: [],
    readiness: "none",
    start() {
      beat();
      return Promise.resolve();
    },
    stop() {
      timer?.[Symbol.dispose]();
      timer = undefined;
      return Promise.resolve();
    },
  };
}

/**
 * Waits until the manager has read the message: it cannot attribute one whose sender is gone. A
 * manager that does not confirm this (`BARRIER=1`) has the message all the same.
 */
function systemdNotify(environment: NotifierDeps["environment"]): SendNotice {
  const env = { NOTIFY_SOCKET: environment["NOTIFY_SOCKET"], PATH: environment["PATH"] };
  return (assignments, signal) =>
    new Promise((resolve, reject) => {
      execFile("systemd-notify", assignments, { env, signal }, (error, _, stderr) =>
        error === null || stderr.includes("barrier") ? resolve() : reject(error),
      );
    });
}
