/**
 * Starts processes that end with the test process, also when that is killed by SIGKILL: a daemon
 * that lives on keeps its memory until somebody finds it.
 */
import { type ChildProcess, spawn as spawnOfNode, spawnSync } from "node:child_process";

/** `prctl(2)`, PR_SET_PDEATHSIG. It lasts across `execve(2)`, so the launcher keeps it. */
const SETPRIV = ["--pdeathsig", "KILL", "--"];

/** False without util-linux of at least 2.33: processes may then outlive a killed test process. */
export const endsWithParent: boolean = spawnSync("setpriv", [...SETPRIV, "true"]).status === 0;

const running = new Set<ChildProcess>();

function watched(child: ChildProcess): ChildProcess {
  running.add(child);
  return child.once("exit", () => running.delete(child));
}

/**
 * Kills what a test file started and did not stop, e.g. because a test failed: it would take CPU
 * time from the files after it.
 */
export function killLeft(): void {
  for (const child of running) child.kill("SIGKILL");
}

/**
 * `spawn` of Node, always with arguments, for a program that exists: a missing one emits no `error`
 * event, but ends with status 127. What the program starts itself is not covered.
 */
export const spawn = ((program: string, args: readonly string[], options: object = {}) =>
  watched(
    endsWithParent
      ? spawnOfNode("setpriv", [...SETPRIV, program, ...args], options)
      : spawnOfNode(program, args, options),
  )) as typeof spawnOfNode;

/**
 * `spawn` of Node for the leader of a process group, which ends with the test process together with
 * all that the leader started. A signal at the parent's death would end the leader alone, and any
 * clean-up of its own races with that: a watcher outside of the group kills it when its input ends.
 */
export const spawnGroup = ((program: string, args: readonly string[], options: object = {}) => {
  const leader = spawnOfNode(program, args, { ...options, detached: true });
  const script = 'read -r _; kill -s KILL -- "-$1"';
  const watcher = spawnOfNode("sh", ["-c", script, "sh", String(leader.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  leader.once("close", () => watcher.kill("SIGKILL"));
  return leader;
}) as typeof spawnOfNode;
