import { describe, expect, it } from "vitest";
import type { HostMessage } from "../../../../src/kernel/telemetry/messages.ts";
import { PullComponent } from "../../../../src/kernel/telemetry/host/pull-component.ts";
import type { PullView } from "../../../../src/kernel/telemetry/status.ts";
import { PullStats } from "../../../../src/kernel/telemetry/thread/pull/pull-stats.ts";
import { createManualClock } from "../../supervisor/manual-clock.ts";

function open(running = true) {
  const posted: HostMessage[] = [];
  const clock = createManualClock();
  const component = new PullComponent({
    clock,
    post: (message) => void posted.push(message),
    running: () => running,
  });
  return { component, posted, clock };
}

const view = (
  state: PullView["state"],
  more: { address?: string; reason?: string } = {},
): PullView => {
  const stats = new PullStats({ now: () => 0, changed: () => undefined, observe: () => undefined });
  stats.stand(state, more);
  return stats.view(undefined);
};

describe("The component metrics", () => {
  it("starts when the port is open or could not be opened, and is well only while it is open", async () => {
    for (const [state, more, health] of [
      ["serving", { address: "127.0.0.1:1" }, { ok: true }],
      ["failed", { reason: "taken" }, { ok: false, reason: "taken" }],
    ] as const) {
      const { component } = open();
      let started = false;
      const starting = component.start(new AbortController().signal).then(() => (started = true));
      component.update(view("starting"));
      await Promise.resolve();
      expect([started, component.health().ok]).toEqual([false, false]);
      component.update(view(state, more));
      await starting;
      expect(component.health()).toEqual(health);
    }
  });

  it("does not wait for a thread that is not there, or goes", async () => {
    await open(false).component.start(new AbortController().signal);
    const { component } = open();
    const starting = component.start(new AbortController().signal);
    component.lost();
    await starting;
    expect(component.health()).toEqual({ ok: false, reason: "the pull endpoint is not open" });
  });

  it("gives up starting when it is told to", async () => {
    const giveUp = new AbortController();
    const starting = open().component.start(giveUp.signal);
    giveUp.abort(new Error("stop"));
    await expect(starting).rejects.toThrow("stop");
  });

  it("stops when the thread says so, or its time is over", async () => {
    const { component, posted, clock } = open();
    component.update(view("serving", { address: "127.0.0.1:1" }));
    const stopping = component.stop(1_000);
    expect(posted).toEqual([{ type: "pull-stop", deadlineMs: 1_000 }]);
    component.stopped();
    await stopping;
    const late = component.stop(1_000);
    await clock.advance(1_000);
    await late;
  });
});
