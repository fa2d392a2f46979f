import { readFileSync } from "node:fs";
import { parse as parseToml } from "smol-toml";
import type * as z from "zod";
import { RuntimeError } from "./errors.ts";

/** Environment variable → path of the key that it overrides, `http.port`. */
export type EnvironmentNames = Readonly<Record<string, string>>;

/**
 * Reads a TOML file, lays the environment over it, and checks the whole.
 * @param options.file Path, or null for no file. With `optional`, a file that is not there counts as empty.
 * @param options.schema Strict objects, so that an unknown key is an error.
 * @throws RuntimeError `config-unreadable` or `config-invalid`; the message names each key's path and what is allowed there.
 */
export function readConfiguration<T extends z.ZodType>(options: {
  readonly schema: T;
  readonly file: string | null;
  readonly optional: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly names: EnvironmentNames;
}): z.infer<T> {
  const values = options.file === null ? {} : readToml(options.file, options.optional);
  for (const [name, path] of Object.entries(options.names)) {
    const text = options.environment[name];
    if (text !== undefined && text !== "") setPath(values, path.split("."), fromText(text));
  }
  const result = options.schema.safeParse(values);
  if (result.success) return result.data;
  const lines = result.error.issues.flatMap((issue) => (issue.code === "unrecognized_keys"
    ? issue.keys.map((key) => `  ${[...issue.path, key].join(".")}: there is no such setting`)
    : [`  ${issue.path.join(".") || "(top level)"}: ${issue.message}`]));
  throw new RuntimeError(
    "config-invalid", `the configuration${options.file === null ? "" : ` in ${options.file}`} is not valid:\n${lines.join("\n")}`,
  );
}

/**
 * Says which variables nobody reads, so that a mistyped name does not go unnoticed.
 * @param known Every name that begins with `LANTHORN_` and is read by some program of ours.
 * @returns A line for each, in words for whoever set it; none where all are known.
 */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>, known: readonly string[]): readonly string[] {
  return Object.keys(environment).filter((name) => name.startsWith("LANTHORN_") && !known.includes(name)).toSorted()
    .map((name) => `${name} is set, but no setting has this name: it is not used`);
}

function readToml(file: string, optional: boolean): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if (optional && (cause as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new RuntimeError("config-unreadable", `cannot read ${file}`, { cause });
  }
  try {
    return parseToml(text);
  } catch (cause) {
    throw new RuntimeError("config-unreadable", `${file} is not TOML`, { cause });
  }
}

function setPath(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let here = values;
  for (const key of path.slice(0, -1)) {
    const next = here[key];
    const table: Record<string, unknown> = typeof next === "object" && next !== null ? { ...next } : {};
    here[key] = table;
    here = table;
  }
  here[path.at(-1) as string] = value;
}

/** An environment holds texts only; numbers and booleans in it are read as TOML would read them. */
function fromText(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  if (text === "true" || text === "false") return text === "true";
  return text;
}
