/** What is filled in into a form of an ODT (OpenDocument 1.3, part 3, 13). */

/** Fields of a value that is shown. */
const VALUES: ReadonlySet<string> = new Set(
  ["combobox", "date", "formatted-text", "number", "text", "textarea", "time"].map(
    (name) => `form:${name}`,
  ),
);

type Attributes = Readonly<Record<string, string>>;

/**
 * A line for each field that is filled in, from the start tags in their order. A value has the name
 * of its field: the same value in another field is another text.
 */
export function createFormReader(): (name: string, attributes: Attributes) => string | undefined {
  /** The name of the list whose options follow. */
  let list = "";
  return (name, attributes) => {
    const { "form:name": field = "", "form:label": label = "" } = attributes;
    if (name === "form:listbox") list = field;
    if (VALUES.has(name)) {
      const value = attributes["form:current-value"] ?? attributes["form:value"] ?? "";
      return lineOf(field, value);
    }
    switch (name) {
      case "form:checkbox":
        return lineOf(field || label, stateOf(attributes) === "checked" ? "\u2612" : "");
      case "form:radio":
        return lineOf(field, isSelected(attributes) ? attributes["form:value"] || label : "");
      case "form:option":
        return lineOf(list, isSelected(attributes) ? label || attributes["form:value"] : "");
      default:
        return undefined;
    }
  };
}

function lineOf(field: string, value = ""): string | undefined {
  return value.trim() === "" ? undefined : `${field}: ${value}\n`;
}

function stateOf(attributes: Attributes): string | undefined {
  return attributes["form:current-state"] ?? attributes["form:state"];
}

function isSelected(attributes: Attributes): boolean {
  return (attributes["form:current-selected"] ?? attributes["form:selected"]) === "true";
}
