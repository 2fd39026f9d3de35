import { describe, expect, it } from "vitest";
import { services } from "../../../src/monitor/collectors/services.ts";
import type { ServiceHost, VirtualService } from "../../../src/monitor/providers/model.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { networkOptions, openCollector } from "./harness.ts";

const service = (name: string, ...ports: string[]): VirtualService => ({
  name,
  addresses: [`100.90.0.${name.length}`],
  ports,
  tags: [],
});
const host = (nodeId: string, approval: string, configured = "ready"): ServiceHost => ({
  nodeId,
  approval,
  configured,
});

describe("The collector of services", () => {
  it("counts services, their ports and their hosts, and gives their addresses to whoever wants names", async () => {
    const harness = openCollector(
      services,
      createFakeProvider({
        services: [service("svc:web", "tcp:443", "tcp:80"), service("svc:db")],
        serviceHosts: (name) =>
          name === "svc:web"
            ? [host("n1", "approved:auto"), host("n2", "approved:auto"), host("n3", "not-approved")]
            : [],
      }),
    );
    await harness.run();
    expect(harness.series()).toEqual([
      'vpn.service.hosts{vpn.service.name="svc:web",vpn.service.approval="approved:auto",vpn.service.configured="ready"} 2',
      'vpn.service.hosts{vpn.service.name="svc:web",vpn.service.approval="not-approved",vpn.service.configured="ready"} 1',
      'vpn.service.ports{vpn.service.name="svc:db"} 0',
      'vpn.service.ports{vpn.service.name="svc:web"} 2',
      "vpn.services.count 2",
    ]);
    expect(harness.known.services?.map(({ name }) => name)).toEqual(["svc:web", "svc:db"]);
    expect(harness.covered.get("listServiceHosts")).toEqual({ tried: 2, failures: [] });
  });

  it("goes on when the hosts of a service cannot be asked, and remembers the first failure", async () => {
    const harness = openCollector(
      services,
      createFakeProvider({
        services: [service("svc:a"), service("svc:b"), service("svc:c")],
        serviceHosts: (name) => {
          if (name !== "svc:b") throw failing(name === "svc:a" ? 403 : 500);
          return [host("n1", "approved:auto")];
        },
      }),
    );
    await harness.run();
    expect(harness.series("vpn.service.hosts")).toHaveLength(1);
    expect(harness.covered.get("listServiceHosts")).toEqual({
      tried: 3,
      failures: ["scope_denied", "transient_failure"],
    });
    expect(harness.states.get("listServiceHosts")).toBe("scope_denied");
  });

  it("stops asking for hosts when it is cancelled", async () => {
    const stop = new AbortController();
    const provider = createFakeProvider({
      services: [service("svc:a"), service("svc:b")],
      serviceHosts: () => {
        stop.abort(new Error("stopping"));
        throw failing(500);
      },
    });
    await expect(openCollector(services, provider).run({ signal: stop.signal })).rejects.toThrow(
      "stopping",
    );
    expect(provider.calls).toEqual(["services", "serviceHosts svc:a"]);
  });

  it("asks for no hosts unless it shall, and says nothing of single services when these are switched off", async () => {
    const provider = createFakeProvider({ services: [service("svc:a", "tcp:1")] });
    const quiet = openCollector(services, provider, {
      collectors: { services: { intervalMs: 60_000, collectHosts: false } },
    });
    await quiet.run();
    expect(quiet.series()).toEqual([
      'vpn.service.ports{vpn.service.name="svc:a"} 1',
      "vpn.services.count 1",
    ]);
    const perEntity = { ...networkOptions().cardinality.perEntity, service: false };
    const counting = openCollector(services, provider, { cardinality: { perEntity } });
    await counting.run();
    expect(counting.series()).toEqual(["vpn.services.count 1"]);
    expect(counting.known.services).toHaveLength(1);
    expect(provider.calls).toEqual(["services", "services"]);
  });

  it("fails with its call and leaves the known addresses alone", async () => {
    const provider = createFakeProvider({ services: [service("svc:a")], serviceHosts: [] });
    const harness = openCollector(services, provider);
    await harness.run();
    provider.answers.services = () => {
      throw failing(502);
    };
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.known.services).toHaveLength(1);
    provider.answers.services = [];
    await harness.run();
    expect(harness.series()).toEqual(["vpn.services.count 0"]);
  });
});
