import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import {
  createStopSignals,
  type SignalSource,
} from "../../../src/kernel/supervisor/stop-signals.ts";

function source(): {
  signals: SignalSource;
  emit: (name: string) => void;
  listeners: () => number;
} {
  const emitter = new EventEmitter();
  return {
    signals: emitter,
    emit: (name) => void emitter.emit(name, name),
    listeners: () => emitter.listenerCount("SIGINT") + emitter.listenerCount("SIGTERM"),
  };
}

describe("signals to stop", () => {
  it("ask once and insist from then on", async () => {
    const { signals, emit } = source();
    const stop = createStopSignals(signals);
    const heard: unknown[] = [];
    stop.listen((signal, insisted) => heard.push([signal, insisted]));
    expect(stop.stopRequested()).toBe(false);
    for (const name of ["SIGTERM", "SIGINT", "SIGINT"]) emit(name);
    await stop.first;
    expect(stop.stopRequested()).toBe(true);
    expect(heard).toEqual([
      ["SIGTERM", false],
      ["SIGINT", true],
      ["SIGINT", true],
    ]);
  });

  it("are kept until somebody listens", () => {
    const { signals, emit } = source();
    const stop = createStopSignals(signals);
    for (const name of ["SIGINT", "SIGTERM", "SIGTERM"]) emit(name);
    const heard: unknown[] = [];
    stop.listen((signal, insisted) => heard.push([signal, insisted]));
    expect(heard).toEqual([
      ["SIGINT", false],
      ["SIGTERM", true],
    ]);
  });

  it("mean what they always meant once nobody listens", () => {
    const { signals, listeners } = source();
    createStopSignals(signals)[Symbol.dispose]();
    expect(listeners()).toBe(0);
  });
});
