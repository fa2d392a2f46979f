import { decodeDtp, decodeLlc, decodeVtp, DTP_SNAP, type Frame, VTP_SNAP } from "@lanthorn/packets";

/** What a frame says of trunks. */
export type TrunkTalk =
  | { readonly protocol: "DTP"; readonly mode: string; readonly isTrunk: boolean; readonly domain: string }
  | { readonly protocol: "VTP"; readonly code: string; readonly domain: string; readonly revision: number | null };

/** @returns Null for frames of neither protocol, and malformed ones. */
export function readTrunkTalk(frame: Frame): TrunkTalk | null {
  const llc = frame.network === "llc" ? decodeLlc(frame.networkBytes) : null;
  const snap = llc?.ok === true ? llc.value.snap : null;
  if (!llc?.ok || snap?.organization !== DTP_SNAP.organization) return null;
  if (snap.protocol === DTP_SNAP.protocol) {
    const pdu = decodeDtp(llc.value.payload);
    return pdu.ok ? { protocol: "DTP", mode: pdu.value.mode, isTrunk: pdu.value.isTrunk, domain: pdu.value.domain } : null;
  }
  const pdu = snap.protocol === VTP_SNAP.protocol ? decodeVtp(llc.value.payload) : null;
  return pdu?.ok === true ? { protocol: "VTP", code: pdu.value.code, domain: pdu.value.domain, revision: pdu.value.revision } : null;
}
