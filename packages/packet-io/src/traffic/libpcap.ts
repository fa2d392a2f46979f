import { createRequire } from "node:module";
import type * as Koffi from "koffi";
import type { BpfInstruction } from "@lanthorn/packets";
import { PacketIoError } from "../errors.ts";

/** What libpcap's compiler makes of a filter: a program, or its words on what is wrong. */
export type Compiled = { readonly ok: true; readonly program: readonly BpfInstruction[] } | { readonly ok: false; readonly words: string };

/** The compiler of libpcap. */
export interface LibpcapCompiler {
  /** For frames as they are on the wire; needs no capability. @param linkType As in capture files: 1 is Ethernet. */
  compile(text: string, options: { readonly linkType: number; readonly snapLength: number }): Compiled;
  /**
   * For frames as the kernel has them on an interface: with tags beside the frame, and with a direction. Needs CAP_NET_RAW.
   * @returns Null where libpcap cannot open the interface.
   */
  compileFor(interfaceName: string, text: string, snapLength: number): Compiled | null;
}

/** Of Debian, then of others. The addon `pcap` is linked against the same one. */
const LIBRARIES = ["libpcap.so.0.8", "libpcap.so.1", "libpcap.so"];
/** PCAP_NETMASK_UNKNOWN: `ip broadcast` is refused. */
const NO_NETMASK = 0xffff_ffff;
const ERROR_OCTETS = 256;
/** A `struct bpf_program`: a count, and a pointer to instructions of 8 octets. */
const PROGRAM_OCTETS = 16;
const INSTRUCTION_OCTETS = 8;
/** The handle that compiles for an interface is never read from. */
const SMALL_BUFFER = 1 << 17;

let loaded: LibpcapCompiler | undefined;

/**
 * Loads libpcap through koffi at the first call.
 * @throws PacketIoError `library-missing`.
 */
export function loadLibpcap(): LibpcapCompiler {
  loaded ??= bindLibpcap();
  return loaded;
}

function bindLibpcap(): LibpcapCompiler {
  const koffi = loadKoffi();
  const library = firstOf(koffi, LIBRARIES);
  const openDead = library.func("void *pcap_open_dead(int linkType, int snapLength)");
  const create = library.func("void *pcap_create(const char *name, _Out_ void *error)");
  const setSnapLength = library.func("int pcap_set_snaplen(void *handle, int octets)");
  const setBuffer = library.func("int pcap_set_buffer_size(void *handle, int octets)");
  const activate = library.func("int pcap_activate(void *handle)");
  const compileText = library.func("int pcap_compile(void *handle, _Out_ void *program, const char *text, int optimize, uint32_t netmask)");
  const lastError = library.func("const char *pcap_geterr(void *handle)");
  const freeCode = library.func("void pcap_freecode(_Inout_ void *program)");
  const close = library.func("void pcap_close(void *handle)");

  const compileWith = (handle: unknown, text: string): Compiled => {
    const program = Buffer.allocUnsafeSlow(PROGRAM_OCTETS).fill(0);
    if (compileText(handle, program, text, 1, NO_NETMASK) !== 0) return { ok: false, words: String(lastError(handle)) };
    const count = program.readUInt32LE(0);
    const octets = count * INSTRUCTION_OCTETS;
    // Copied before it is freed.
    const bytes = Buffer.from(Buffer.from(koffi.view(program.readBigUInt64LE(8), octets)));
    freeCode(program);
    return { ok: true, program: Array.from({ length: count }, (_, index) => readInstruction(bytes, index * INSTRUCTION_OCTETS)) };
  };
  return {
    compile(text, { linkType, snapLength }) {
      const handle: unknown = openDead(linkType, snapLength);
      if (handle === null) return { ok: false, words: "libpcap has no memory" };
      const compiled = compileWith(handle, text);
      close(handle);
      return compiled;
    },
    compileFor(name, text, snapLength) {
      const handle: unknown = create(name, Buffer.alloc(ERROR_OCTETS));
      if (handle === null) return null;
      setSnapLength(handle, snapLength);
      setBuffer(handle, SMALL_BUFFER);
      // Warnings are above 0.
      const compiled = activate(handle) < 0 ? null : compileWith(handle, text);
      close(handle);
      return compiled;
    },
  };
}

function readInstruction(bytes: Buffer, at: number): BpfInstruction {
  return [bytes.readUInt16LE(at), bytes.readUInt8(at + 2), bytes.readUInt8(at + 3), bytes.readUInt32LE(at + 4)];
}

function loadKoffi(): typeof Koffi {
  try {
    return createRequire(import.meta.url)("koffi") as typeof Koffi;
  } catch (cause) {
    throw new PacketIoError("library-missing", "cannot load koffi; run `npm install`", { cause });
  }
}

function firstOf(koffi: typeof Koffi, names: readonly string[]): Koffi.LibraryHandle {
  for (const name of names) {
    try {
      return koffi.load(name);
    } catch {
      // Another release calls it otherwise.
    }
  }
  throw new PacketIoError("library-missing", "cannot load libpcap; install it (Debian: libpcap0.8)");
}
