/**
 * Tells systemd where the process stands (sd_notify(3)): READY, STOPPING and the watchdog's sign of
 * life. Node has no datagram sockets of the kind needed, so `systemd-notify` sends; the unit needs
 * `NotifyAccess=all` for that.
 */
import { execFile } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Component } from "./component.ts";

/** A message that takes longer is given up. */
const SEND_MS = 5000;
const MAX_STATUS_LENGTH = 200;

/** Sends assignments such as `READY=1`. Rejects when they could not be sent. */
type SendNotice = (assignments: readonly string[], signal: AbortSignal) => Promise<void>;

/**
 * Says where the process stands. Never throws and never waits; without `NOTIFY_SOCKET` it does
 * nothing.
 */
export interface Notifier {
  /** Whether anybody listens. */
  readonly active: boolean;
  /** The start is over. */
  ready(status: string): void;
  /** Shows beside the unit's state. */
  status(status: string): void;
  /** The stop has begun. */
  stopping(): void;
  /**
   * Gives signs of life from its start to its stop; undefined when the unit has no `WatchdogSec`.
   */
  readonly watchdog: Component | undefined;
}

/** What a notifier works with. */
export interface NotifierDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The id of this process, to know whether the watchdog means it. */
  readonly pid: number;
  readonly send?: SendNotice;
  /**
   * False keeps the sign of life back, so that systemd restarts the unit. A blocked event loop does
   * so by itself.
   */
  readonly alive?: () => boolean;
}

/** A notifier for the process's environment. */
export function createNotifier(deps: NotifierDeps): Notifier {
  const { environment, log } = deps;
  const socket = environment["NOTIFY_SOCKET"];
  if (!socket)
    return { active: false, ready() {}, status() {}, stopping() {}, watchdog: undefined };
  const sendNow = deps.send ?? systemdNotify(environment);
  let warned = false;
  // One after another, so that STOPPING never overtakes READY.
  let last: Promise<void> = Promise.resolve();
  const send = (...assignments: string[]): Promise<void> => {
    last = last
      .then(() => sendNow(assignments, AbortSignal.timeout(SEND_MS)))
      .catch((error: unknown) => {
        if (!warned)
          log.warn("cannot notify systemd", { assignments: assignments.join(" "), error });
        warned = true;
      });
    return last;
  };
  const statusOf = (text: string): string =>
    `STATUS=${text.replaceAll(/\s+/g, " ").slice(0, MAX_STATUS_LENGTH)}`;
  return {
    active: true,
    ready: (text) => void send("READY=1", statusOf(text)),
    status: (text) => void send(statusOf(text)),
    stopping: () => void send("STOPPING=1"),
    watchdog: createWatchdog(deps, send),
  };
}

function createWatchdog(
  { clock, environment, pid, alive = () => true }: NotifierDeps,
  send: (assignment: string) => Promise<void>,
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
    void send("WATCHDOG=1").then(() => {
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

function systemdNotify(environment: NotifierDeps["environment"]): SendNotice {
  const env = { NOTIFY_SOCKET: environment["NOTIFY_SOCKET"], PATH: environment["PATH"] };
  return (assignments, signal) =>
    new Promise((resolve, reject) => {
      execFile("systemd-notify", ["--no-block", ...assignments], { env, signal }, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
}
