import * as z from "zod";
import { parseDuration } from "../values.ts";
import { type Choice, isOpenChoice } from "./choice.ts";

/** A word before a colon: the parameter of the list that it stands for. */
export interface FilterTerm<Name extends string> {
  readonly name: Name;
  /** Its values from the highest on, where `>=` and `<` mean something. */
  readonly order?: readonly string[];
  /** Whether it has one value, `true` or `false`, and no choice of them. */
  readonly isBoolean?: true;
}

/** The parameters that begin a period and end it. */
interface Period<Name extends string> {
  readonly since: Name;
  readonly until: Name;
}

/** The filter language of one kind of records. */
export interface FilterLanguage<Name extends string> {
  readonly terms: Readonly<Record<string, FilterTerm<Name>>>;
  /** Words of moments: the parameters that begin and end the period. */
  readonly moments: Readonly<Record<string, Period<Name | "since" | "until">>>;
  /** The list's parameters, each optional. */
  readonly conditions: z.ZodObject;
}

/** Parameters of a list, as texts. */
export type FilterTexts<Name extends string> = { readonly [name in Name | "search" | "since" | "until"]?: string | undefined };
/** What a text in the filter language says, or what is wrong with it, for the person who wrote it. */
export type ParsedFilter<Name extends string> = { readonly ok: true; readonly filter: FilterTexts<Name> } | { readonly ok: false; readonly message: string };

/** The longest text in the filter language, in characters. */
const MAX_LENGTH = 2000;
const FILTER_FORM = "`-` before a term means not, a comma means either, `>=` and `<` compare, quotes hold blanks together, and what has no colon is searched for. "
  + "What it says cannot be said by another parameter too.";
