import { Client, connectivityState, credentials, Metadata } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createBackend } from "../../../src/tokens/logical/backend.ts";
import type { BackendFactory } from "../../../src/tokens/logical/types.ts";
import { createInstances, multiplexId } from "../../../src/tokens/plugin/instances.ts";
import { refusalOf } from "../support/engine.ts";
import { createMemoryHost } from "../support/host.ts";

const { log } = createMemoryHost();

/** Engines without paths, which say when they close. */
function start(factory?: BackendFactory) {
  const closed: number[] = [];
  let made = 0;
  const instances = createInstances({
    factory:
      factory ??
      (() => {
        const number = ++made;
        const close = (): Promise<void> => Promise.resolve(void closed.push(number));
        return Promise.resolve(createBackend({ type: "github", help: "", paths: [], close }));
      }),
    clock: systemClock,
    log,
  });
  return { instances, closed };
}

/** Connects to nothing: nothing is called. */
const client = (): Client => new Client("unix:/nowhere", credentials.createInsecure());

describe("the mounts of a process", () => {
  it("are told apart by the one id in the metadata", () => {
    const named = (...ids: readonly string[]): Metadata => {
      const metadata = new Metadata();
      for (const id of ids) metadata.add("multiplex_id", id);
      return metadata;
    };
    expect(multiplexId(named("aB3dE5gH7j"))).toBe("aB3dE5gH7j");
    expect(() => multiplexId(named())).toThrow("no multiplex_id");
    expect(() => multiplexId(named(""))).toThrow("no multiplex_id");
    expect(() => multiplexId(named("a,b"))).toThrow("more than one multiplex_id");
  });

  it("are unknown until they are set up, and after their end", async () => {
    const { instances, closed } = start();
    expect(() => instances.backend("a")).toThrow("has not set up this mount");
    await instances.open("a", client());
    expect(instances.backend("a").type).toBe("github");
    await instances.close("a");
    await instances.close("a");
    expect(closed).toEqual([1]);
    expect(() => instances.backend("a")).toThrow("has not set up this mount");
  });

  it("are replaced when they are set up again", async () => {
    const { instances, closed } = start();
    await instances.open("a", client());
    const before = instances.backend("a");
    await instances.open("a", client());
    expect(closed).toEqual([1]);
    expect(instances.backend("a")).not.toBe(before);
    await instances.closeAll();
    expect(closed).toEqual([1, 2]);
  });

  it("are 1,024 at most; the others go on", async () => {
    const { instances } = start();
    for (let id = 0; id < 1_024; id++) await instances.open(String(id), client());
    expect(await refusalOf(instances.open("more", client()))).toMatchObject({ code: "exhausted" });
    await instances.open("0", client());
    await instances.closeAll();
  });

  it("lose their connection when the engine cannot be made", async () => {
    const { instances } = start(() => Promise.reject(new Error("no engine")));
    const lost = client();
    await expect(instances.open("a", lost)).rejects.toThrow("no engine");
    expect(lost.getChannel().getConnectivityState(false)).toBe(connectivityState.SHUTDOWN);
  });
});
