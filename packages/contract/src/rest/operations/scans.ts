import * as z from "zod";
import { Id } from "../../values.ts";
import { ScanProfile } from "../../uplink/scan-profiles.ts";
import { Scan, ScanHost, ScanStart, ScansQuery } from "../scans.ts";
import { PageQuery, listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfScan = z.object({ scan_id: Id });

/** Scans that people ask for. */
export const scansOperations = operations({
  startScan: { target: "POST /scans/start", body: ScanStart, status: 202, answer: Scan },
  listScanProfiles: { target: "GET /scans/profiles", query: PageQuery, status: 200, answer: listEnvelope(ScanProfile) },
  listScans: { target: "GET /scans", query: ScansQuery, status: 200, answer: listEnvelope(Scan) },
  readScan: { target: "GET /scans/{scan_id}", params: OfScan, status: 200, answer: Scan },
  cancelScan: { target: "POST /scans/{scan_id}/cancel", params: OfScan, status: 200, answer: Scan },
  listScanResults: {
    target: "GET /scans/{scan_id}/results", params: OfScan, query: PageQuery, status: 200, answer: listEnvelope(ScanHost),
  },
});
