import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { CONFIGURATION_MAX } from "@lanthorn/contract";
import { ownerOfConfiguration } from "../../sealing/sealed-columns.ts";
import type { Sealing } from "../../sealing/sealing.ts";
import type { VersionRow } from "./store.ts";

const compress = promisify(gzip);
const expand = promisify(gunzip);
/** Four bytes for a character at most: what was compressed here is never more. */
const MAX_BYTES = CONFIGURATION_MAX * 4;

/** The text of a version, as it was uploaded. @throws CollectorError `secret-unreadable`. */
export async function openText(sealing: Sealing, row: VersionRow): Promise<string> {
  const packed = Buffer.from(sealing.open(row.content_sealed, ownerOfConfiguration(row.id)), "base64");
  return (await expand(packed, { maxOutputLength: MAX_BYTES })).toString("utf8");
}

/** A text as a version keeps it: compressed, and sealed to the version's id. */
export async function sealText(sealing: Sealing, id: string, text: string): Promise<string> {
  return sealing.seal((await compress(text)).toString("base64"), ownerOfConfiguration(id));
}
