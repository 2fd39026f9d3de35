/** The island of a page that does not move: the switch of the colours, and pictures of pages. */
import { watchPageImages } from "./page-images.ts";
import { startTheme } from "./theme.ts";

startTheme();
watchPageImages();
