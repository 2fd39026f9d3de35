/** The metrics of a simulated Paperless-ngx, as an exposition shows them. */
import { expect, it } from "vitest";
import { createFigureSchedule } from "../../../src/dedup/paperless/figures/schedule.ts";
import type { Estate } from "../../../src/demo/paperless/types.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { memoryLog, scrape, spec, startTelemetry } from "../../kernel/telemetry/fixtures.ts";
import { never } from "../store-bench.ts";
import { archiveOf, fillWith, simulate } from "./support.ts";

/** Lines of the remote version's metric, after one read of it for each of the answers. */
async function remoteVersionLines(answers: Estate["remoteVersion"][]): Promise<string[]> {
  const sim = await simulate(fillWith(1));
  const { name, figures } = archiveOf(sim, { clock: systemClock });
  if (figures === undefined) throw new Error("the archive has no figures");
  await using telemetry = await startTelemetry({ pull: true });
  const log = memoryLog();
  const schedule = createFigureSchedule({
    scope: telemetry.scope(spec()),
    log,
    archive: name,
    read: figures,
    collectors: ["remote_version"],
  });
  for (const answer of answers) {
    sim.estate.remoteVersion = answer;
    await schedule.run({ signal: never, scheduledAtMs: 0 });
  }
  expect(log.lines).toEqual([]);
  await telemetry.flush(30_000);
  return (await scrape(telemetry))
    .split("\n")
    .filter((line) => line.startsWith("paperless_remote_version_update_available"));
}

const unknown = { version: "0.0.0", updateAvailable: false };
const newer = { version: "v3.1.0", updateAvailable: true };
const same = { version: "v3.0.5", updateAvailable: false };

it("a newer release of Paperless-ngx is announced, and its absence too", async () => {
  expect(await remoteVersionLines([newer])).toEqual([
    'paperless_remote_version_update_available{version="v3.1.0"} 1',
  ]);
  expect(await remoteVersionLines([same])).toEqual([
    'paperless_remote_version_update_available{version="v3.0.5"} 0',
  ]);
});

it("nothing is claimed about releases when Paperless-ngx cannot learn of them", async () => {
  expect(await remoteVersionLines([unknown])).toEqual([]);
  expect(await remoteVersionLines([newer, unknown])).toEqual([]);
});
