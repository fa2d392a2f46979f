import { formatMac, parseMac } from "@lanthorn/packets";
import { decoySeed } from "../personas/seed.ts";

const SUFFIX_OCTETS = 3;
/** Blocks of VMware and Microsoft in which their programs give addresses to virtual machines; beyond are those that nobody has. */
const VIRTUAL_BLOCK = "00:50:56";
const FIRST_VIRTUAL = 0x80;

/**
 * The MAC address of a decoy: what the configuration says, where that is whole. A maker's block is completed by what a seed of this
 * machine makes of the decoy's name: the same at each start, and another one at each site.
 * @param dataDir Where the seed is kept, made at the first start.
 */
export function ownMac(dataDir: string, { name, mac }: { readonly name: string; readonly mac: string }): string {
  const whole = parseMac(mac);
  if (whole) return formatMac(whole);
  const suffix = decoySeed(dataDir, name)("mac", SUFFIX_OCTETS);
  if (mac === VIRTUAL_BLOCK) suffix[0] = FIRST_VIRTUAL | ((suffix[0] ?? 0) & 0x3f);
  return `${mac}:${[...suffix].map((octet) => octet.toString(16).padStart(2, "0")).join(":")}`;
}
