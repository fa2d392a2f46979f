import * as z from "zod";

/** Control characters are never meant, end up in terminals and spreadsheets, and PostgreSQL does not take the NUL among them. */
const NO_CONTROL = /^\P{Cc}*$/u;

/** The same text without control characters. */
export function withoutControls(text: z.ZodString): z.ZodString {
  return text.regex(NO_CONTROL, "must have no control characters");
}

/** A text as a person writes it, without the blanks around it. @param longest In characters. */
export function PlainText(longest: number): z.ZodString {
  return withoutControls(z.string().trim().max(longest));
}
