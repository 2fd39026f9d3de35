/** How much of a text is kept. */

/** The largest text that a document keeps, in UTF-16 units: what the analysis reads of it. */
export const TEXT_UNITS = 500_000;

/** The largest compressed text that fits a transaction beside its keys. */
export const TEXT_BYTES = 900_000;
