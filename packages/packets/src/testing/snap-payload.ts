import { decodeFrame } from "../frame.ts";
import { decodeLlc } from "../link/llc.ts";

/** What an 802.3 frame carries behind SNAP, without padding. For tests only. @throws Error where there is no SNAP. */
export function snapPayload(frame: Uint8Array): Uint8Array {
  const decoded = decodeFrame(frame);
  const llc = decoded.ok && decoded.value.network === "llc" ? decodeLlc(decoded.value.networkBytes) : null;
  if (!llc?.ok || !llc.value.snap) throw new Error("there is no SNAP in this frame");
  return llc.value.payload;
}
