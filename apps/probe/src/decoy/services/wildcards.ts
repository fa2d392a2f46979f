/** A part of a pattern: any number of characters, or one that it takes. */
export type WildcardPart = "run" | ((character: string) => boolean);

/** Whether a name fits a pattern as a whole. Its time grows with the product of their lengths, and never beyond. */
export function fitsWildcards(parts: readonly WildcardPart[], name: string): boolean {
  let [at, run, mark, next] = [0, -1, 0, 0];
  while (next < name.length) {
    const part = parts[at];
    if (part === "run") [run, mark, at] = [at, next, at + 1];
    else if (part?.(name[next] ?? "")) [at, next] = [at + 1, next + 1];
    else if (run >= 0) {
      mark += 1;
      [at, next] = [run + 1, mark];
    } else return false;
  }
  return parts.slice(at).every((part) => part === "run");
}
