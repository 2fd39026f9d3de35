/** The node agents' metrics against those of a real node. */
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { nodeMetrics, startNodeAgents } from "../../../src/demo/network/agents.ts";
import { createNetwork } from "../../../src/demo/network/network.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { ask, NOW_MS, setClock, silent } from "../control-plane/support.ts";

const real = readFileSync(
  new URL("../../support/headscale/samples/node-5252-metrics.txt", import.meta.url),
  "utf8",
);
const names = (text: string): string[] =>
  text
    .trim()
    .split("\n")
    .map((line) => line.replace(/ [\d.]+$/, "").replace(/^(# HELP \S+).*/, "$1"));
const network = createNetwork({ seed: 1 });
const [exit] = network.devices.at(NOW_MS);

describe("a node's metrics", () => {
  it("are the families and samples of a real node, in their order", () => {
    if (exit === undefined) throw new Error("the network is empty");
    expect(names(nodeMetrics(exit, NOW_MS))).toEqual(names(real));
  });

  it("count upwards", () => {
    if (exit === undefined) throw new Error("the network is empty");
    const inbound = (atMs: number): number =>
      Number(/inbound_bytes_total\{path="direct_ipv4"\} (\d+)/.exec(nodeMetrics(exit, atMs))?.[1]);
    expect(inbound(NOW_MS + 60_000)).toBeGreaterThan(inbound(NOW_MS));
  });
});

describe("node agents", () => {
  it("answer for nodes that are connected, by name and ids", async () => {
    const agents = await startNodeAgents({
      network,
      clock: setClock(),
      ids: systemIds,
      log: silent,
    });
    onTestFinished(() => agents.stop());
    const answer = await ask(agents.urlOf("exit-fra"));
    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": "text/plain;version=0.0.4;charset=utf-8" },
    });
    expect((await ask(agents.urlOf(exit?.nodeId ?? ""))).text).toBe(answer.text);
    expect((await ask(agents.urlOf("nobody"))).status).toBe(404);
    expect((await ask(`${agents.url}/other`)).status).toBe(404);
    const asleep = network.devices.at(NOW_MS).find(({ online }) => !online);
    expect((await ask(agents.urlOf(asleep?.nodeId ?? ""))).status).toBe(502);
  });
});
