/** The island of `/documents`: searches while one types. */
import { documentsPage } from "../review/documents.ts";
import { loadDocuments, type DocumentsFacts } from "../review/load.ts";
import { watchAddress } from "./address.ts";
import { createLoadedPage } from "./loaded-page.ts";
import { watchPageImages } from "./page-images.ts";
import { reviewClient } from "./review-client.ts";
import { startTheme } from "./theme.ts";

const page = createLoadedPage<DocumentsFacts>({
  load: (params) => loadDocuments(reviewClient, params),
  view: documentsPage,
});

document.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest('[data-act="reload"]') !== null) void page.load();
});
startTheme();
watchPageImages();
watchAddress(() => page.loadSoon());
void page.load();
