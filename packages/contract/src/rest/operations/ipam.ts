import * as z from "zod";
import { Id } from "../../values.ts";
import {
  IpamAddress, IpamAddressCreate, IpamAddressUpdate, IpamAddressesQuery, IpamConflicts, IpamConflictsQuery, IpamImport,
  IpamImportQuery, IpamImported, IpamNextAddress, IpamNextPrefix, IpamPrefix, IpamPrefixAddress, IpamPrefixCreate, IpamPrefixUpdate,
  IpamPrefixesQuery, IpamUtilization,
} from "../ipam.ts";
import { PageQuery, listEnvelope } from "../envelopes.ts";
import { operations } from "../operation.ts";

const OfPrefix = z.object({ prefix_id: Id });
const OfAddress = z.object({ address_id: Id });

/** Prefixes, addresses, and where the network differs from their plan. */
export const ipamOperations = operations({
  listIpamPrefixes: { target: "GET /ipam/prefixes", query: IpamPrefixesQuery, status: 200, answer: listEnvelope(IpamPrefix) },
  /** The whole list as CSV, which `importIpamPrefixes` takes back. */
  exportIpamPrefixes: {
    target: "GET /ipam/prefixes/export", query: IpamPrefixesQuery.omit({ page: true, per_page: true, cursor: true }), status: 200,
    content: "text/csv",
  },
  importIpamPrefixes: {
    target: "POST /ipam/prefixes/import", query: IpamImportQuery, body: IpamImport, csv: true, status: 200, answer: IpamImported,
  },
  createIpamPrefix: { target: "POST /ipam/prefixes", body: IpamPrefixCreate, status: 201, answer: IpamPrefix },
  readIpamPrefix: { target: "GET /ipam/prefixes/{prefix_id}", params: OfPrefix, status: 200, answer: IpamPrefix },
  updateIpamPrefix: { target: "PUT /ipam/prefixes/{prefix_id}", params: OfPrefix, body: IpamPrefixUpdate, status: 200, answer: IpamPrefix },
  deleteIpamPrefix: { target: "DELETE /ipam/prefixes/{prefix_id}", params: OfPrefix, status: 204 },
  readIpamPrefixUtilization: {
    target: "GET /ipam/prefixes/{prefix_id}/utilization", params: OfPrefix, status: 200, answer: IpamUtilization,
  },
  /** Addresses of a prefix that are recorded, used by devices, or both. */
  listIpamPrefixAddresses: {
    target: "GET /ipam/prefixes/{prefix_id}/addresses", params: OfPrefix, query: PageQuery, status: 200,
    answer: listEnvelope(IpamPrefixAddress),
  },
  /** Takes the next free address of a prefix. */
  allocateIpamAddress: {
    target: "POST /ipam/prefixes/{prefix_id}/next-address", params: OfPrefix, body: IpamNextAddress, status: 201, answer: IpamAddress,
  },
  /** Takes the next free part of a prefix. */
  allocateIpamPrefix: {
    target: "POST /ipam/prefixes/{prefix_id}/next-prefix", params: OfPrefix, body: IpamNextPrefix, status: 201, answer: IpamPrefix,
  },
  listIpamAddresses: { target: "GET /ipam/addresses", query: IpamAddressesQuery, status: 200, answer: listEnvelope(IpamAddress) },
  /** The whole list as CSV, which `importIpamAddresses` takes back. */
  exportIpamAddresses: {
    target: "GET /ipam/addresses/export", query: IpamAddressesQuery.omit({ page: true, per_page: true, cursor: true }), status: 200,
    content: "text/csv",
  },
  importIpamAddresses: {
    target: "POST /ipam/addresses/import", query: IpamImportQuery, body: IpamImport, csv: true, status: 200, answer: IpamImported,
  },
  createIpamAddress: { target: "POST /ipam/addresses", body: IpamAddressCreate, status: 201, answer: IpamAddress },
  readIpamAddress: { target: "GET /ipam/addresses/{address_id}", params: OfAddress, status: 200, answer: IpamAddress },
  updateIpamAddress: {
    target: "PUT /ipam/addresses/{address_id}", params: OfAddress, body: IpamAddressUpdate, status: 200, answer: IpamAddress,
  },
  deleteIpamAddress: { target: "DELETE /ipam/addresses/{address_id}", params: OfAddress, status: 204 },
  listIpamConflicts: { target: "GET /ipam/conflicts", query: IpamConflictsQuery, status: 200, answer: IpamConflicts },
});
