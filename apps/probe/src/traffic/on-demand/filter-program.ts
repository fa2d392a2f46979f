import type { FrameView } from "@lanthorn/packet-io";

/** Whether a frame is one that the filter lets through. */
export type FrameProgram = (frame: FrameView) => boolean;

/** Compiles a filter. @returns `program` is null for "": every frame. In the compiler's words why it cannot be. @see pcap-filter(7) */
export type CompileFilter = (text: string, snapLength: number) => { readonly program: FrameProgram | null } | { readonly refused: string };
