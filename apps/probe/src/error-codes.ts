/** The codes of an error and of everything behind it, outermost first. */
export function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let cause: unknown = error; cause instanceof Error && codes.length < 8; cause = cause.cause) {
    const { code } = cause as { readonly code?: unknown };
    if (typeof code === "string") codes.push(code);
  }
  return codes;
}
