import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type IdsTest, type IdsTestMatch, type IdsTestResult, MAX_IDS_TEST_BYTES } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";
import { type Input, readText } from "../input.ts";
import { siteFilter } from "../site-id.ts";
import { parseRuleNumber, plainText } from "./ids.ts";

/** Which rule, and which stored capture where it is no file. */
export interface TestOptions {
  readonly rule?: string;
  readonly sid?: string;
  readonly site?: string;
  readonly pcap?: string;
  readonly reason?: string;
}

/** What fits into a request, packed: the gateway takes a body of 1 MiB. */
const MAX_PACKED_BYTES = 750_000;

/** Tries a rule on a capture. @throws CliError `bad-option`; `file`. */
export async function testRule({ rest }: Pick<Connection, "rest">, file: string | undefined, options: TestOptions, input: Pick<Input, "readAll">): Promise<Answer> {
  const { rule, sid, site, pcap, reason } = options;
  if ((rule === undefined) === (sid === undefined)) throw new CliError("bad-option", "say which rule: either --rule or --sid");
  if ((file === undefined) === (pcap === undefined)) throw new CliError("bad-option", "say which capture: either a file or --pcap");
  const wish: IdsTest = {
    generator_id: 1, ...(rule !== undefined && { rule: await readText(rule, input) }), ...(sid !== undefined && parseRuleNumber(sid)), ...await siteFilter(rest, site),
    ...(file !== undefined && { capture: readCapture(file) }), ...(pcap !== undefined && { pcap_id: pcap }), ...(reason !== undefined && { reason }),
  };
  const result = await rest.testIdsRule(wish);
  return { json: result, table: tableOf(result), notes: [notesOf(result).join("\n")] };
}

function readCapture(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new CliError("file", `cannot read ${file}`, { cause });
  }
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b ? bytes : gzipSync(bytes);
  if (packed.length > MAX_PACKED_BYTES || bytes.length > MAX_IDS_TEST_BYTES) {
    throw new CliError("file", `${file} is too large to be sent: at most ${MAX_PACKED_BYTES} bytes packed by gzip. Cut it down, or test on a stored capture with --pcap`);
  }
  return packed.toString("base64");
}

function tableOf({ parts, missed }: IdsTestResult): NonNullable<Answer["table"]> {
  const isMissed = (part: IdsTestResult["parts"][number]) => part.kind === missed?.kind && part.text === missed.text && part.buffer === missed.buffer;
  return {
    heading: ["PART", "BUFFER", "MATCHES", "RULE ASKS FOR"],
    rows: parts.map((part) => [part.kind, part.buffer || "-", `${part.matches}${isMissed(part) ? " <- not" : ""}`, plainText(part.text)]),
  };
}

function notesOf(result: IdsTestResult): readonly string[] {
  const { matches, alerts, missed, refusal, beside, unset_bits: unset, problem, gave_up: gaveUp, frames, shown } = result;
  const verdict = refusal ? `It cannot be run: ${refusal.keyword}: ${refusal.reason}.`
    : missed === null ? `It matches ${matches} times${alerts === matches ? "" : `, and gives ${alerts} alerts`}.`
    : matches > 0 ? `It matches ${matches} times and gives no alert: ${plainText(missed.text)}.`
    : `It does not match: ${missed.kind}${missed.buffer === "" ? "" : ` in ${missed.buffer}`}: ${plainText(missed.text)}.${missed.matches_without === true ? " Without this part it would match." : ""}`;
  return [
    verdict, ...shown.map((match) => describeMatch("Match", match)), ...(missed?.candidate ? [describeMatch("Nearest", missed.candidate)] : []),
    ...(beside.length > 0 ? [`With rules that set its bits: ${beside.join(", ")}`] : []), ...(unset.length > 0 ? [`No rule here sets: ${unset.map(plainText).join(", ")}`] : []),
    ...result.beside_refused.map((one) => `Not run beside it: ${one.generator_id}:${one.signature_id ?? "?"}: ${one.keyword}: ${one.reason}`),
    ...(gaveUp ? ["Some work was left out at its bound: a match may be missing."] : []), `${frames} frames were read${problem === null ? "" : `; ${problem}`}.`,
  ];
}

function describeMatch(what: string, { frame, at, source, destination, direction, application, buffers }: IdsTestMatch): string {
  const end = ({ ip, port }: IdsTestMatch["source"]) => (port === null ? ip : ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`);
  const where = frame === null ? "at the end of a flow" : `frame ${frame}`;
  const found = buffers.map(({ buffer, offset, length, bytes }) => `${buffer} ${offset}-${offset + length} "${shownBytes(bytes)}"`);
  return `${what}: ${where}, ${at}, ${end(source)} -> ${end(destination)}, ${direction}${application === "" ? "" : `, ${application}`}${found.length === 0 ? "" : `: ${found.join(", ")}`}`;
}

const MAX_SHOWN_BYTES = 64;

function shownBytes(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  const text = bytes.subarray(0, MAX_SHOWN_BYTES).toString("latin1").replaceAll(/[^\x20-\x7e]/g, ".");
  return bytes.length > MAX_SHOWN_BYTES ? `${text}…` : text;
}
