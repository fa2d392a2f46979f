import { type BpfFilter, type BpfInstruction, createBpfFilter } from "@lanthorn/packets";
import { PacketIoError } from "../errors.ts";
import { wordsOutsideGrammar } from "./filter-words.ts";
import { type Compiled, loadLibpcap } from "./libpcap.ts";

/** Longer than any filter that a person writes; libpcap's optimizer takes its time with what programs write. */
export const MAX_FILTER_LENGTH = 2048;

const ETHERNET = 1;
/** Capture files call raw IP otherwise than libpcap on Linux does: LINKTYPE_RAW, DLT_RAW. */
const LINKTYPE_RAW = 101;
const DLT_RAW = 12;
/** Loads from here on ask the kernel for what is beside the frame: SKF_AD_OFF. @see linux/filter.h */
const BESIDE_THE_FRAME = 0xffff_f000;
const LOAD = 0;
const CLASS = 7;

/** A filter that was compiled. */
export interface CompiledFilter {
  /** For the kernel, and for `createBpfFilter`. */
  readonly program: readonly BpfInstruction[];
  /** Runs it on a frame: octets to keep, 0 where it is refused. */
  readonly run: BpfFilter;
}

/**
 * Compiles a filter by libpcap, for frames as they are on the wire: behind a VLAN tag only what comes after `vlan` is found, and there is
 * no direction. Needs no capability. Names of hosts are refused: nothing is looked up.
 * @param text As pcap-filter(7) has it, at most 2048 characters; "" passes every frame.
 * @param options.linkType As in capture files; 1, Ethernet, unless given.
 * @param options.snapLength What the program says to keep of a frame; 262144 unless given.
 * @throws PacketIoError `filter-invalid` with the compiler's words in its message, or `library-missing`.
 */
export function compileFilter(text: string, options: { readonly linkType?: number; readonly snapLength?: number } = {}): CompiledFilter {
  const { linkType = ETHERNET, snapLength = 262_144 } = options;
  requireFilterText(text);
  const program = programOf(text, loadLibpcap().compile(text, { linkType: linkType === LINKTYPE_RAW ? DLT_RAW : linkType, snapLength }));
  if (program.some(([code, , , operand]) => (code & CLASS) === LOAD && code !== LOAD && operand >= BESIDE_THE_FRAME)) {
    throw filterError(text, "inbound, outbound and the like are not in the frame; only the kernel knows them");
  }
  const run = createBpfFilter(program);
  if (!run) throw filterError(text, "protochain needs a program with a loop; name the headers that you look for");
  return { program, run };
}

/**
 * Compiles a filter for the kernel, which keeps tags and directions beside the frames of an interface.
 * @returns Null where libpcap cannot open the interface.
 */
export function compileForKernel(text: string, options: { readonly interface: string; readonly snapLength: number }): readonly BpfInstruction[] | null {
  requireFilterText(text);
  const compiled = loadLibpcap().compileFor(options.interface, text, options.snapLength);
  return compiled && programOf(text, compiled);
}

function programOf(text: string, compiled: Compiled): readonly BpfInstruction[] {
  if (!compiled.ok) throw filterError(text, compiled.words);
  return compiled.program;
}

function requireFilterText(text: string): void {
  if (text.length > MAX_FILTER_LENGTH) throw filterError(text, `it is longer than ${MAX_FILTER_LENGTH} characters`);
  if (text.includes("\0")) throw filterError(text, "there is a NUL character in it");
  const [word] = wordsOutsideGrammar(text);
  if (word !== undefined) throw filterError(text, `"${word}" would be looked up as the name of a host or network; write its address`);
}

function filterError(text: string, words: string): PacketIoError {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return new PacketIoError("filter-invalid", `the filter "${shown}" is not taken: ${words}`);
}
