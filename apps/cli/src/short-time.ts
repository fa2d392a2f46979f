/** An instant for people, to the second: `2026-11-20T08:15:30Z`. */
export function shortTime(instant: string): string {
  return instant.replace(/\.\d+Z$/, "Z");
}
