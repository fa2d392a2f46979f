import { createRequire } from "node:module";
import { PacketIoError } from "../errors.ts";

/** One libpcap handle as the native part of `pcap` gives it; only what is used here. */
export interface PcapSession {
  /** Called when frames are waiting, and once more when the interface goes down: after that, never again. */
  read_callback?: () => void;
  /**
   * @param bufferBytes Size of the kernel's ring.
   * @param outfile "" for none.
   * @param timeoutMs How long the kernel gathers frames before it wakes the reader; 0 is immediate mode.
   * @returns The link type, `LINKTYPE_ETHERNET` for all that this package reads.
   * @throws TypeError with libpcap's message.
   */
  open_live(
    device: string,
    filter: string,
    bufferBytes: number,
    snapLength: number,
    outfile: string,
    onFrame: () => void,
    monitor: boolean,
    timeoutMs: number,
    onWarning: (message: string) => void,
    promiscuous: boolean,
  ): string;
  start_polling(): void;
  /**
   * Reads every waiting frame, and calls `onFrame` for each with the frame in `buffer` and, in `header`, four native 32-bit words: seconds,
   * microseconds, octets kept, octets on the wire.
   * @returns 0, or less when the handle is of no more use; -2 after `close`, when it has been given back.
   */
  dispatch(buffer: Buffer, header: Buffer): number;
  /** Makes the next `dispatch` give the handle back. */
  close(): void;
  stats(): { readonly ps_recv: number; readonly ps_drop: number; readonly ps_ifdrop: number };
  /** @throws Error without a reason when the kernel did not take the whole frame. */
  inject(frame: Uint8Array): void;
}

interface PcapBinding {
  readonly PcapSession: new () => PcapSession;
}

let loaded: PcapBinding | undefined;

/**
 * A new libpcap handle, not opened yet. The addon is loaded by the first call and works in one thread only.
 * @throws PacketIoError `library-missing`.
 */
export function createPcapSession(): PcapSession {
  loaded ??= loadBinding();
  return new loaded.PcapSession();
}

function loadBinding(): PcapBinding {
  const require = createRequire(import.meta.url);
  try {
    return require("pcap/build/Release/pcap_binding.node") as PcapBinding;
  } catch (cause) {
    const action = "install libpcap (Debian: libpcap0.8, to build libpcap-dev) and run `npm rebuild pcap`; it loads in one thread only";
    throw new PacketIoError("library-missing", `cannot load the native part of pcap: ${action}`, { cause });
  }
}
