/** Cases in the layout of suricata-verify: folders with rules, a capture, and what an engine must make of them. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parse } from "yaml";
import * as z from "zod";

/** A value that a check asks for; what is no plain value is compared as JSON. */
const fields = z.record(z.string(), z.unknown());
const version = z.union([z.string(), z.number()]).transform(String);

const requirements = z.object({
  "min-version": version.optional(),
  "lt-version": version.optional(),
  "gt-version": version.optional(),
  version: version.optional(),
  features: z.array(z.string()).optional(),
  files: z.array(z.string()).optional(),
  env: z.array(z.string()).optional(),
  script: z.union([z.string(), z.array(z.string())]).transform((one) => [one].flat()).optional(),
  os: z.string().optional(),
  arch: z.string().optional(),
  pcap: z.boolean().optional(),
}).loose();

const filterCheck = z.object({
  filename: z.string().optional(),
  requires: requirements.nullish(),
  count: z.union([z.number(), z.string()]).optional(),
  match: fields.nullish(),
  "not-match": z.union([fields, z.array(fields).transform((all) => Object.assign({}, ...all) as Record<string, unknown>)]).nullish(),
});

const caseFile = z.object({
  requires: requirements.nullish(),
  skip: z.unknown().optional(),
  pcap: z.union([z.string(), z.boolean()]).nullish(),
  command: z.string().nullish(),
  args: z.array(z.union([z.string(), z.number()]).transform(String)).nullish(),
  "exit-code": z.number().nullish(),
  checks: z.array(z.record(z.string(), z.unknown())).nullish(),
}).loose();

/** What a case or a check needs of the engine. */
export type Requirements = z.infer<typeof requirements>;

/** One `filter`: how many events have these fields. */
export type FilterCheck = z.infer<typeof filterCheck>;

/** One case as its folder has it. */
export interface VerifyCase {
  /** Its folder, from the folder that was given. */
  readonly name: string;
  readonly folder: string;
  readonly requires: Requirements;
  readonly args: readonly string[];
  readonly rules: string | null;
  readonly capture: string | null;
  /** suricata.yaml of the case itself, parsed; `null` where it has none or one that cannot be read. */
  readonly configuration: unknown;
  /** Ends otherwise than well, or runs a command of its own: nothing that an engine alone can show. */
  readonly isOfProgram: boolean;
  readonly filters: readonly FilterCheck[];
  /** Checks of other kinds (`shell`, `stats`, `file-compare`), by kind. */
  readonly otherChecks: readonly string[];
}

/** A folder whose test.yaml cannot be read. */
export interface UnreadableCase {
  readonly name: string;
  readonly reason: string;
}

/** All cases below a folder, by name. Folders without test.yaml are gone through; those below a case too. */
export function readCases(root: string): { readonly cases: readonly VerifyCase[]; readonly unreadable: readonly UnreadableCase[] } {
  const cases: VerifyCase[] = [];
  const unreadable: UnreadableCase[] = [];
  for (const folder of findFolders(root)) {
    const name = relative(root, folder) || ".";
    try {
      cases.push(readCase(folder, name));
    } catch (error) {
      unreadable.push({ name, reason: error instanceof Error ? error.message.split("\n")[0] ?? "" : String(error) });
    }
  }
  return { cases, unreadable };
}

function findFolders(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const own = entries.some((entry) => entry.name === "test.yaml") ? [folder] : [];
  return [...own, ...entries.filter((entry) => entry.isDirectory()).flatMap((entry) => findFolders(join(folder, entry.name)))];
}

function readCase(folder: string, name: string): VerifyCase {
  const file = caseFile.parse(parse(readFileSync(join(folder, "test.yaml"), "utf8")) ?? {});
  const args = (file.args ?? []).flatMap(splitArguments).map((argument) => argument.replaceAll(/\$\{TEST_DIR\}|\$TEST_DIR/g, folder));
  const checks = (file.checks ?? []).flatMap((check) => Object.entries(check));
  return {
    name, folder, args,
    requires: file.requires ?? {},
    rules: rulesOf(folder, args),
    capture: captureOf(folder, file.pcap),
    configuration: configurationOf(folder),
    isOfProgram: (file.command ?? null) !== null || (file["exit-code"] ?? 0) !== 0,
    filters: checks.filter(([kind]) => kind === "filter").map(([, check]) => filterCheck.parse(check)),
    otherChecks: checks.map(([kind]) => kind).filter((kind) => kind !== "filter"),
  };
}

/** Words of a line as a shell takes them, quotes but no variables. */
function splitArguments(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
}

function rulesOf(folder: string, args: readonly string[]): string | null {
  const named = args[args.findIndex((argument) => argument === "-S" || argument === "-s") + 1];
  if (named !== undefined && args.some((argument) => argument === "-S" || argument === "-s")) return existsSync(resolve(folder, named)) ? resolve(folder, named) : null;
  const all = filesOf(folder, /\.rules$/);
  return all.find((file) => file.endsWith("/test.rules")) ?? all[0] ?? null;
}

function captureOf(folder: string, named: string | boolean | null | undefined): string | null {
  if (typeof named === "string") {
    const path = [resolve(folder, named), resolve(dirname(folder), named)].find((one) => existsSync(one));
    return path !== undefined && statSync(path).isFile() ? path : null;
  }
  return filesOf(folder, /\.pcap(?:ng)?$/)[0] ?? null;
}

function filesOf(folder: string, pattern: RegExp): string[] {
  return readdirSync(folder).filter((name) => pattern.test(name)).toSorted().map((name) => join(folder, name));
}

function configurationOf(folder: string): unknown {
  const path = join(folder, "suricata.yaml");
  return existsSync(path) ? parse(readFileSync(path, "utf8"), { version: "1.1" }) as unknown : null;
}
