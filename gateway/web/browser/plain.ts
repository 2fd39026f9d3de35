/** The island of a page that does not move: only the switch of the colours. */
import { startTheme } from "./theme.ts";

startTheme();