/** A term or a word: a minus sign or none, a name and a colon or none, and a value, in quotes or up to the next blank. */
const PART = /(-)?(?:([a-z_]+):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/g;

/**
 * Reads a text in the filter language: `type:printer,camera -tag:lab vendor:"Cisco Systems" cve:>=high seen:<7d name or address`.
 * A comma means either, `-` before a term means not, all terms count, and what has no colon is searched for. `seen:<7d`: seen within
 * seven days; `seen:>7d`: not since; `seen:>2026-11-20T00:00:00Z`: since that moment.
 */
export function parseFilter<Name extends string>(language: FilterLanguage<Name>, text: string): ParsedFilter<Name> {
  if (text.length > MAX_LENGTH) return refuse(`the filter is longer than ${MAX_LENGTH} characters`);
  const filter: Record<string, string> = {};
  const words: string[] = [];
  for (const [, minus = "", name, quoted, bare = ""] of text.matchAll(PART)) {
    const value = quoted === undefined ? bare : quoted.replaceAll(/\\(.)/g, "$1");
    const term = name !== undefined && Object.hasOwn(language.terms, name) ? language.terms[name] : undefined;
    const period = name !== undefined && Object.hasOwn(language.moments, name) ? language.moments[name] : undefined;
    if (period) {
      const [end, moment] = momentOf(value) ?? [];
      if (end === undefined || moment === undefined || minus !== "") return refuse(`write ${name}:<7d for within seven days, ${name}:>7d for before that`);
      if (filter[period[end]] !== undefined) return refuse(`${name}: is there twice in the same direction`);
      filter[period[end]] = moment;
    // An address as `2001:db8::1` or `00:1b:63:…` has colons too.
    } else if (!term) words.push(`${minus}${name === undefined ? "" : `${name}:`}${value}`);
    else if (term.isBoolean) {
      if (minus !== "" || filter[term.name] !== undefined || !["true", "false"].includes(value)) return refuse(`write ${name}:true or ${name}:false, once`);
      filter[term.name] = value;
    } else if (value === "") return refuse(`${name}: needs a value`);
    else {
      const choices = quoted === undefined ? value.split(/(?<!\\),/).flatMap((choice) => inOrder(term, choice)) : [value.replaceAll(/[\\,!]/g, String.raw`\$&`)];
      filter[term.name] = [filter[term.name], ...choices.map((choice) => `${minus === "" ? "" : "!"}${choice}`)].filter((part) => part !== undefined).join(",");
    }
  }
  if (words.length > 0) filter["search"] = words.join(" ");
  const issue = language.conditions.safeParse(filter).error?.issues[0];
  return issue ? refuse(`${wordOf(language, String(issue.path[0]))}: ${issue.message}`) : { ok: true, filter: filter as FilterTexts<Name> };
}

/** Writes parameters of a list in the language that `parseFilter` reads. Those that it has no word for are left out. */
export function formatFilter<Name extends string>(language: FilterLanguage<Name>, filter: FilterTexts<Name>): string {
  const conditions = language.conditions.safeParse(filter).data as Readonly<Record<string, Choice<string | number> | boolean | undefined>> | undefined;
  const terms = Object.entries(language.terms).flatMap(([word, { name }]) => {
    const choice = conditions?.[name];
    if (typeof choice === "boolean") return [`${word}:${choice}`];
    if (choice === undefined || isOpenChoice(choice)) return [];
    const either = choice.any.map(String);
    const isPlain = either.every((value) => /^[^\s",\\!<>-][^\s",\\]*$/.test(value));
    return [
      ...(either.length === 0 ? [] : isPlain ? [`${word}:${either.join(",")}`] : either.map((value) => `${word}:${quote(value)}`)),
      ...choice.none.map((value) => `-${word}:${quote(String(value))}`),
    ];
  });
  const moments = Object.entries<Period<Name | "since" | "until">>(language.moments).flatMap(([word, { since, until }]) => [
    ...formatMoment(`${word}:`, filter[since], ["<", ">"]), ...formatMoment(`${word}:`, filter[until], [">", "<"]),
  ]);
  return [...terms, ...moments, ...(filter.search === undefined ? [] : [formatSearch(language, filter.search)])].join(" ");
}

/** A query's text in a filter language, read into the conditions that it says. @param meta What the documents say of it. */
export function filterText<Name extends string, Schema extends z.ZodObject>(
  language: FilterLanguage<Name>, conditions: Schema, meta: { readonly description: string; readonly examples: readonly string[] },
) {
  return z.string().max(MAX_LENGTH).transform((text, context): z.infer<Schema> => {
    const parsed = parseFilter(language, text);
    if (parsed.ok) return conditions.parse(parsed.filter);
    context.addIssue({ code: "custom", message: parsed.message });
    return z.NEVER;
  }).meta({ description: `${meta.description} ${FILTER_FORM}`, examples: [...meta.examples] });
}

/** What is searched for, in quotes where it would be read as something else. */
function formatSearch<Name extends string>(language: FilterLanguage<Name>, search: string): string {
  const parsed = parseFilter(language, search);
  return parsed.ok && parsed.filter.search === search && Object.keys(parsed.filter).length === 1 ? search : `"${search.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** `<7d` and `>2026-11-20T00:00:00Z` begin a period, `>7d` and `<2026-11-20T00:00:00Z` end one. */
function momentOf(value: string): readonly ["since" | "until", string] | null {
  const [, sign, moment] = /^([<>])(\S{1,64})$/.exec(value) ?? [];
  if (moment === undefined) return null;
  const isAge = parseDuration(moment) !== null;
  if (!isAge && !/^\d{4}-/.test(moment)) return null;
  return [(sign === "<") === isAge ? "since" : "until", moment];
}

/** @param signs Before an age, and before an instant. */
function formatMoment(word: string, moment: string | undefined, [ofAge, ofInstant]: readonly [string, string]): readonly string[] {
  return moment === undefined ? [] : [`${word}${parseDuration(moment) === null ? ofInstant : ofAge}${moment}`];
}

/** `>=high` as the values that are at least so high; any other value as it is. */
function inOrder({ order }: FilterTerm<string>, value: string): readonly string[] {
  const [, sign, bound = ""] = /^([<>]=?)(.*)$/.exec(value) ?? [];
  const at = order?.indexOf(bound) ?? -1;
  if (order === undefined || sign === undefined || at < 0) return [value];
  const isWith = sign.endsWith("=") ? 1 : 0;
  const values = sign.startsWith(">") ? order.slice(0, at + isWith) : order.slice(at + 1 - isWith);
  // As it is it is refused: nothing is above the highest.
  return values.length > 0 ? values : [value];
}

function quote(value: string): string {
  return /^[^\s",\\!<>]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** The words that a filter language knows before a colon. */
export function termsOf<Name extends string>({ terms, moments }: FilterLanguage<Name>): readonly string[] {
  return [...Object.keys(terms), ...Object.keys(moments)];
}

function wordOf<Name extends string>({ terms, moments }: FilterLanguage<Name>, name: string): string {
  return Object.entries(terms).find(([, each]) => each.name === name)?.[0] ?? Object.entries<Period<string>>(moments).find(([, { since, until }]) => name === since || name === until)?.[0] ?? name;
}

function refuse(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}
