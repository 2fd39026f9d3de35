import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHeadscale } from "../support/headscale/headscale.ts";
import { startNodeAgents } from "../../src/demo/network/agents.ts";
import { createNetwork } from "../../src/demo/network/network.ts";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { allCollectors } from "../../src/monitor/collectors/all.ts";
import { createStageClock, startStage, type Stage } from "./stage.ts";
import { everyCollector, headscaleNetwork, tailscaleNetwork } from "./stage-options.ts";

/**
 * Writes the files anew instead of comparing: `STEWARD_TEST_GOLDEN=1`. What changed is then to be
 * read.
 */
const rewrite = process.env["STEWARD_TEST_GOLDEN"] === "1";
const folder = join(import.meta.dirname, "golden");
const SEED = 3;
const MINUTE_MS = 60_000;
const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

/** A node network of its own for the forwarded metrics: they carry the agents' names. */
const forwarded = (name: string): boolean => name.startsWith("tailscaled_");

/** What a collector said in two runs, by its metrics. */
function saidBy(stage: Stage, collector: string): string {
  const rows = new Set(
    allCollectors.find(({ name }) => name === collector)?.emits.map(({ name }) => name),
  );
  const lines = stage.exposition(
    ({ name }) => rows.has(name) || (collector === "nodemetrics" && forwarded(name)),
  );
  return lines.map((line) => `${line}\n`).join("");
}

function compare(stage: Stage, collector: string, file: string): void {
  const said = saidBy(stage, collector);
  expect(said, "something is said").not.toBe("");
  if (rewrite) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, file), said);
  }
  expect(said).toBe(readFileSync(join(folder, file), "utf8"));
}

describe("What each collector says of a simulated network with a fixed seed, at a fixed time", () => {
  let hosted: Stage;
  let own: Stage;
  const stop: (() => PromiseLike<unknown>)[] = [];

  beforeAll(async () => {
    const clock = createStageClock();
    const network = createNetwork({ seed: SEED, devices: 8 });
    const tailscale = await startTailscale({
      clock,
      ids: systemIds,
      log,
      network,
      streams: ["configuration"],
      gzip: false,
    });
    const agents = await startNodeAgents({ clock, ids: systemIds, log, network });
    const targets = network.roster
      .slice(0, 2)
      .map((_, index) => network.devices.at(clock.now())[index])
      .flatMap((device) =>
        device === undefined ? [] : [{ url: agents.urlOf(device.host), instance: device.host }],
      );
    const asked = (requests: Readonly<Record<string, number>>): number =>
      Object.values(requests).reduce((sum, count) => sum + count, 0);
    hosted = await startStage(
      clock,
      tailscaleNetwork(tailscale, everyCollector(5 * MINUTE_MS, targets)),
      { progress: () => asked(tailscale.requests()) + asked(agents.requests()) },
    );
    await clock.advance(11 * MINUTE_MS);
    const another = createStageClock();
    const headscale = await startHeadscale({
      clock: another,
      ids: systemIds,
      log,
      flavour: "release",
      network,
      apiKeys: [
        {
          key: "hskey-api-goldenGOLDEN-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ01",
          expiresAtMs: another.now() + 86_400_000,
        },
      ],
    });
    own = await startStage(another, headscaleNetwork(headscale, everyCollector(5 * MINUTE_MS)), {
      progress: () => asked(headscale.requests()),
    });
    await another.advance(11 * MINUTE_MS);
    stop.push(
      () => hosted[Symbol.asyncDispose](),
      () => own[Symbol.asyncDispose](),
      () => tailscale.stop(),
      () => agents.stop(),
      () => headscale.stop(),
    );
  });
  afterAll(async () => {
    for (const each of stop) await each();
  });

  it.each([
    "devices",
    "users",
    "keys",
    "settings",
    "acl",
    "dns",
    "contacts",
    "webhooks",
    "posture_integrations",
    "logstream",
    "oauth_apps",
    "services",
    "nodemetrics",
    "flowlogs",
    "auditlogs",
  ])("%s of the hosted control plane", (collector) => {
    expect(hosted.collector(collector)).toMatchObject({ failures: 0 });
    compare(hosted, collector, `${collector}.txt`);
  });

  it.each(["devices", "users", "keys", "acl"])("%s of Headscale", (collector) => {
    expect(own.collector(collector)).toMatchObject({ failures: 0 });
    compare(own, collector, `${collector}.headscale.txt`);
  });
});
