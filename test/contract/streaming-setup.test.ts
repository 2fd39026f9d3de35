import { afterAll, expect, it, vi } from "vitest";
import { removeTemporaryFolders } from "./daemon.ts";
import { post, startReceiving, TOKEN } from "./receivers.ts";

afterAll(removeTemporaryFolders);

const PUBLIC_URL = "https://steward.example.org/services/collector/event";
const RECORD = '{"nodeId":"n","virtualTraffic":null}';

it("says what to set at the control plane, changes nothing there, and samples each kind of work by its own keys", async () => {
  await using receiving = await startReceiving({
    streaming: {
      enabled: true,
      listen: "127.0.0.1:0",
      token: TOKEN,
      public_url: PUBLIC_URL,
      auto_configure: true,
    },
    collectors: {
      log_stream: { interval: "1s" },
      flowlogs: { source: "stream" },
      auditlogs: { source: "stream" },
    },
    tracing: {
      enabled: true,
      sampler: "always_off",
      samplers: { receiver: { sampler: "always_on" } },
    },
  });
  const { daemon, estate, exported } = receiving;
  await vi.waitFor(
    () => {
      const log = daemon.stderr.join("\n");
      expect(log).toContain("does not stream network flow logs to this receiver");
      expect(log).toContain("does not stream configuration audit logs to this receiver");
      expect(log).toContain(`URL ${PUBLIC_URL}`);
    },
    { timeout: 60_000 },
  );
  expect(daemon.stderr.join("\n")).not.toContain(TOKEN);
  expect(estate.tailscale.requests()).toMatchObject({ get_stream: expect.any(Number) });
  expect(estate.tailscale.requests()).not.toHaveProperty("set_stream");
  const headers = { authorization: `Splunk ${TOKEN}` };
  expect((await post(receiving.port("stream"), { headers, body: RECORD })).status).toBe(200);
  await vi.waitFor(
    () => expect(exported.spans().map(({ name }) => name)).toContain("stream.receive"),
    { timeout: 60_000 },
  );
  expect(exported.spans().filter(({ name }) => name.startsWith("scrape "))).toEqual([]);
});
