/** Regular expressions whose work is bounded, whatever pattern and text are. */
export type { Budget } from "./linear-match.ts";
export type { RegexOptions } from "./options.ts";
export { type Compiled, compileRegex, type Groups, type LinearRegex, type Match } from "./regex.ts";
