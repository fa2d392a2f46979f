/**
 * What a JSON text says, for a schema to look at; nothing about its shape is known yet.
 * @returns Undefined, which no JSON text says, for what is no JSON; never throws.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
