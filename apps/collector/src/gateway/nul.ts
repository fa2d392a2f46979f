import { parseJson } from "@lanthorn/runtime";

/** Where U+0000 is in a JSON text's value; null where it is not. Names of fields count with what they are in. */
export function placeOfNul(json: string): readonly string[] | null {
  // Nearly every body is done with here; what is no JSON is refused by whoever wants it to be.
  return json.includes(String.raw`\u0000`) ? search(parseJson(json), []) : null;
}

function search(value: unknown, place: readonly string[]): readonly string[] | null {
  if (typeof value === "string") return value.includes("\0") ? place : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = name.includes("\0") ? place : search(member, [...place, name]);
    if (found) return found;
  }
  return null;
}
