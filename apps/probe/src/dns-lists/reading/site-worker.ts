// The thread in which the collector's block lists are read: verified, unpacked, and made a set of names.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { DNS_BUNDLE_FILES, DNS_PART_MAX_BYTES, type DnsBundleLists, readDnsBundle } from "@lanthorn/contract/uplink";
import { createDatedListReader, createNameSetBuilder } from "@lanthorn/dns";
import { MANIFEST, parseManifest, sha256 } from "../../bundles/manifest.ts";
import { categoryKey } from "../category.ts";
import type { SiteRead, SiteTask } from "./site-messages.ts";

const task = workerData as SiteTask;
let read: SiteRead;
try {
  read = readSite(task);
} catch (error) {
  read = { kind: "fault", reason: error instanceof Error ? error.message : String(error) };
}
const bytes = read.kind === "read" ? read.bytes : null;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
parentPort?.postMessage(read, bytes && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer as ArrayBuffer] : []);

function readSite({ directory, pointer, knownNames, hashKey, categories, maxRules }: SiteTask): SiteRead {
  const version = readCurrent(join(directory, pointer));
  if (version === null) return { kind: "none" };
  const open = openVersion(join(directory, version), version);
  const index = open(DNS_BUNDLE_FILES.lists);
  const files = new Map([...open.names].map((name): [string, Uint8Array] => [name, new Uint8Array(0)]));
  const opened = readDnsBundle(files.set(DNS_BUNDLE_FILES.lists, index).set(DNS_BUNDLE_FILES.policy, open(DNS_BUNDLE_FILES.policy)));
  if (!opened.ok) throw new Error(opened.message);
  const names = sha256(index);
  const lists = opened.lists.lists.filter(({ category }) => categories === null || categories.includes(categoryKey(category)));
  return {
    kind: "read", policy: opened.policy, names, bytes: names === knownNames ? null : buildNames(lists, open, { hashKey, maxRules }), lists: lists.map(({ name, rules }) => ({ name, rules })),
  };
}

function readCurrent(pointer: string): string | null {
  const [version = ""] = readFileSync(pointer, "utf8").split("\n", 1);
  return /^[0-9a-f]{64}$/.test(version) ? version : null;
}

/** Reads files of a version, each of which must be what its manifest says. */
function openVersion(folder: string, version: string) {
  const manifest = readFileSync(join(folder, MANIFEST), "utf8");
  const sums = sha256(manifest) === version ? parseManifest(manifest) : "its manifest is another one";
  if (typeof sums === "string") throw new Error(sums);
  const open = (name: string): Buffer => {
    const content = readFileSync(join(folder, name));
    if (sha256(content) !== sums.get(name)) throw new Error(`the checksum of ${name} differs`);
    return content;
  };
  return Object.assign(open, { names: sums.keys() });
}

function buildNames(lists: DnsBundleLists["lists"], open: (name: string) => Buffer, { hashKey: [first, second], maxRules }: Pick<SiteTask, "hashKey" | "maxRules">): Uint8Array {
  let left = maxRules ?? Number.POSITIVE_INFINITY;
  const builder = createNameSetBuilder({
    lists: lists.map(({ id, name, category, format }) => ({ id, name, category, kind: format === "rpz" ? "rpz" : "filter" })), hashKey: [first, second], day: 0, expectedNames: 0, before: null,
  });
  for (const [index, { format, origin, may_rewrite: mayRewrite, parts, name }] of lists.entries()) {
    let isFull = false;
    const reader = createDatedListReader(format, { mayRewrite, origin, day: 0 }, (rule, day) => {
      left -= 1;
      if (left < 0 || !builder.add(index, rule, day)) isFull = true;
    });
    for (const part of parts) {
      reader.push(gunzipSync(open(part), { maxOutputLength: DNS_PART_MAX_BYTES }));
      if (isFull) break;
    }
    reader.end();
    if (isFull) throw new Error(`with the list ${name} there are more names than ${maxRules === null ? "a set can hold" : `the ${maxRules} for which there is memory`}`);
  }
  return Buffer.concat(builder.finish());
}
