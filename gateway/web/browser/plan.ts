/** The island of `/duplicates/plan`: takes groups out of the delete plan, and puts them back. */
import { loadPlan, type PlanFacts } from "../review/load.ts";
import { planPage } from "../review/plan.ts";
import { watchAddress } from "./address.ts";
import { startDialogs } from "./dialogs.ts";
import { createLoadedPage } from "./loaded-page.ts";
import { watchPageImages } from "./page-images.ts";
import { reviewClient } from "./review-client.ts";
import { startTheme } from "./theme.ts";
import { toast } from "./toasts.ts";

/** Groups taken out in one request. */
const GROUPS_AT_ONCE = 100;

const page = createLoadedPage<PlanFacts>({
  load: (params) => loadPlan(reviewClient, params),
  view: planPage,
});

async function change(action: () => Promise<unknown>): Promise<void> {
  await action().catch((thrown: unknown) =>
    toast(thrown instanceof Error ? thrown.message : String(thrown)),
  );
  await page.load();
}

function withdraw(ids: readonly string[], what: string): void {
  void change(async () => {
    await reviewClient.withdraw(ids);
    toast(`${what} is to be reviewed again.`, {
      label: "Undo",
      run: () => void change(() => reviewClient.accept(ids)),
    });
  });
}

/** Page by page, until the plan is empty. */
async function emptyPlan(): Promise<void> {
  for (;;) {
    const { data } = await reviewClient.plan({ offset: 0, limit: GROUPS_AT_ONCE });
    if (data.groups.length === 0) return;
    const ids = data.groups.map(({ groupId }) => groupId);
    if ((await reviewClient.withdraw(ids)).length === 0)
      throw new Error("The plan changes at the moment: load the page again.");
  }
}

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-act]") : null;
  const { act, id = "" } = button?.dataset ?? {};
  if (act === "withdraw") withdraw([id], "The group");
  if (act === "reload") void page.load();
});
startTheme();
watchPageImages();
startDialogs({ "empty-plan": () => void change(emptyPlan) });
watchAddress(() => void page.load());
void page.load();
