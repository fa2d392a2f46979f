import { execFile } from "node:child_process";
import { PacketIoError } from "../errors.ts";
import { linkError } from "./link-state.ts";

/** A machine with thousands of routes still answers within this. */
const OUTPUT_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** A record of what `ip -j` says: nothing is known of its fields until they are looked at. */
export type IpRecord = Readonly<Record<string, unknown>>;

/**
 * Runs `ip` with these arguments.
 * @param about The interface asked about, for the error when there is none.
 * @returns What it wrote.
 * @throws PacketIoError `interface-missing` or `facts-unavailable`.
 */
export function runIp(args: readonly string[], about: string | null): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("ip", [...args], { maxBuffer: OUTPUT_BYTES, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      if (about !== null && /does not exist|Cannot find device|not a valid ifname/.test(stderr)) return reject(linkError(about, "missing"));
      const action = error.code === "ENOENT" ? "install iproute2" : stderr.trim() || error.message;
      reject(new PacketIoError("facts-unavailable", `cannot run ip ${args.filter((word) => word !== "-j").join(" ")}: ${action}`, { cause: error }));
    });
  });
}

/**
 * Runs `ip -j` with these arguments.
 * @param about The interface asked about, for the error when there is none.
 * @throws PacketIoError `interface-missing` or `facts-unavailable`.
 */
export async function readIpRecords(args: readonly string[], about: string | null): Promise<readonly IpRecord[]> {
  const output = await runIp(["-j", ...args], about);
  if (output.trim() === "") return [];
  try {
    const parsed: unknown = JSON.parse(output);
    if (Array.isArray(parsed)) return parsed.filter(isRecord);
  } catch (cause) {
    throw new PacketIoError("facts-unavailable", `ip ${args.join(" ")} did not answer in JSON; use iproute2 5.0 or later`, { cause });
  }
  throw new PacketIoError("facts-unavailable", `ip ${args.join(" ")} did not answer with a list; use iproute2 5.0 or later`);
}

/** True for an object of `ip -j`; false for null and lists. */
export function isRecord(value: unknown): value is IpRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Empty for what is no text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** 0 for what is no number. */
export function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** Empty for what is no list; other kinds of elements are left out. */
export function recordsOf(value: unknown): readonly IpRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Empty for what is no list; other kinds of elements are left out. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((element) => typeof element === "string") : [];
}
