import {
  IpamAddress, type IpamAddressCreate, type IpamAddressUpdate, IpamConflicts, type IpamImport, IpamImported, type IpamNextAddress,
  type IpamNextPrefix, IpamPrefix,
  IpamPrefixAddress, type IpamPrefixCreate, type IpamPrefixUpdate, IpamUtilization, listEnvelope,
} from "@lanthorn/contract";
import * as z from "zod";
import type { Query, Transport } from "../transport.ts";

const PREFIXES = "/api/v1/ipam/prefixes";
const ADDRESSES = "/api/v1/ipam/addresses";
const prefix = (id: string, rest = "") => `${PREFIXES}/${encodeURIComponent(id)}${rest}`;
const address = (id: string) => `${ADDRESSES}/${encodeURIComponent(id)}`;
const tableOf = ({ csv, dry_run: isDry }: z.input<typeof IpamImport>) => ({ csv, query: { dry_run: isDry } });

/** Prefixes, addresses, and where the network differs from their plan. */
export const ipamCalls = ({ call, text }: Transport) => ({
  listIpamPrefixes: (query?: Query) => call("GET", PREFIXES, listEnvelope(IpamPrefix), { query }),
  /** The whole list as CSV, which `importIpamPrefixes` takes back. */
  exportIpamPrefixes: (query?: Query) => text(`${PREFIXES}/export`, query),
  importIpamPrefixes: (wish: z.input<typeof IpamImport>) => call("POST", `${PREFIXES}/import`, IpamImported, tableOf(wish)),
  createIpamPrefix: (made: z.input<typeof IpamPrefixCreate>) => call("POST", PREFIXES, IpamPrefix, { body: made }),
  readIpamPrefix: (id: string) => call("GET", prefix(id), IpamPrefix),
  updateIpamPrefix: (id: string, changes: IpamPrefixUpdate) => call("PUT", prefix(id), IpamPrefix, { body: changes }),
  deleteIpamPrefix: async (id: string): Promise<void> => void (await call("DELETE", prefix(id), z.unknown())),
  readIpamUtilization: (id: string) => call("GET", prefix(id, "/utilization"), IpamUtilization),
  /** Addresses of a prefix that are written down, had by devices, or both. */
  listIpamPrefixAddresses: (id: string, query?: Query) => call("GET", prefix(id, "/addresses"), listEnvelope(IpamPrefixAddress), { query }),
  /** Takes the next free address of a prefix. */
  allocateIpamAddress: (id: string, wanted: z.input<typeof IpamNextAddress>) => call(
    "POST", prefix(id, "/next-address"), IpamAddress, { body: wanted },
  ),
  /** Takes the next free part of a prefix. */
  allocateIpamPrefix: (id: string, wanted: z.input<typeof IpamNextPrefix>) => call(
    "POST", prefix(id, "/next-prefix"), IpamPrefix, { body: wanted },
  ),
  listIpamAddresses: (query?: Query) => call("GET", ADDRESSES, listEnvelope(IpamAddress), { query }),
  exportIpamAddresses: (query?: Query) => text(`${ADDRESSES}/export`, query),
  importIpamAddresses: (wish: z.input<typeof IpamImport>) => call("POST", `${ADDRESSES}/import`, IpamImported, tableOf(wish)),
  createIpamAddress: (made: z.input<typeof IpamAddressCreate>) => call("POST", ADDRESSES, IpamAddress, { body: made }),
  readIpamAddress: (id: string) => call("GET", address(id), IpamAddress),
  updateIpamAddress: (id: string, changes: IpamAddressUpdate) => call("PUT", address(id), IpamAddress, { body: changes }),
  deleteIpamAddress: async (id: string): Promise<void> => void (await call("DELETE", address(id), z.unknown())),
  listIpamConflicts: (query?: Query) => call("GET", "/api/v1/ipam/conflicts", IpamConflicts, { query }),
});
