import { describe, expect, it } from "vitest";
import { devicesPage } from "../../../../gateway/web/devices/devices-page.ts";
import { needs } from "../../../../gateway/web/landing/needs.ts";
import type { PresenceReport } from "../../../../src/gen/presence-json.ts";
import type { Device, StatusJson } from "../../../../src/gen/status-json.ts";
import { fullStatus, NOW, summary } from "../fixtures/status.ts";
import { renderHtml } from "../render-html.ts";

const nowMs = Date.parse(NOW);
const at = (hoursAgo: number): string => new Date(nowMs - hoursAgo * 3_600_000).toISOString();

const router = (os: string, more: Partial<Device> = {}): Device => ({
  name: "router",
  hostname: "router",
  addrs: [],
  external: false,
  os,
  os_version: "",
  user: "ada",
  online: true,
  ...more,
});

/** Two networks with a device of the same name each. */
function status(home = router("plan9"), lab = router("haiku")): StatusJson {
  const full = fullStatus();
  const networks = full.networks.map((network) => ({
    ...network,
    devices: [network.name === "home" ? home : lab],
  }));
  return { ...full, networks, devices: [home, lab] };
}

function presenceOf(name: string, state: "online" | "offline"): PresenceReport["networks"][number] {
  const device = { id: "1", name: "router", state, changes: [{ at: at(30), state }] };
  return {
    name,
    observed: [{ from: at(30), to: at(0) }],
    devices: [device],
    truncated: false,
    hours: [],
    days: [],
  };
}
const presence: PresenceReport = {
  schema_version: 1,
  generated_at: at(0),
  start: at(24),
  retention_days: 30,
  networks: [presenceOf("home", "offline"), presenceOf("lab", "online")],
  services: { hours: [], days: [] },
};

const page = (facts: StatusJson, name: string | undefined, query = ""): string =>
  renderHtml(
    devicesPage({ status: facts, presence }, name, {
      params: new URLSearchParams(query),
      nowMs,
      zone: "UTC",
      panel: undefined,
    }),
  );
const strips = (text: string): string[] =>
  [...text.matchAll(/last 24 hours: (online \d+ %)/g)].map(([, strip = ""]) => strip);
const links = (text: string): string[] =>
  [...text.matchAll(/href="(\/devices\/[^"]+)"/g)].map(([, link = ""]) => link);

describe("devices of the same name in two networks", () => {
  it("are linked with their network, and have the strip of it", () => {
    const both = page(status(), undefined);
    expect(links(both)).toEqual(["/devices/router?network=home", "/devices/router?network=lab"]);
    expect(strips(both)).toEqual(["online 0 %", "online 100 %"]);
    const lab = page(status(), undefined, "network=lab");
    expect([links(lab), strips(lab)]).toEqual([["/devices/router?network=lab"], ["online 100 %"]]);
  });

  it("are told apart in the list of all networks, and found by their network's name", () => {
    const named = (query: string): string[] =>
      [...page(status(), undefined, query).matchAll(/<small>in (\w+)<\/small>/g)].map(
        ([, network = ""]) => network,
      );
    expect(named("")).toEqual(["home", "lab"]);
    expect(named("devices.q=router+lab")).toEqual(["lab"]);
    expect(named("network=lab")).toEqual([]);
  });

  it("say that their changes are those of the name in any network", () => {
    const title = /<a href="\/events\?target=router">([^<]*)</;
    const shown = status();
    expect(title.exec(page(shown, "router", "network=lab"))?.[1]).toBe(
      "Changes of router, in any network",
    );
    const alone = { ...shown, networks: shown.networks.slice(0, 1), devices: [router("plan9")] };
    expect(title.exec(page(alone, "router"))?.[1]).toBe("Changes of this device");
  });

  it("open each as the device of its network", () => {
    for (const [network, os, strip] of [
      ["home", "plan9", "online 0 %"],
      ["lab", "haiku", "online 100 %"],
    ]) {
      const text = page(status(), "router", `network=${network}`);
      expect(text).toContain(os);
      expect([strips(text), text.includes(`<dd>${network}</dd>`)]).toEqual([[strip], true]);
    }
  });

  it("are not taken for one of a network that is not known any more", () => {
    expect(page(status(), "router", "network=away")).toContain("This device is not known.");
    const left = status();
    const alone = { ...left, networks: left.networks.slice(0, 1), devices: [router("plan9")] };
    expect(page(alone, "router", "network=lab")).toContain("This device is not known.");
    expect(page(alone, "router", "network=home")).toContain("plan9");
    expect(links(page(alone, undefined))).toEqual(["/devices/router"]);
  });

  it("are opened in their network by what needs the reader", () => {
    const ending = status(router("plan9"), router("haiku", { key_expires_at: at(-48) }));
    const text = renderHtml(
      needs(
        { status: ending, summary, summaryAtMs: nowMs },
        { params: new URLSearchParams(), nowMs, zone: "UTC", panel: undefined },
      ),
    );
    expect(links(text)).toEqual(["/devices/router?network=lab"]);
  });
});
