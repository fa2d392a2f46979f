import * as z from "zod";

/** What a filter of a list lets through: one of `any`, where there are some, and none of `none`. */
export interface Choice<T> {
  readonly any: readonly T[];
  readonly none: readonly T[];
}

/** Each is a condition of its own in a query. */
const MAX_CHOICES = 50;
const MAX_TEXT = 2000;

/** How a filter that `choiceQuery` reads is written, for the documents. */
export const CHOICE_FORM = "Several with commas between: any of them. With `!` before it: not that one. A backslash before a comma or `!` "
  + "makes it part of the text.";

/**
 * A filter that takes one value, several with commas between (any of them), and values with `!` before them (none of those).
 * `\,` is a comma and `\!` an exclamation mark in a value. An empty text filters nothing.
 * @param item Reads one value; what it refuses is refused with its message.
 * @param meta What the documents say of the filter.
 */
export function choiceQuery<T>(item: z.ZodType<T, string>, meta: { readonly description: string; readonly examples: readonly string[] }) {
  return z.string().max(MAX_TEXT).transform((text, context): Choice<T> => {
    const choice: { readonly any: T[]; readonly none: T[] } = { any: [], none: [] };
    if (text.trim() === "") return choice;
    const parts = splitChoices(text);
    if (parts.length > MAX_CHOICES) {
      context.addIssue({ code: "custom", message: `must be at most ${MAX_CHOICES} values` });
      return z.NEVER;
    }
    for (const { value, isNegated } of parts) {
      const parsed = item.safeParse(value);
      const isEmpty = value === "";
      if (parsed.success && !isEmpty) (isNegated ? choice.none : choice.any).push(parsed.data);
      else {
        const message = isEmpty ? "must have a value between commas" : (parsed.error?.issues[0]?.message ?? "");
        context.addIssue({ code: "custom", message });
      }
    }
    return choice;
  }).meta({ description: `${meta.description} ${CHOICE_FORM}`, examples: [...meta.examples] });
}

/** Whether a filter lets everything through. */
export function isOpenChoice(choice: Choice<unknown> | undefined): boolean {
  return choice === undefined || (choice.any.length === 0 && choice.none.length === 0);
}

function splitChoices(text: string): readonly { readonly value: string; readonly isNegated: boolean }[] {
  // A character with its backslash is one: it neither parts values nor negates one.
  const parts: string[][] = [[]];
  for (const [character] of text.matchAll(/\\[^]|[^]/g)) {
    if (character === ",") parts.push([]);
    else parts.at(-1)?.push(character);
  }
  return parts.map((part) => {
    const written = part.join("").trim();
    const isNegated = written.startsWith("!");
    return { value: (isNegated ? written.slice(1) : written).trim().replaceAll(/\\([\\,!])/g, "$1"), isNegated };
  });
}
