import { parseJson } from "@lanthorn/runtime";

/** A value with the way to it, which becomes a path only where it is wanted. */
interface Node {
  readonly value: unknown;
  readonly name: string;
  readonly parent: Node | null;
}

/** Where U+0000 is in a JSON text's value; null where it is not. Names of fields count with what they are in. */
export function placeOfNul(json: string): readonly string[] | null {
  // Nearly every body is done with here; what is no JSON is refused by whoever wants it to be.
  if (!json.includes(String.raw`\u0000`)) return null;
  const waiting: Node[] = [{ value: parseJson(json), name: "", parent: null }];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const { value } = node;
    if (typeof value === "string" && value.includes("\0")) return pathOf(node);
    if (typeof value !== "object" || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      if (name.includes("\0")) return pathOf(node);
      waiting.push({ value: member, name, parent: node });
    }
  }
  return null;
}

function pathOf(node: Node): readonly string[] {
  const names: string[] = [];
  for (let at: Node = node; at.parent !== null; at = at.parent) names.push(at.name);
  return names.toReversed();
}
