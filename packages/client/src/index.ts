export { ClientError, type ClientErrorCode } from "./errors.ts";
export { createLiveClient, type LiveClient, type Socket } from "./live.ts";
export { type PcapBytes, type PcapBytesOptions, readPcapBytes } from "./pcap-bytes.ts";
export { createRestClient, readAll, readTagged, type RestClient, type Tagged } from "./rest.ts";
export type { Fetch, Query, TransportOptions } from "./transport.ts";
