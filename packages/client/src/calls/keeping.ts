import { Backup, IpamAddress, IpamConflict, IpamPrefix, listEnvelope } from "@lanthorn/contract";
import type { Query, Transport } from "../transport.ts";

const prefix = (id: string, rest: string) => `/api/v1/ipam/prefixes/${encodeURIComponent(id)}${rest}`;

/** Backups of the whole deployment. */
export const backupCalls = ({ call }: Transport) => ({
  startBackup: () => call("POST", "/api/v1/backups", Backup),
  readBackup: (id: string) => call("GET", `/api/v1/backups/${encodeURIComponent(id)}`, Backup),
  listBackups: (query?: Query) => call("GET", "/api/v1/backups", listEnvelope(Backup), { query }),
});

/** Prefixes, addresses, and where the network differs from their plan. */
export const ipamCalls = ({ call }: Transport) => ({
  listIpamPrefixes: (query?: Query) => call("GET", "/api/v1/ipam/prefixes", listEnvelope(IpamPrefix), { query }),
  listIpamConflicts: (query?: Query) => call("GET", "/api/v1/ipam/conflicts", listEnvelope(IpamConflict), { query }),
  allocateIpamAddress: (prefixId: string, address: { readonly hostname?: string; readonly status?: string }) =>
    call("POST", prefix(prefixId, "/next-address"), IpamAddress, { body: address }),
  allocateIpamPrefix: (prefixId: string, wanted: { readonly length: number; readonly name?: string }) =>
    call("POST", prefix(prefixId, "/next-prefix"), IpamPrefix, { body: wanted }),
});
