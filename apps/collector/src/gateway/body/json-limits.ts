/** Lists in lists: no body that the API takes is nested deeper than eight. */
export const MAX_JSON_DEPTH = 64;
/**
 * Values and names of members. The largest list that the API takes has 4,096 entries; what follows a body (schema, errors)
 * costs a few microseconds for each.
 */
export const MAX_JSON_VALUES = 10_000;

/** Which bound a JSON text exceeds. */
export type JsonExcess = "depth" | "values";

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Measures a JSON text without parsing it: one look at each character, no memory. What is no JSON is measured all the same.
 * @returns Null for a text within `MAX_JSON_DEPTH` and `MAX_JSON_VALUES`.
 * @see RFC 8259 section 9: a parser may set limits on depth and size.
 */
export function jsonExcess(json: string): JsonExcess | null {
  let [depth, values] = [0, 1];
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(json, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        values += 1;
        if (depth > MAX_JSON_DEPTH) return "depth";
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth = Math.max(0, depth - 1);
        break;
      case COMMA:
      case COLON:
        values += 1;
        break;
      default:
    }
    if (values > MAX_JSON_VALUES) return "values";
  }
  return null;
}

/** @returns Where the string that begins at `start` ends; the text's end where it does not. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return at;
}
