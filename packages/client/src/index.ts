export { ClientError, type ClientErrorCode } from "./errors.ts";
export { createLiveClient, type LiveClient, type Socket } from "./live.ts";
export { createRestClient, type Fetch, type Query, readAll, type RestClient } from "./rest.ts";
