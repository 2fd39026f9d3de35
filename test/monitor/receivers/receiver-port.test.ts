import { createServer } from "node:net";
import { expect, it, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createReceiverPort } from "../../../src/monitor/receivers/receiver-port.ts";
import { freePort } from "../../support/free-port.ts";

it("a receiver whose port is taken says so, retries, and is healthy once it is free", async () => {
  // One that nobody else is given while it is free.
  const port = await freePort();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(port, "127.0.0.1", resolve));
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => lines.push(line),
    now: () => 0,
  });
  const { component } = createReceiverPort(
    { clock: systemClock, log },
    {
      name: "stream",
      setting: "streaming.listen",
      credential: true,
      share: "owner",
      bodies: 1,
      needs: [],
      handle: (_request, response) => void response.end("here"),
    },
    {
      listen: { host: "127.0.0.1", port },
      tls: undefined,
      maxBodyBytes: 1,
      maxConcurrentRequests: 1,
    },
  );
  await component.start(new AbortController().signal, () => undefined);
  expect(component.health?.()).toMatchObject({
    ok: false,
    reason: expect.stringContaining(`127.0.0.1:${port} is already in use`) as string,
    remedy: expect.stringContaining("streaming.listen") as string,
  });
  expect(lines.join("")).toContain("the receiver cannot listen; retrying");
  await new Promise((resolve) => taken.close(resolve));
  await vi.waitFor(() => expect(component.health?.()).toEqual({ ok: true }), { timeout: 60_000 });
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("here");
  await component.stop(1_000);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow("fetch failed");
  await component.stop(1_000);
});
