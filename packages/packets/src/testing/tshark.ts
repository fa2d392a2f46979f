/** tshark and its companions, from a Debian package that is unpacked but never installed. For tests only. */
import { type DebianRoot, unpackDebianPackages } from "../../../../test/lab/debian-packages.ts";
import { runCommand } from "../../../../test/lab/run-command.ts";
import type { Facts } from "./facts.ts";
import { FACT_FIELDS } from "./tshark-facts.ts";

/** @returns The programs of the packages, or null, saying why on the console, where they cannot be had. */
export async function unpackOrSay(packages: readonly string[], what: string): Promise<DebianRoot | null> {
  return unpackDebianPackages(packages).catch((error: unknown) => {
    console.warn(`SKIPPED: ${what}: ${packages.join(", ")} cannot be had: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  });
}

/** Runs one of the unpacked programs. */
export function runUnpacked(root: DebianRoot, name: string, args: readonly string[]): Promise<string> {
  const { path, env } = root.command(name);
  // It reads and writes its configuration at home; there must be none, so that its answers are the same everywhere.
  return runCommand(path, args, { env: { ...env, HOME: "/nonexistent" } });
}

/** Frames stand for themselves: neither fragments nor segments are joined, and no number is counted from an earlier frame's. */
const EACH_FRAME_ALONE = [
  "ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE", "tcp.relative_sequence_numbers:FALSE",
].flatMap((option) => ["-o", option]);

/** @returns For each frame of the file what tshark says of `FACT_FIELDS`, numbers in decimal. */
export async function askTshark(root: DebianRoot, file: string): Promise<readonly Facts[]> {
  const fields = FACT_FIELDS.flatMap((field) => ["-e", field]);
  const text = await runUnpacked(root, "tshark", ["-n", "-r", file, ...EACH_FRAME_ALONE, "-T", "json", ...fields]);
  const frames = JSON.parse(text) as readonly { readonly _source: { readonly layers: Record<string, readonly string[]> } }[];
  return frames.map(({ _source }) => {
    const entries = Object.entries(_source.layers).map(([field, values]): [string, readonly string[]] => {
      return [field, values.map((value) => inDecimal(value)).filter((value) => !FRAMING[field]?.includes(value))];
    });
    return Object.fromEntries(entries.filter(([, values]) => values.length > 0));
  });
}

/** Padding and ends, which tshark lists among the options. */
const FRAMING: Readonly<Record<string, readonly string[]>> = { "tcp.option_kind": ["0"], "dhcp.option.type": ["0", "255"] };

function inDecimal(value: string): string {
  return /^0x[0-9a-f]+$/.test(value) ? String(Number(value)) : value;
}
