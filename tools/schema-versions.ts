/** The version of each answer whose readers had to change once, by the message's full name; 1 where nothing is said. */
export const SCHEMA_VERSIONS: Readonly<Record<string, number>> = {};
