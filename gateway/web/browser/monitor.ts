/** The island of the page `/monitor`. */
import { monitorPage, PANELS } from "../monitor/monitor-page.ts";
import { startStatusPage } from "./status-page.ts";
import { toast } from "./toasts.ts";

async function purge(refresh: () => Promise<void>): Promise<void> {
  const answer = await fetch("/api/rdns/purge", { method: "POST" }).catch(() => undefined);
  toast(
    answer?.ok === true
      ? "The names were purged."
      : `The names were not purged: ${await reasonOf(answer)}.`,
  );
  await refresh();
}

/** The server's reason is one line of text. */
async function reasonOf(answer: Response | undefined): Promise<string> {
  if (answer === undefined) return "the server does not answer";
  const isText = answer.headers.get("content-type")?.startsWith("text/plain") === true;
  const reason = isText ? (await answer.text().catch(() => "")).trim() : "";
  return reason === "" ? `the server answered ${answer.status}` : reason;
}

startStatusPage({
  view: monitorPage,
  panels: PANELS,
  dialogs: { purge: (refresh) => void purge(refresh) },
});
