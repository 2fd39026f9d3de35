/** The island of the page `/monitor`. */
import { monitorPage, PANELS } from "../monitor/monitor-page.ts";
import { startStatusPage } from "./status-page.ts";
import { toast } from "./toasts.ts";

async function purge(refresh: () => Promise<void>): Promise<void> {
  const answer = await fetch("/api/rdns/purge", { method: "POST" }).catch(() => undefined);
  toast(
    answer?.ok === true
      ? "The names were purged."
      : `The names were not purged: ${answer === undefined ? "the server does not answer" : `the server answered ${answer.status}`}.`,
  );
  await refresh();
}

startStatusPage({
  view: monitorPage,
  panels: PANELS,
  dialogs: { purge: (refresh) => void purge(refresh) },
});
