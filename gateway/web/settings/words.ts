/** What the page calls a setting, and where it stands on the page. */

/** Settings of the analysis in the order of the page: what people change first, first. */
export const ANALYSIS_LABELS: Readonly<Record<string, string>> = {
  "dedup.similarityThreshold": "Minimum confidence",
  "dedup.minWords": "Minimum number of words",
  "dedup.discriminativePenaltyStrength": "Penalty for differing dates and amounts (%)",
  "dedup.confidenceWeightJaccard": "Weight of the Jaccard similarity (%)",
  "dedup.confidenceWeightFuzzy": "Weight of the fuzzy ratio (%)",
  "dedup.fuzzySampleSize": "Characters that the fuzzy ratio compares",
  "dedup.ngramSize": "Words of a phrase",
  "dedup.numPermutations": "Values of a signature",
  "dedup.numBands": "Bands of a signature",
  "dedup.autoAnalyze": "Analyse after each sync",
};

export const AI_LABELS: Readonly<Record<string, string>> = {
  "ai.provider": "Provider",
  "ai.model": "Model",
  "ai.maxCostPerRunUsd": "Limit of a run (USD)",
  "ai.maxCostPerMonthUsd": "Limit of a month (USD)",
  "ai.maxContentLength": "Characters that are sent",
  "ai.extractTitle": "Ask for a title, too",
  "ai.tagMode": "What happens to the tags of a document",
  "ai.protectedTagNames": "Tags that are never touched (JSON)",
  "ai.includeCorrespondents": "Send the names of correspondents",
  "ai.includeDocumentTypes": "Send the names of document types",
  "ai.includeTags": "Send the names of tags",
  "ai.reasoningEffort": "Effort of reasoning",
  "ai.batchSize": "Requests at once",
  "ai.rateDelayMs": "Pause between requests (ms)",
  "ai.maxRetries": "Further attempts",
};

/** Every setting of one form begins with this. */
export const PREFIXES = { analysis: "dedup.", ai: "ai." } as const;
export type FormName = keyof typeof PREFIXES;
