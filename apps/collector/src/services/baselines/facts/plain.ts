/**
 * A text of a device as a fact may have it: without control characters, not longer than `longest`, and as a database gives it back, where half of a
 * character at the end becomes U+FFFD.
 */
export function plain(text: string, longest: number): string {
  return text.replaceAll(/\p{Cc}/gu, " ").trim().slice(0, longest).replaceAll(/\p{Cs}/gu, "\ufffd");
}
