import type { FileContents } from "../capture-files/file-contents.ts";
import { FAMILY_IPV4, FAMILY_IPV6, type FlowKey } from "../capture-files/summary/flow-keys.ts";
import type { IndexedFlow } from "./index-store.ts";

/** @returns The conversations of a file as the index keeps them. Those of nothing that could be read are left out. */
export function flowsOf(contents: FileContents): readonly IndexedFlow[] {
  const flows: IndexedFlow[] = [];
  contents.summary.forEachFlow(({ key, frames, octets }) => {
    if (key[9] === 0) return;
    flows.push({
      kind: key[9] as number, low: addressOf(key, 0), high: addressOf(key, 4), lowPort: (key[8] as number) >>> 16, highPort: (key[8] as number) & 0xffff, frames,
      octets,
    });
  });
  return flows;
}

/** @param word Where the address begins: 0 or 4. */
function addressOf(key: FlowKey, word: number): Uint8Array {
  const family = (key[9] as number) & 0xf_0000;
  const bytes = new Uint8Array(family === FAMILY_IPV4 ? 4 : family === FAMILY_IPV6 ? 16 : 6);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = ((key[word + (at >>> 2)] as number) >>> (24 - 8 * (at & 3))) & 0xff;
  return bytes;
}
