import * as z from "zod";
import { Id } from "../../values.ts";
import { listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";
import {
  Pcap, PcapContents, PcapDownloadQuery, PcapExport, PcapLock, PcapsQuery, PcapStart, PcapWatch, PcapWatchQuery, PcapWatchStart, SiteCaptures,
  SiteCapturesUpdate,
} from "../pcap.ts";

const OfPcap = z.object({ pcap_id: Id });
const OfWatch = z.object({ watch_id: Id });
const OfSite = z.object({ site_id: Id });

/** Captures of packets. */
export const pcapOperations = operations({
  readSiteCaptures: { target: "GET /pcap/settings/{site_id}", params: OfSite, status: 200, answer: SiteCaptures },
  updateSiteCaptures: { target: "PUT /pcap/settings/{site_id}", params: OfSite, body: SiteCapturesUpdate, status: 200, answer: SiteCaptures },
  startPcap: { target: "POST /pcap", body: PcapStart, status: 201, answer: Pcap },
  exportPcap: { target: "POST /pcap/export", body: PcapExport, status: 202, answer: Pcap },
  startPcapWatch: { target: "POST /pcap/watch", body: PcapWatchStart, status: 201, answer: PcapWatch },
  readPcapWatch: { target: "GET /pcap/watch/{watch_id}", params: OfWatch, query: PcapWatchQuery, status: 200, answer: PcapWatch },
  endPcapWatch: { target: "POST /pcap/watch/{watch_id}/stop", params: OfWatch, status: 204 },
  listPcaps: { target: "GET /pcap", query: PcapsQuery, status: 200, answer: listEnvelope(Pcap) },
  readPcap: { target: "GET /pcap/{pcap_id}", params: OfPcap, status: 200, answer: Pcap },
  readPcapSummary: { target: "GET /pcap/{pcap_id}/summary", params: OfPcap, status: 200, answer: PcapContents },
  /** The file, or a range of it. */
  downloadPcap: {
    target: "GET /pcap/{pcap_id}/download", params: OfPcap, query: PcapDownloadQuery, status: 200, content: "application/octet-stream",
  },
  stopPcap: { target: "POST /pcap/{pcap_id}/stop", params: OfPcap, status: 202, answer: Pcap },
  lockPcap: { target: "POST /pcap/{pcap_id}/lock", params: OfPcap, body: PcapLock, status: 200, answer: Pcap },
  unlockPcap: { target: "POST /pcap/{pcap_id}/unlock", params: OfPcap, status: 200, answer: Pcap },
  deletePcap: { target: "DELETE /pcap/{pcap_id}", params: OfPcap, status: 204 },
});
