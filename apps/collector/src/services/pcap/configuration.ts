import * as z from "zod";

/** `[pcap]`: captures that are kept, each site's for itself. */
export const PcapSettings = z.strictObject({
  /** Where their files lie, encrypted; `captures` in the data directory where it is left out. Replicas share it. */
  directory: z.string().min(1).optional(),
  /** How long a file is kept that is not locked. */
  keep_days: z.number().min(1).max(3650).default(30),
  /** Of a site's files that are not locked; the oldest go first. */
  keep_megabytes: z.number().min(1).max(100_000_000).default(10_240),
  /** Of a site's locked files; beyond it no further one can be locked. */
  keep_locked_megabytes: z.number().min(1).max(100_000_000).default(10_240),
  /** Captures of one probe that are remembered, with or without their files. */
  keep_records: z.int().min(100).max(100_000).default(5000),
}).prefault({});
export type PcapSettings = z.infer<typeof PcapSettings>;
