/** The island of `/suggestions/costs`: draws the page for each change of the address. */
import { costsPage } from "../suggestions/costs.ts";
import { loadCosts, type CostsFacts } from "../suggestions/load.ts";
import { watchAddress } from "./address.ts";
import { createLoadedPage } from "./loaded-page.ts";
import { suggestionClient } from "./suggestion-client.ts";
import { startTheme } from "./theme.ts";

const page = createLoadedPage<CostsFacts>({
  load: (params) => loadCosts(suggestionClient, params),
  view: costsPage,
});

document.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest('[data-act="reload"]') !== null) void page.load();
});
startTheme();
watchAddress(() => void page.load());
void page.load();
