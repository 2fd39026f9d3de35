import { describe, expect, it } from "vitest";
import { createDeviceCache } from "../../../src/monitor/enrich/device-cache.ts";
import {
  ADDRESSES_PER_NODE,
  EVICTED_AT_ONCE,
  MAX_SUGGESTIONS,
  SUGGESTION_TTL_MS,
} from "../../../src/monitor/enrich/suggestions.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { alpha, beta, device } from "../flows/fixtures.ts";

const setUp = () => {
  const clock = createManualClock();
  return { clock, cache: createDeviceCache({ clock }) };
};
const node = (at: number, addresses = [`100.70.${at >> 8}.${at & 255}`]) => ({
  nodeId: `n${at}`,
  name: `host-${at}.tail.test`,
  addresses,
});

describe("The device cache", () => {
  it("knows devices by every address, by node id and by the older id, until they are replaced", () => {
    const { cache } = setUp();
    void cache.replaceDevices([alpha, beta]);
    expect([
      cache.byAddress("100.64.0.7"),
      cache.byAddress("FD7A:115c:a1e0:0::7"),
      cache.byId("nA"),
      cache.byId("old-nA"),
    ]).toEqual([alpha, alpha, alpha, alpha]);
    expect(cache.size).toBe(2);
    void cache.replaceDevices([beta]);
    expect([cache.byAddress("100.64.0.7"), cache.byId("nA"), cache.byId("")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(cache.devices()).toEqual([beta]);
  });

  it("gives an address that two claim to the first, and a node id precedence over an older id", () => {
    const { cache } = setUp();
    const impostor = device({ nodeId: "old-nA", addresses: ["100.64.0.7"] });
    void cache.replaceDevices([alpha, impostor]);
    expect(cache.byAddress("100.64.0.7")).toBe(alpha);
    expect(cache.byId("old-nA")).toBe(impostor);
  });

  it("knows services by address", () => {
    const { cache } = setUp();
    cache.replaceServices([{ name: "svc:web", addresses: ["100.90.1.2", "fd7a:115c:a1e0::9001"] }]);
    expect([
      cache.serviceAt("100.90.1.2"),
      cache.serviceAt("FD7A:115C:A1E0:0::9001"),
      cache.serviceAt("100.90.1.3"),
    ]).toEqual(["svc:web", "svc:web", undefined]);
    cache.replaceServices([]);
    expect(cache.serviceAt("100.90.1.2")).toBeUndefined();
  });

  it("ages since it was told, from its creation before that", async () => {
    const { clock, cache } = setUp();
    await clock.advance(500);
    expect(cache.ageMs()).toBe(500);
    void cache.replaceDevices([]);
    expect(cache.ageMs()).toBe(0);
  });
});

describe("The unverified tier", () => {
  it("is forgotten when the control plane tells its devices", () => {
    const { cache } = setUp();
    cache.suggest(node(1));
    expect(cache.suggestedAt("100.70.0.1")).toBe("host-1");
    expect(cache.byAddress("100.70.0.1")).toBeUndefined();
    void cache.replaceDevices([]);
    expect(cache.suggestedAt("100.70.0.1")).toBeUndefined();
  });

  it("forgets a node that is not mentioned for half an hour", async () => {
    const { clock, cache } = setUp();
    cache.suggest(node(1));
    cache.suggest(node(2));
    await clock.advance(SUGGESTION_TTL_MS - 1);
    cache.suggest(node(2));
    expect(cache.suggestedAt("100.70.0.1")).toBe("host-1");
    await clock.advance(1);
    expect([cache.suggestedAt("100.70.0.1"), cache.suggestedAt("100.70.0.2")]).toEqual([
      undefined,
      "host-2",
    ]);
  });

  it("holds so many nodes, and drops those mentioned longest ago first, many at once", () => {
    const { cache } = setUp();
    for (let at = 0; at <= MAX_SUGGESTIONS; at++) cache.suggest(node(at));
    const held = Array.from({ length: MAX_SUGGESTIONS + 1 }, (_, at) =>
      cache.suggestedAt(`100.70.${at >> 8}.${at & 255}`),
    );
    expect(held.findIndex((name) => name !== undefined)).toBe(EVICTED_AT_ONCE);
    expect(held.filter((name) => name !== undefined)).toHaveLength(
      MAX_SUGGESTIONS + 1 - EVICTED_AT_ONCE,
    );
  });

  it("takes so many addresses of a node, the last word on each, and nothing without a name", () => {
    const { cache } = setUp();
    cache.suggest(
      node(
        1,
        Array.from({ length: ADDRESSES_PER_NODE + 1 }, (_, at) => `100.71.0.${at}`),
      ),
    );
    expect([cache.suggestedAt("100.71.0.7"), cache.suggestedAt("100.71.0.8")]).toEqual([
      "host-1",
      undefined,
    ]);
    cache.suggest(node(2, ["100.71.0.7"]));
    cache.suggest(node(1, ["100.71.0.1"]));
    expect([
      cache.suggestedAt("100.71.0.7"),
      cache.suggestedAt("100.71.0.1"),
      cache.suggestedAt("100.71.0.2"),
    ]).toEqual(["host-2", "host-1", undefined]);
    cache.suggest({ nodeId: "n3", name: "", addresses: ["100.71.0.1"] });
    cache.suggest({ nodeId: "", name: "x", addresses: ["100.71.0.1"] });
    expect(cache.suggestedAt("100.71.0.1")).toBe("host-1");
  });
});
