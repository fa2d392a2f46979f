import { gunzipSync } from "node:zlib";
import { DNS_LISTS_MAX_BYTES, DNS_PART_MAX_BYTES, readDnsBundle } from "@lanthorn/contract/uplink";
import type { BundleFiles } from "../bundles/manifest.ts";
import { ProbeError } from "../errors.ts";

/** Tries a bundle of block lists as the resolver reads it. @throws ProbeError `bundle-refused`. */
export function checkLists(files: BundleFiles): Promise<void> {
  const read = readDnsBundle(files);
  if (!read.ok) throw new ProbeError("bundle-refused", read.message);
  let bytes = 0;
  for (const path of new Set(read.lists.lists.flatMap(({ parts }) => parts))) {
    try {
      bytes += gunzipSync(files.get(path) ?? Buffer.alloc(0), { maxOutputLength: DNS_PART_MAX_BYTES }).length;
    } catch (cause) {
      throw new ProbeError("bundle-refused", `${path} cannot be unpacked, or has more than ${DNS_PART_MAX_BYTES} bytes`, { cause });
    }
  }
  if (bytes > DNS_LISTS_MAX_BYTES) throw new ProbeError("bundle-refused", `the lists have ${bytes} bytes, more than ${DNS_LISTS_MAX_BYTES}`);
  return Promise.resolve();
}
