import { percent } from "../texts/percent.ts";
import { formatSize } from "../texts/size.ts";

const BYTES: ReadonlySet<string> = new Set(["bytes_out", "bytes_in", "bytes_outside", "bytes_to_rare"]);
const SHARES: ReadonlySet<string> = new Set(["nxdomain_share", "east_west_share", "beacon"]);

/** What was measured as people read it: bytes by size, shares in per cent. @param name What was measured, as `bytes_out`. */
export function formatMeasure(name: string, value: number): string {
  if (BYTES.has(name)) return formatSize(value);
  if (SHARES.has(name)) return percent(value);
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 0 });
}
