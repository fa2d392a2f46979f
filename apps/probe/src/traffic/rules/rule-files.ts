/** The rules that the collector gave this probe, as they lie in its data directory. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type IdsBundle, readIdsBundle } from "@lanthorn/contract/uplink";
import { describeError } from "@lanthorn/runtime";
import { INTRUSION_RULES } from "../../bundles/names.ts";
import { openBundleStore } from "../../bundles/store.ts";

/** What is there: rules, none, or in words why they cannot be read. */
export type RuleFiles =
  | { readonly kind: "rules"; readonly bundle: IdsBundle; readonly version: number | null }
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly problem: string };

/** Reads the current version, or the one before where that is damaged. Never throws. */
export async function readRuleFiles(dataDir: string): Promise<RuleFiles> {
  try {
    const store = openBundleStore(dataDir, INTRUSION_RULES);
    const { current } = store.versions();
    const { currentNumber } = store.record();
    const folder = await store.findWholeFolder();
    if (folder === null) return current === null ? { kind: "none" } : { kind: "unreadable", problem: "the files of the rules are damaged; they are fetched again" };
    const files = new Map<string, Buffer>();
    for (const path of store.filesOf(folder)) files.set(path, await readFile(join(folder, path)));
    const read = readIdsBundle(files);
    if (!read.ok) return { kind: "unreadable", problem: read.message };
    return { kind: "rules", bundle: read.bundle, version: folder.endsWith(current ?? " ") && currentNumber > 0 ? currentNumber : null };
  } catch (error) {
    return { kind: "unreadable", problem: describeError(error) };
  }
}
