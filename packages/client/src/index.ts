export { ClientError, type ClientErrorCode } from "./errors.ts";
export { createLiveClient, type LiveClient, type Socket } from "./live.ts";
export { createRestClient, readAll, type RestClient } from "./rest.ts";
export type { Fetch, Query } from "./transport.ts";
