import * as z from "zod";

/** How many hosts are kept: a key at the top of the file. */
export const hostsSettings = {
  /** A bound against a flood of invented MAC addresses. */
  max_hosts: z.int().min(16).max(100_000).default(8192),
};
