/** As the runtime's, which a browser cannot load. @returns Undefined for what is no JSON, or no text. */
export function parseJson(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
